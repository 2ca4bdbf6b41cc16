//! The decision: the source frame of every pixel.

use super::params::Prefer;
use lobcod::base::box_mean;

/// Fraction of the largest activity below which a pixel has no significant detail.
const FLAT: f32 = 1e-4;
/// Mean of the votes in a box below which it counts as undecided.
const SILENCE: f32 = 0.05;

/// The largest activity so far and its frame.
pub struct Decision {
    size: [usize; 2],
    best: Vec<f32>,
    second: Vec<f32>,
    /// The frame with the largest activity.
    pub frame: Vec<u16>,
    /// Lightness of that frame.
    pub guide: Vec<f32>,
    prefer: Prefer,
}

impl Decision {
    pub fn new(size: [usize; 2], prefer: Prefer) -> Self {
        let zeros = vec![0.0; size[0] * size[1]];
        // Below any activity.
        let unseen = vec![-1.0; zeros.len()];
        Self {
            size,
            best: unseen.clone(),
            second: unseen,
            frame: vec![0; zeros.len()],
            guide: zeros,
            prefer,
        }
    }

    /// Adds a frame; `usable` returns whether it covers a pixel.
    pub fn add(
        &mut self,
        number: usize,
        activity: &[f32],
        light: &[f32],
        usable: impl Fn(usize) -> bool,
    ) {
        for (i, (&a, &l)) in activity.iter().zip(light).enumerate().filter(|(i, _)| usable(*i)) {
            let wins = a > self.best[i] || (a == self.best[i] && self.prefer == Prefer::Back);
            if wins {
                (self.second[i], self.best[i], self.frame[i], self.guide[i]) =
                    (self.best[i], a, number as u16, l);
            } else if a > self.second[i] {
                self.second[i] = a;
            }
        }
    }

    /// Makes the decision by a vote in every box. A vote is the cube of how clear the choice of a
    /// pixel is; undecided boxes grow, and without any votes the preferred frame is used.
    pub fn settle(&mut self, frames: usize, window: usize, threads: usize) {
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
        let mut width = window;
        loop {
            let mut most = vec![SILENCE; votes.len()];
            let mut winner: Vec<Option<u16>> = vec![None; votes.len()];
            for k in 0..frames {
                let own = |i: usize| if chosen[i] as usize == k { votes[i] } else { 0.0 };
                let mut score: Vec<f32> = (0..votes.len()).map(own).collect();
                box_mean(&mut score, self.size, width, threads);
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
            if width > 2 * longest || !open.contains(&true) {
                break;
            }
            width *= 4;
        }
        let fallback = if self.prefer == Prefer::Front { 0 } else { frames as u16 - 1 };
        for (frame, _) in self.frame.iter_mut().zip(open).filter(|(_, open)| *open) {
            *frame = fallback;
        }
    }
}
