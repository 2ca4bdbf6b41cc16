//! Sorts codes.

use crate::needles::Code;
use crate::parallel;
use crate::real::Real;

/// Rows a thread sorts before it takes more.
const ROWS: usize = 8;

/// Sorts codes by position, atom and channel: buckets by row, sorted on several threads.
pub fn sort<T: Real>(codes: &mut Vec<Code<T>>, axis: usize, threads: usize) {
    let key = |code: &Code<T>| (code.position, code.atom, code.channel);
    if codes.is_sorted_by_key(key) {
        return;
    }
    let row = |code: &Code<T>| code.position[axis];
    let first = codes.iter().map(row).min().unwrap_or(0);
    let rows = codes.iter().map(row).max().map_or(0, |last| (last - first) as usize + 1);
    let mut counts = vec![0; rows];
    codes.iter().for_each(|code| counts[(row(code) - first) as usize] += 1);
    let mut next: Vec<usize> = Vec::with_capacity(rows);
    counts.iter().fold(0, |at, count| {
        next.push(at);
        at + count
    });
    let mut sorted = codes.clone();
    for code in codes.iter() {
        let at = &mut next[(row(code) - first) as usize];
        sorted[*at] = *code;
        *at += 1;
    }
    let mut left = &mut sorted[..];
    let mut parts: Vec<&mut [Code<T>]> = counts
        .iter()
        .map(|&count| left.split_off_mut(..count).expect("counts sum to the length"))
        .collect();
    parallel::chunks(
        &mut parts,
        ROWS,
        threads,
        || (),
        |_, rows, ()| rows.iter_mut().for_each(|row| row.sort_unstable_by_key(key)),
    );
    drop(parts);
    *codes = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counted_codes_are_sorted_codes(
            places in prop::collection::vec((-9i32..40, -9i32..9, 0u32..5), 0..300),
        ) {
            let code = |&(y, x, atom): &(i32, i32, u32)| Code {
                position: [0, y, x],
                atom,
                channel: atom % 2,
                value: 1.0f64,
            };
            let mut codes: Vec<Code<f64>> = places.iter().map(code).collect();
            let mut expected = codes.clone();
            expected.sort_by_key(|code| (code.position, code.atom, code.channel));
            sort(&mut codes, 1, 3);
            prop_assert_eq!(codes, expected);
        }
    }
}
