//! Alignment: how frames of one scene lie to each other.

mod crop;
mod motion;
mod refine;
mod shift;
mod warp;

pub use crop::Crop;
pub use motion::Motion;
pub use warp::{halve, warp};

use crate::error::{Error, Result};
use crate::signal::Signal;

/// Samples along the longer side of what frames are compared at.
const LONGEST: usize = 1024;
/// Samples along the longer side of the first, coarse comparison.
const COARSE: usize = 160;

/// How frames are brought to cover each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Not at all; a shift is measured, so that it can be warned about.
    #[default]
    None,
    /// By a shift.
    Shift,
    /// By a shift, a change of size and a turn.
    Similarity,
}

/// Measures how frames lie to the first one, each by the frame before it.
///
/// A coarse shift is found by phase correlation; Gauss-Newton steps on the squared difference refine it from coarse to fine
/// (Lucas and Kanade), with size and turn where a similarity is asked for. Frames are compared at 1024 samples along the longer
/// side at most, which leaves errors of some hundredths of a sample there.
pub struct Aligner {
    kind: Align,
    threads: usize,
    previous: Option<Signal<f32>>,
    motions: Vec<Motion>,
}

impl Aligner {
    /// An aligner that has seen no frame.
    pub fn new(kind: Align, threads: usize) -> Self {
        Self { kind, threads, previous: None, motions: Vec::new() }
    }

    /// How every frame lies to the first one.
    pub fn motions(&self) -> &[Motion] {
        &self.motions
    }

    /// Takes the lightness of the next frame and measures how it lies.
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
                    "the frames differ in size: {} and another; make them alike first",
                    light.extent()
                )));
            }
            Some(before) => {
                let step = self.measure(before, &small);
                let step = Motion { shift: step.shift.map(|s| factor * s), ..step };
                self.motions.last().expect("a frame came before").then(&step)
            }
        };
        self.motions.push(motion);
        self.previous = Some(small);
        Ok(())
    }

    /// How `frame` lies to `before`, from coarse to fine.
    fn measure(&self, before: &Signal<f32>, frame: &Signal<f32>) -> Motion {
        let mut levels = vec![(before.clone(), frame.clone())];
        while longer(&levels[levels.len() - 1].0) > COARSE {
            let (a, b) = &levels[levels.len() - 1];
            levels.push((halve(a), halve(b)));
        }
        // What is sharp may move from frame to frame while the scene does not, and fool the phases: no motion is tried as well.
        let (a, b) = &levels[levels.len() - 1];
        let similar = self.kind == Align::Similarity;
        let guess = Motion { shift: shift::phase_correlation(a, b), ..Motion::STILL };
        let tried = [Motion::STILL, guess].map(|first| refine::refine(a, b, first, similar, self.threads));
        let (mut motion, _) = if tried[1].1 < tried[0].1 { tried[1] } else { tried[0] };
        for (level, (a, b)) in levels.iter().enumerate().rev() {
            if level + 1 < levels.len() {
                motion.shift = motion.shift.map(|s| 2.0 * s);
            }
            (motion, _) = refine::refine(a, b, motion, similar, self.threads);
        }
        motion
    }
}

fn longer(signal: &Signal<f32>) -> usize {
    let [_, height, width] = signal.extent().padded();
    height.max(width)
}
