//! Which thread does which items.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Items cut into a share of neighbours for every thread.
pub(super) struct Shares {
    /// Items, share after share, the costly ones of a share first.
    order: Vec<u32>,
    left: Vec<Left>,
}

/// What is left of a share: places in the order, the first in the low half, the end in the high half. On a cache line of its own.
#[repr(align(64))]
struct Left(AtomicU64);

impl Shares {
    /// Shares of about the same cost.
    pub(super) fn new(costs: &[usize], threads: usize) -> Self {
        let all: usize = costs.iter().sum();
        let mut order: Vec<u32> = (0..costs.len() as u32).collect();
        let mut left = Vec::with_capacity(threads);
        let (mut from, mut spent) = (0, 0);
        for thread in 0..threads {
            let goal = all * (thread + 1) / threads;
            let mut to = from;
            // An item belongs to the share its middle falls into; the last share takes what is left.
            while to < costs.len() && (thread + 1 == threads || 2 * spent + costs[to] <= 2 * goal) {
                spent += costs[to];
                to += 1;
            }
            order[from..to].sort_by_key(|&i| Reverse(costs[i as usize]));
            left.push(Left(AtomicU64::new(from as u64 | (to as u64) << 32)));
            from = to;
        }
        Self { order, left }
    }

    /// The next item for this thread; `None` when all are taken.
    pub(super) fn take(&self, thread: usize) -> Option<usize> {
        let threads = self.left.len();
        (0..threads).find_map(|turn| {
            let own = turn == 0;
            let step = |left: u64| {
                let (from, to) = (left & 0xffff_ffff, left >> 32);
                (from < to).then_some(if own { left + 1 } else { left - (1 << 32) })
            };
            let left = self.left[(thread + turn) % threads].0.fetch_update(Relaxed, Relaxed, step).ok()?;
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
            let costs: Vec<usize> = (0..count).map(|i| (i * 37) % 11).collect();
            let shares = Shares::new(&costs, threads);
            let mut given: Vec<usize> = Vec::new();
            // The threads take turns of different length.
            let mut turn = 0;
            while let Some(i) = shares.take(turn * turn % threads) {
                given.push(i);
                turn += 1;
            }
            given.sort_unstable();
            assert_eq!(given, (0..count).collect::<Vec<_>>(), "{count} items, {threads} threads");
        }
        let costs: Vec<usize> = (0..1000).map(|i| 1 + i % 5).collect();
        let shares = Shares::new(&costs, 4);
        for left in &shares.left {
            let left = left.0.load(Relaxed);
            let share = &shares.order[(left & 0xffff_ffff) as usize..(left >> 32) as usize];
            let cost: usize = share.iter().map(|&i| costs[i as usize]).sum();
            assert!((745..=755).contains(&cost), "{cost} of 3000");
        }
    }
}
