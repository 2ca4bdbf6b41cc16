//! The decision: which frame every pixel is taken from.

use super::params::Prefer;
use crate::base::box_mean;

/// Share of the largest activity below which a pixel has no detail to speak of.
const FLAT: f32 = 1e-4;
/// Mean of the votes in a box below which it counts as silent.
const SILENCE: f32 = 0.05;

/// The largest activity so far and whose it is.
pub(super) struct Decision {
    size: [usize; 2],
    best: Vec<f32>,
    second: Vec<f32>,
    /// The frame of the largest activity.
    pub(super) frame: Vec<u16>,
    /// Lightness of that frame.
    pub(super) guide: Vec<f32>,
    prefer: Prefer,
}

impl Decision {
    pub(super) fn new(size: [usize; 2], prefer: Prefer) -> Self {
        let zeros = vec![0.0; size[0] * size[1]];
        // Nothing is less active than what has not been seen.
        let unseen = vec![-1.0; zeros.len()];
        Self { size, best: unseen.clone(), second: unseen, frame: vec![0; zeros.len()], guide: zeros, prefer }
    }

    /// Takes note of a frame; `usable` tells which pixels it shows.
    pub(super) fn add(&mut self, number: usize, activity: &[f32], light: &[f32], usable: impl Fn(usize) -> bool) {
        for (i, (&a, &l)) in activity.iter().zip(light).enumerate().filter(|(i, _)| usable(*i)) {
            let wins = a > self.best[i] || (a == self.best[i] && self.prefer == Prefer::Back);
            if wins {
                (self.second[i], self.best[i], self.frame[i], self.guide[i]) = (self.best[i], a, number as u16, l);
            } else if a > self.second[i] {
                self.second[i] = a;
            }
        }
    }

    /// Settles the decision: in every box the frame with most votes wins. A pixel's vote is the cube of how clear its own
    /// choice is; where a box is nearly silent it grows; where none speaks, the preferred frame is taken.
    pub(super) fn settle(&mut self, frames: usize, window: usize, threads: usize) {
        let floor = FLAT * self.best.iter().copied().fold(0.0, f32::max);
        let votes: Vec<f32> = self
            .best
            .iter()
            .zip(&self.second)
            .map(|(&b, &s)| if b > floor { ((b - s.max(0.0)) / (b + floor)).powi(3) } else { 0.0 })
            .collect();
        let chosen = self.frame.clone();
        let mut open = vec![true; votes.len()];
        let longest = self.size[0].max(self.size[1]);
        let mut reach = window;
        loop {
            let mut most = vec![SILENCE; votes.len()];
            let mut winner: Vec<Option<u16>> = vec![None; votes.len()];
            for k in 0..frames {
                let own = |i: usize| if chosen[i] as usize == k { votes[i] } else { 0.0 };
                let mut score: Vec<f32> = (0..votes.len()).map(own).collect();
                box_mean(&mut score, self.size, reach, threads);
                for (i, s) in score.into_iter().enumerate().filter(|(i, _)| open[*i]) {
                    if s > most[i] {
                        (most[i], winner[i]) = (s, Some(k as u16));
                    }
                }
            }
            for (i, k) in winner.into_iter().enumerate() {
                if let Some(k) = k {
                    (self.frame[i], open[i]) = (k, false);
                }
            }
            if reach > 2 * longest || !open.contains(&true) {
                break;
            }
            reach *= 4;
        }
        let fallback = if self.prefer == Prefer::Front { 0 } else { frames as u16 - 1 };
        for (frame, _) in self.frame.iter_mut().zip(open).filter(|(_, open)| *open) {
            *frame = fallback;
        }
    }
}
