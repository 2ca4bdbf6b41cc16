//! Alignment of frames of one scene.

mod motion;
mod refine;
mod shift;
mod warp;

pub use motion::Motion;
pub(crate) use motion::hardly_overlap;
pub use warp::{halve, warp};

use lobcod::{Error, Result, Signal};

/// Maximum length of the longer side at which frames are compared.
const LONGEST: usize = 1024;
/// Displacement, in samples of the compared frames, up to which they count as aligned.
const ALIGNED: f64 = 0.5;
/// Displacement, as a fraction of the longer side, from which a motion is taken for a mistake.
const FARTHEST: f64 = 0.1;
/// An alignment must reduce the difference of the frames to this fraction.
const CLOSER: f64 = 0.9;
/// Length of the longer side for the first, coarse comparison.
const COARSE: usize = 160;

/// How frames are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// By a shift, a scale and a rotation, where the frames need it.
    #[default]
    Auto,
    /// Not at all; a shift is measured to warn about it.
    None,
    /// By a shift.
    Shift,
    /// By a shift, a scale and a rotation.
    Similarity,
}

/// Measures the motion of each frame relative to the first, by chaining motions between consecutive
/// frames.
///
/// Phase correlation finds a coarse shift; Gauss-Newton steps refine it from coarse to fine (Lucas
/// and Kanade), with scale and rotation for a similarity. Frames are compared at up to 1024 samples
/// along the longer side, with an accuracy of a few hundredths of a sample.
pub struct Aligner {
    kind: Align,
    threads: usize,
    previous: Option<Signal<f32>>,
    motions: Vec<Motion>,
}

impl Aligner {
    /// Creates an aligner without frames.
    pub fn new(kind: Align, threads: usize) -> Self {
        Self { kind, threads, previous: None, motions: Vec::new() }
    }

    /// Motion of every frame relative to the first.
    pub fn motions(&self) -> &[Motion] {
        &self.motions
    }

    /// Adds the lightness of the next frame and measures its motion.
    pub fn add(&mut self, light: &Signal<f32>) -> Result<()> {
        let mut small = light.clone();
        let mut factor = 1.0;
        while longer(&small) > LONGEST {
            small = halve(&small);
            factor *= 2.0;
        }
        let motion = match &self.previous {
            None => Motion::STILL,
            Some(before) if before.extent() != small.extent() => {
                return Err(Error::Shape(format!(
                    "the frames differ in size: {} and another; resize them first",
                    light.extent()
                )));
            }
            Some(before) => {
                let step = self.measure(before, &small);
                let step = Motion { shift: step.shift.map(|s| factor * s), ..step };
                self.motions.last().expect("at least one earlier frame").then(&step)
            }
        };
        self.motions.push(motion);
        self.previous = Some(small);
        Ok(())
    }

    /// Motion from `before` to `frame`, from coarse to fine.
    fn measure(&self, before: &Signal<f32>, frame: &Signal<f32>) -> Motion {
        let mut levels = vec![(before.clone(), frame.clone())];
        while longer(&levels[levels.len() - 1].0) > COARSE {
            let (a, b) = &levels[levels.len() - 1];
            levels.push((halve(a), halve(b)));
        }
        // A change of focus may mislead phase correlation, so no motion is tried as well.
        let (a, b) = &levels[levels.len() - 1];
        let similar = matches!(self.kind, Align::Auto | Align::Similarity);
        let guess = Motion { shift: shift::phase_correlation(a, b), ..Motion::STILL };
        let tried =
            [Motion::STILL, guess].map(|first| refine::refine(a, b, first, similar, self.threads));
        let (mut motion, _) = if tried[1].1 < tried[0].1 { tried[1] } else { tried[0] };
        for (level, (a, b)) in levels.iter().enumerate().rev() {
            if level + 1 < levels.len() {
                motion.shift = motion.shift.map(|s| 2.0 * s);
            }
            (motion, _) = refine::refine(a, b, motion, similar, self.threads);
        }
        if self.kind == Align::Auto && !self.is_needed(before, frame, &motion) {
            return Motion::STILL;
        }
        motion
    }
    /// Whether a motion is more than the accuracy of its measurement and brings the frames closer.
    fn is_needed(&self, before: &Signal<f32>, frame: &Signal<f32>, motion: &Motion) -> bool {
        let difference = |motion: &Motion| {
            let moved = warp(frame, motion, self.threads);
            refine::difference(before, &moved)
        };
        let shift = motion.largest_shift(before.extent());
        shift > ALIGNED
            && shift < FARTHEST * longer(before) as f64
            && difference(motion) < CLOSER * difference(&Motion::STILL)
    }
}

fn longer(signal: &Signal<f32>) -> usize {
    let [_, height, width] = signal.extent().padded();
    height.max(width)
}
