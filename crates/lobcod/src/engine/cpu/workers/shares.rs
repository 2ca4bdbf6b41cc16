//! Distribution of items over threads.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Items at the end of a share that are sorted by cost, so that the threads finish together. The
/// others keep their order, for cache locality.
const SORTED: usize = 32;

/// Items divided into contiguous shares, one per thread.
pub struct Shares {
    /// Items, share by share; at the end of a share the most expensive come first.
    order: Vec<u32>,
    left: Vec<Left>,
    /// Upper bound on the items.
    end: usize,
}

/// The rest of a share, on its own cache line: start in the low half, end in the high half.
#[repr(align(64))]
struct Left {
    places: AtomicU64,
    all: u64,
}

impl Shares {
    /// Creates shares of similar cost; every item is listed once.
    pub fn new(items: &[u32], cost: impl Fn(u32) -> usize, threads: usize) -> Self {
        let costs: Vec<usize> = items.iter().map(|&item| cost(item)).collect();
        let all: usize = costs.iter().sum();
        let mut places: Vec<u32> = (0..items.len() as u32).collect();
        let mut left = Vec::with_capacity(threads);
        let (mut from, mut spent) = (0, 0);
        for thread in 0..threads {
            let goal = all * (thread + 1) / threads;
            let mut to = from;
            // An item belongs to the share that contains its midpoint; the last share takes the
            // rest.
            while to < costs.len() && (thread + 1 == threads || 2 * spent + costs[to] <= 2 * goal) {
                spent += costs[to];
                to += 1;
            }
            let last = from.max(to.saturating_sub(SORTED));
            places[last..to].sort_by_key(|&place| Reverse(costs[place as usize]));
            let all = from as u64 | (to as u64) << 32;
            left.push(Left { places: AtomicU64::new(all), all });
            from = to;
        }
        let end = items.iter().max().map_or(0, |&most| most as usize + 1);
        Self { order: places.into_iter().map(|place| items[place as usize]).collect(), left, end }
    }

    /// The items.
    pub fn items(&self) -> &[u32] {
        &self.order
    }

    /// Upper bound on the items.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Makes all items available again.
    pub fn begin(&mut self) {
        self.left.iter_mut().for_each(|left| *left.places.get_mut() = left.all);
    }

    /// Takes the next item for this thread; `None` when all are taken.
    pub fn take(&self, thread: usize) -> Option<usize> {
        let threads = self.left.len();
        (0..threads).find_map(|turn| {
            let own = turn == 0;
            let step = |left: u64| {
                let (from, to) = (left & 0xffff_ffff, left >> 32);
                (from < to).then(|| if own { left + 1 } else { left - (1 << 32) })
            };
            let left = self.left[(thread + turn) % threads]
                .places
                .fetch_update(Relaxed, Relaxed, step)
                .ok()?;
            let place = if own { left & 0xffff_ffff } else { (left >> 32) - 1 };
            Some(self.order[place as usize] as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_given_once_and_shares_are_even() {
        for (count, threads) in [(0, 2), (1, 3), (7, 2), (100, 3), (64, 16), (5, 8)] {
            let items: Vec<u32> = (0..count).map(|i| 3 * i).collect();
            let mut shares = Shares::new(&items, |i| (i as usize * 37) % 11, threads);
            for _ in 0..2 {
                let mut given: Vec<u32> = Vec::new();
                // The threads take turns of varying length.
                let mut turn = 0;
                while let Some(i) = shares.take(turn * turn % threads) {
                    given.push(i as u32);
                    turn += 1;
                }
                given.sort_unstable();
                assert_eq!(given, items, "{count} items, {threads} threads");
                shares.begin();
            }
        }
        let items: Vec<u32> = (0..1000).collect();
        let cost = |i: u32| 1 + i as usize % 5;
        let shares = Shares::new(&items, cost, 4);
        for left in &shares.left {
            let share = &shares.order[(left.all & 0xffff_ffff) as usize..(left.all >> 32) as usize];
            let cost: usize = share.iter().map(|&i| cost(i)).sum();
            assert!((745..=755).contains(&cost), "{cost} of 3000");
        }
    }
}
