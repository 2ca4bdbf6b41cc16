//! Work on tables, shared among the threads of the host.

use std::ops::Range;
use std::thread::{available_parallelism, scope};

/// A thread takes at least so many items: for fewer it costs more than it gains.
const LEAST: usize = 1 << 14;
/// Threads at most: work on tables is bound by memory.
const MOST_THREADS: usize = 16;

/// Hands parts of `data` to threads, each with the numbers of its items.
pub(crate) fn parts<T: Send>(data: &mut [T], work: impl Fn(Range<usize>, &mut [T]) + Sync) {
    let all = ranges(data.len(), LEAST);
    share(data, all, |range| range, work);
}

/// The same where items come in rows of one width: a thread is told the numbers of its rows.
pub(crate) fn rows<T: Send>(data: &mut [T], width: usize, work: impl Fn(Range<usize>, &mut [T]) + Sync) {
    let all = ranges(data.len() / width, LEAST.div_ceil(width));
    share(data, all, |rows| rows.start * width..rows.end * width, work);
}

/// The same where items come in groups, none of which is cut: group `g` begins at `first[g]`, and the last ends at the last number. A
/// thread is told the numbers of its groups.
pub(crate) fn groups<T: Send>(data: &mut [T], first: &[i32], work: impl Fn(Range<usize>, &mut [T]) + Sync) {
    let at = |group: usize| (first[group] - first[0]) as usize;
    share(data, ranges(first.len() - 1, LEAST / 16), |groups| at(groups.start)..at(groups.end), work);
}

fn ranges(count: usize, least: usize) -> Vec<Range<usize>> {
    let threads = available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(count / least).max(1);
    (0..threads).map(|i| i * count / threads..(i + 1) * count / threads).collect()
}

/// `items` tells which of `data` belong to a range; ranges follow each other.
fn share<T: Send>(
    mut data: &mut [T],
    cut: Vec<Range<usize>>,
    items: impl Fn(Range<usize>) -> Range<usize>,
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    let work = &work;
    scope(|scope| {
        let last = cut.len() - 1;
        for (number, range) in cut.into_iter().enumerate() {
            let part = data.split_off_mut(..items(range.clone()).len()).expect("ranges cover the data");
            if number == last {
                work(range, part);
            } else {
                scope.spawn(move || work(range, part));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_item_is_seen_once_with_its_number() {
        for items in [0, 1, 70_000] {
            let mut data = vec![0usize; items];
            super::parts(&mut data, |numbers, part| numbers.zip(part).for_each(|(i, x)| *x += i + 1));
            assert!(data.iter().enumerate().all(|(i, x)| *x == i + 1));
        }
        let mut data = vec![0; 300 * 500];
        super::rows(&mut data, 500, |rows, part| rows.zip(part.chunks_mut(500)).for_each(|(row, part)| part.fill(row)));
        assert!(data.iter().enumerate().all(|(i, x)| *x == i / 500));
        let first: Vec<i32> = (0..5000).scan(7, |at, i| Some(std::mem::replace(at, *at + i % 5))).collect();
        let mut data = vec![usize::MAX; (first[4999] - 7) as usize];
        super::groups(&mut data, &first, |groups, mut part| {
            for group in groups {
                let own = part.split_off_mut(..(first[group + 1] - first[group]) as usize).unwrap();
                own.fill(group);
            }
        });
        let expected = (0..4999).flat_map(|g| (first[g]..first[g + 1]).map(move |_| g));
        assert!(data.into_iter().eq(expected));
    }
}
