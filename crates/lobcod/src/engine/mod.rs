//! The seam between what is solved and where it runs.
//!
//! Pursuit, learning and tasks are written once, against [`Session`]: a handful of coarse verbs over state that lives wherever
//! the engine keeps it. All engines follow the same schedule (see [`crate::grid`]), so an engine that cuts the signal up
//! exchanges the borders of its part between two colours of a sweep and nowhere else.

mod cpu;
pub mod ranks;
mod scales;

pub use cpu::{CpuEngine, OpenOnCpu};
pub use scales::{Lattice, ScaleField};

use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::grid::Grouping;
use crate::needles::Code;
use crate::observe::Stop;
use crate::pursuit::Local;
use crate::real::Real;
use crate::report::Status;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A box of samples of a plane, along depth, height and width.
pub type Part = [Range<usize>; 3];

/// One plane to be coded: a signal, or one channel of it where a one-channel dictionary codes each channel by itself.
#[derive(Clone, Debug)]
pub struct Plane<T> {
    /// Size of the plane.
    pub extent: Extent,
    /// `Y - B`, channel after channel; 0 where the weight is 0.
    pub target: Vec<T>,
    /// Weights `A` of the same length; `None`: all 1.
    pub weights: Option<Vec<T>>,
    /// Penalty weight of every position; `None`: all 1.
    pub position_weights: Option<Vec<T>>,
    /// Cap on the non-zeros of every position; `None`: the cap of the problem.
    pub position_caps: Option<Vec<u32>>,
    /// The box of samples that target and weights hold, where a rank is given only what it works on; `None`: all. It may go on
    /// counting beyond the end of a periodic signal.
    pub held: Option<[Range<i64>; 3]>,
}

/// Everything an engine must know to open a session.
#[derive(Clone, Debug)]
pub struct Problem<T> {
    /// The planes, solved together.
    pub planes: Vec<Plane<T>>,
    /// The dictionary.
    pub dictionary: Dictionary<T>,
    /// Border rule.
    pub border: Border,
    /// How positions are grouped.
    pub grouping: Grouping,
    /// Penalty weight of every atom.
    pub atom_weights: Vec<T>,
    /// Codes must not be negative.
    pub nonnegative: bool,
    /// Solver of one needle.
    pub local: Local,
    /// Cap on the non-zeros of a needle.
    pub cap: Option<usize>,
    /// Will the atoms change too? Takes more memory.
    pub learning: bool,
}

/// Which needles a discovery sweep visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// All of them.
    All,
    /// Those that the last [`Measure::Certificate`] found wanting.
    Candidates,
    /// All of them, each coding its share (1 over the volume of the box) of its patch from zero, none seeing the others: the start of section III-B.
    Spread,
    /// Those of one layer.
    Layer(PlaneLayer),
}

/// The needles of one layer of a plane: in every tile those of the layer with this number. Their patches do not overlap inside a
/// tile, and nowhere when positions are grouped into whole layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLayer {
    /// Number of the plane.
    pub plane: usize,
    /// Number of the layer, below [`Session::layers`].
    pub layer: usize,
}

/// A sweep over needles.
#[derive(Clone, Copy, Debug)]
pub struct Discovery {
    /// Penalty of this sweep.
    pub penalty: f64,
    /// Which needles.
    pub visit: Visit,
    /// Changes below this share of the threshold count as none inside a needle.
    pub local_tolerance: f64,
    /// Seed of a random order of the layers; `None`: in order.
    pub layer_seed: Option<u64>,
}

/// Sweeps over the non-zero codes.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// Penalty of these sweeps.
    pub penalty: f64,
    /// Sweeps, one after the other.
    pub sweeps: usize,
    /// Rounds inside a tile before the next.
    pub rounds: usize,
    /// A tile is left when its largest change falls below this share of the threshold, and passed over while less is pending around it.
    pub tolerance: f64,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Largest change of a code, in shares of its threshold.
    pub largest_change: f64,
    /// Needles correlated, or codes updated.
    pub visited: usize,
}

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Data term and l1 norm.
    Objective,
    /// Also the largest correlation.
    Largest,
    /// Also the largest correlation where it exceeds the penalty; needles that exceed `penalty * (1 + slack)` become candidates.
    Certificate {
        /// Penalty the codes are judged by.
        penalty: f64,
        /// Relative excess that is let pass.
        slack: f64,
    },
}

/// Sums over one plane, in f64.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// `||r||^2`, with `r = A (Y - B - sum P_i^T D a_i)`.
    pub residual_energy: f64,
    /// `<A (Y - B), r>`.
    pub target_dot_residual: f64,
    /// `sum weight_ik |a_ik|`, the penalty left out.
    pub weighted_l1: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Largest `|c_ik| / weight_ik` (only `c > 0` counts for non-negative codes); from a certificate, where it is not above the
    /// penalty, some number up to the penalty. Infinite where only the objective was measured, or the measurement was broken off, so
    /// that no gap is claimed.
    pub largest_correlation: f64,
    /// Needles that had to be correlated for it.
    pub visited: usize,
}

/// Needles that exceed the penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exceeding {
    /// First corner of a box that holds all of them, relative to the signal.
    pub first: [i64; 3],
    /// Last corner, which is in the box.
    pub last: [i64; 3],
    /// Their largest reach, in shares of the penalty.
    pub ratio: f64,
}

/// Scales `s` of the residual.
#[derive(Clone, Copy, Debug)]
pub struct Scaling<'a> {
    /// The scales.
    pub field: &'a ScaleField,
    /// Where the plane's first sample lies in the field.
    pub origin: [i64; 3],
}

/// Sums over a scaled residual, in f64.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScaledSums {
    /// `<A (Y - B), s r>`.
    pub dot: f64,
    /// `||s r||^2`.
    pub energy: f64,
}

/// What a session can be taken up from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<T> {
    /// The codes of every plane: positions relative to the signal, in any order, channel 0.
    pub codes: Vec<Vec<Code<T>>>,
    /// Changes still pending around every tile of every plane (the schedule's memory); empty: unknown, all tiles are swept.
    pub pending: Vec<Vec<f64>>,
}

impl<T: Real> State<T> {
    /// The same state in another precision.
    pub fn cast<U: Real>(&self) -> State<U> {
        let code =
            |c: &Code<T>| Code { position: c.position, atom: c.atom, channel: c.channel, value: U::from_f64(c.value.to_f64()) };
        State { codes: self.codes.iter().map(|p| p.iter().map(code).collect()).collect(), pending: self.pending.clone() }
    }
}

/// A place where sessions run.
pub trait Engine<T> {
    /// Short name: `cpu`, `cuda`, `mpi`.
    fn name(&self) -> &'static str;
    /// Worker threads.
    fn threads(&self) -> usize;
    /// Processes that work together; what ends the work is agreed on by all of them between two sweeps.
    fn ranks(&self) -> usize {
        1
    }
    /// Bytes a session of this problem is expected to use, with `density` non-zeros a position.
    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64>;
    /// Opens a session: all codes zero.
    fn open(&self, problem: Problem<T>) -> Result<Box<dyn Session<T>>>;
    /// Opens a session in which codes may be at these positions only, relative to the signal; what is beyond its edge is free. Such a
    /// session can be asked about its residual scaled.
    fn open_part(&self, problem: Problem<T>, positions: &[Range<i64>; 3]) -> Result<Box<dyn Session<T>>> {
        let _ = (problem, positions);
        Err(Error::Unavailable(format!("the {} engine does not code signals in bands; use the cpu engine", self.name())))
    }
    /// Bytes that a session may take, where the engine has memory of its own.
    fn own_memory(&self) -> Option<u64> {
        None
    }
}

/// State of a pursuit on an engine.
pub trait Session<T> {
    /// From now on sweeps and measurements are broken off when `stop` is due: some tiles are then swept and others not. A measurement
    /// that was broken off tells no correlation. An engine whose sweeps are short need not look.
    fn heed(&mut self, stop: Stop) {
        let _ = stop;
    }
    /// From now on the session may take so many bytes of its engine's own memory. A sweep that needs more is broken off and writes to
    /// `wanted` how many; codes and residual still belong together. A session in the memory of the process takes what it needs.
    fn keep_within(&mut self, bytes: u64, wanted: Arc<AtomicU64>) {
        let _ = (bytes, wanted);
    }
    /// Synthesises the residual anew from the needles.
    fn refresh(&mut self);
    /// One sweep over needles.
    fn discover(&mut self, sweep: &Discovery) -> Sweep;
    /// Sweeps over non-zero codes.
    fn support(&mut self, sweep: &Support) -> Sweep;
    /// Measures every plane; changes no code and no residual.
    fn measure(&mut self, what: Measure) -> Vec<Measurement>;
    /// What can be asked of the residual scaled; `None` from engines that keep no reaches.
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        None
    }
    /// The codes of every plane and what is known of its tiles.
    fn fetch(&self) -> State<T>;
    /// The same where a session over ranks leaves codes on their ranks: all of them, on the first rank.
    fn fetch_for_keeping(&self) -> State<T> {
        self.fetch()
    }
    /// What all ranks of a session agree on where each has its own clock and observer: an end that one of them wants.
    fn agree(&self, end: Option<Status>) -> Option<Status> {
        end
    }
    /// Replaces the state; follow with [`Session::refresh`].
    fn restore(&mut self, state: &State<T>);
    /// Remembers the codes as they stand.
    fn remember_codes(&mut self);
    /// Puts the codes that were remembered last in the place of the present ones; follow with [`Session::refresh`].
    fn take_codes_back(&mut self);
    /// One pass over the atoms: each in turn becomes the best of its direction, codes held still; the residual follows. The
    /// objective does not rise. Returns the largest move of an atom. Only in a session opened for learning.
    fn improve_atoms(&mut self) -> f64;
    /// Layers of a plane.
    fn layers(&self, plane: usize) -> usize;
    /// Gradient of the data term in the dictionary, eq. (11): `- sum_i P_i R a_i^T` over the needles of one layer, or over all
    /// needles for `None`; atom after atom, the residual taken as it stands.
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64>;
    /// Energy `|| A sum_i P_i^T G a_i ||^2` of what the codes make of other atoms `G` (atom after atom, of any norm): the curvature
    /// of the data term along `G`. The residual is lost; follow with [`Session::refresh`].
    fn energy_along(&mut self, direction: &[f64]) -> f64;
    /// The residual of a plane, weights squared in it: `A^2 (Y - B - sum P_i^T D a_i)` over the signal, channel after channel.
    fn residual(&self, plane: usize) -> Vec<T>;
    /// The dictionary as it stands.
    fn dictionary(&self) -> &Dictionary<T>;
    /// Replaces the dictionary by one of the same shape; follow with [`Session::refresh`].
    fn set_dictionary(&mut self, dictionary: Dictionary<T>);
    /// Bytes of the session's own arrays now.
    fn memory(&self) -> u64;
}

/// The residual of a session whose scale varies over the signal: what a better dual point is made of.
pub trait ScaledResidual<T> {
    /// Calls `each(plane, where)` for small boxes that together hold all needles, of this rank, whose reach exceeded the penalty; only
    /// right after a certificate for this penalty.
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding));
    /// Replaces numbers that every rank has by the largest of all ranks.
    fn largest_of_all(&mut self, numbers: &mut [f32]) {
        let _ = numbers;
    }
    /// `<A (Y - B), s r>` and `||s r||^2` over a part of the samples, or over all (those around the signal too, for the zero border).
    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums;
    /// Largest `|c_ik| / weight_ik` in the scaled residual of needles that the scales are not 1 around; the penalty if none is larger.
    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64;
    /// [`Session::residual`] over a part of the signal, not scaled.
    fn residual_part(&mut self, plane: usize, part: &Part) -> Vec<T>;
}
