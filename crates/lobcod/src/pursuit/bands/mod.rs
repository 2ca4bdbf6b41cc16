//! Signals that do not fit into memory, coded in bands.
//!
//! A [`RowSource`] hands out strips of a signal, a [`CodeStore`] keeps its codes; both may be on
//! disk. [`Pursuit::run_in_bands`](crate::Pursuit::run_in_bands) needs the memory of one band,
//! which [`Pursuit::rows_within`](crate::Pursuit::rows_within) chooses for a limit.
//!
//! ```
//! use lobcod::bands::Strip;
//! use lobcod::engine::CpuEngine;
//! use lobcod::{Code, Dictionary, Extent, Penalty, PursuitParams, Signal};
//!
//! let samples = (0..80 * 20).map(|i| ((i % 20) as f32 * 0.7).sin()).collect();
//! let samples = Signal::from_planar(Extent::new(&[80, 20])?, 1, samples)?;
//! let mut source = Strip { samples, weights: None };
//! let mut store: Vec<Vec<Code<f32>>> = Vec::new();
//! let dictionary = Dictionary::dct(Extent::new(&[5, 5])?, 1, 25)?;
//! let pursuit = PursuitParams::new(Penalty::Relative(0.1)).check()?;
//! let engine = CpuEngine::new(0)?;
//! let report =
//!     pursuit.run_in_bands(&engine, &mut source, &mut store, &dictionary, 30, &mut ())?;
//! assert!(report.total.relative_gap() <= 1e-3);
//! # Ok::<(), lobcod::Error>(())
//! ```
//!
//! With all other needles fixed, a band of positions along the first axis is a smaller pursuit: on
//! the samples its needles touch, minus the contributions of the neighbours. Solving band after
//! band is block coordinate descent on the whole problem, with the same optimum. The rows around a
//! seam are solved once both bands have been. Measurements are stored per zone, around seams and
//! between; after a pass, zones near changes are measured again, which certifies the gap of the
//! whole signal. Bands whose surroundings changed are solved again until it is small enough.

mod detail;
mod layout;
mod lower;
mod memory;
mod order;
mod pieces;
mod store;
mod whole;
mod window;
mod zones;

pub use detail::DetailRows;
pub use memory::BandedShape;
pub use store::{CodeStore, RowSource, Strip};

use super::local_dual::lattice;
use super::params::{largest_correlation, measured_penalty};
use super::solver::{Solver, is_stopped_early};
use super::{Loss, Pursuit, PursuitParams};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Lattice, Measure, Measurement, Share};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::real::Real;
use crate::report::{HistoryPoint, Report, Status};
use crate::run::{Limits, Run};
use layout::BandLayout;
use lower::Done;
use pieces::Pieces;
use std::ops::Range;
use window::Source;
use zones::{Zone, meet};

/// A band whose gap is at most this fraction of the tolerance is not solved again; others are
/// solved to the second fraction.
const ACCEPTED: f64 = 0.9;
const SOLVED: f64 = 0.75;
/// Maximum number of passes.
const MOST_PASSES: usize = 40;
/// How often both fractions are halved when they do not certify the gap of the whole signal.
const HALVINGS: usize = 4;

impl Pursuit {
    /// Codes one signal in bands of at most `rows` positions along the first axis. The codes are
    /// written to the store, sorted by position; the report covers the whole signal.
    ///
    /// The border must be free or zero. The memory limit only applies to engines with their own
    /// memory, which halve bands to stay within it; see [`Pursuit::rows_within`].
    pub fn run_in_bands<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &mut dyn RowSource<T>,
        store: &mut dyn CodeStore<T>,
        dictionary: &Dictionary<T>,
        rows: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        if !matches!(self.params.border, Border::Free | Border::Zero) {
            return Err(Error::Data(format!(
                "a signal with the {} border cannot be split into bands; use the free border",
                self.params.border
            )));
        }
        if self.params.elastic > 0.0
            || self.params.joint > 0.0
            || self.params.smooth_layer > 0.0
            || self.params.debias
            || self.params.loss != Loss::Squares
        {
            return Err(Error::Data(
                "a signal is not split into bands with an elastic net, joint sparsity, a smooth \
                 layer estimated with the codes, debiased codes or a robust loss; code it whole"
                    .into(),
            ));
        }
        let (extent, atom) = (signal.extent(), dictionary.extent());
        if extent.rank() != atom.rank() {
            return Err(Error::Shape(format!(
                "{} atoms do not fit a {extent} signal; they need as many axes",
                atom
            )));
        }
        let layout = BandLayout::new(extent, atom, self.params.border, rows);
        let memory = engine.own_memory().map(|own| own.min(self.params.max_memory.unwrap_or(own)));
        let limits = Limits { time: self.params.time_limit, memory };
        let mut solver = BandedSolver {
            params: &self.params,
            // A window contains its border.
            window_params: PursuitParams {
                border: Border::Free,
                max_memory: None,
                ..self.params.clone()
            },
            engine,
            source: Source { layout, pieces: Pieces::new(&layout), signal, store, dictionary },
            penalty: 0.0,
            penalty_max: Vec::new(),
            lattice: lattice(&self.params, extent, atom),
            bands: (0..layout.count).map(|_| BandState::default()).collect(),
            zones: layout.zones().into_iter().map(Zone::new).collect(),
            run: Run::begin(limits, engine.agreement(), observer),
            history: Vec::new(),
        };
        solver.find_penalty()?;
        solver.run()
    }

    /// Number of bands [`Pursuit::run_in_bands`] splits a signal of this size into.
    pub fn bands(&self, extent: Extent, atom: Extent, rows: usize) -> usize {
        BandLayout::new(extent, atom, self.params.border, rows).count
    }
}

/// State of a running pursuit in bands.
struct BandedSolver<'a, T> {
    params: &'a PursuitParams,
    window_params: PursuitParams,
    engine: &'a dyn Engine<T>,
    source: Source<'a, T>,
    penalty: f64,
    /// Of each plane, over the whole signal.
    penalty_max: Vec<f64>,
    lattice: Option<Lattice>,
    bands: Vec<BandState>,
    zones: Vec<Zone>,
    run: Run<'a>,
    history: Vec<HistoryPoint>,
}

/// Progress of a band.
#[derive(Clone, Default)]
struct BandState {
    /// Whether it has been solved at least once.
    started: bool,
    /// Whether neither it nor a neighbour changed since its gap was found small enough.
    settled: bool,
    /// Whether it or its predecessor changed since the seam between them was solved.
    seam_changed: bool,
}

/// The positions to solve.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Band(usize),
    /// The rows around the start of this band.
    SeamBefore(usize),
}

impl<T: Real> BandedSolver<'_, T> {
    /// Measures the smallest penalty for which all codes are zero.
    fn find_penalty(&mut self) -> Result<()> {
        let mut all: Vec<Measurement> = Vec::new();
        for band in 0..self.bands.len() {
            let window = self.source.window(self.source.layout.positions(band), true)?;
            let mut session = self.source.open(self.engine, &self.window_params, &window)?;
            let zero = session.measure(Measure::Largest, &self.run.untimed_context())?;
            all.resize(zero.len(), Measurement::default());
            for (sum, m) in all.iter_mut().zip(&zero) {
                // Samples that two bands touch count twice, which affects no limit.
                sum.residual_energy += m.residual_energy;
                sum.largest_correlation = sum.largest_correlation.max(m.largest_correlation);
            }
        }
        self.penalty = measured_penalty::<T>(
            self.params.penalty,
            &all,
            Some(largest_correlation(&all)),
            self.run.interrupt(),
        )?;
        self.penalty_max = all.iter().map(|m| m.largest_correlation).collect();
        Ok(())
    }

    fn run(&mut self) -> Result<Report> {
        let mut fraction = 1.0;
        let mut halvings = 0;
        let mut passes = 0;
        loop {
            passes += 1;
            let worst = match self.pass(fraction)? {
                Done::With(worst) => worst,
                Done::Needs(bytes) => {
                    self.halve_bands(bytes)?;
                    continue;
                }
            };
            let total = self.measure()?;
            if is_stopped_early(worst) {
                return Ok(self.report(worst, total));
            }
            if total.relative_gap() <= self.params.tolerance {
                return Ok(self.report(Status::Converged, total));
            }
            let settled = self.bands.iter().all(|band| band.settled);
            if passes == MOST_PASSES
                || settled && (worst != Status::Converged || halvings == HALVINGS)
            {
                return Ok(self.report(worst.max(Status::Stalled), total));
            }
            if settled {
                halvings += 1;
                fraction *= 0.5;
                self.bands.iter_mut().for_each(|band| band.settled = false);
            }
        }
    }

    /// Solves every unsettled band and the seam before it; returns the worst status.
    fn pass(&mut self, fraction: f64) -> Result<Done> {
        let mut worst = Done::With(Status::Converged);
        for band in 0..self.bands.len() {
            if self.bands[band].settled {
                continue;
            }
            worst = worst.and(self.solve(Target::Band(band), fraction)?);
            if band > 0 && self.bands[band].seam_changed && worst.continues() {
                worst = worst.and(self.solve(Target::SeamBefore(band), fraction)?);
            }
            if !worst.continues() {
                break;
            }
        }
        Ok(worst)
    }

    /// Solves a band or seam; if a device is lost, again on another engine.
    fn solve(&mut self, target: Target, fraction: f64) -> Result<Done> {
        match self.solve_once(target, fraction) {
            // The codes in the store are unchanged.
            Err(Error::DeviceLost(_)) => self.solve_once(target, fraction),
            done => done,
        }
    }

    /// Solves a band or seam, and unsettles its surroundings if it changed.
    fn solve_once(&mut self, target: Target, fraction: f64) -> Result<Done> {
        let layout = self.source.layout;
        let (positions, cold) = match target {
            Target::Band(band) => (layout.positions(band), !self.bands[band].started),
            Target::SeamBefore(band) => (layout.seam(band), false),
        };
        let window = self.source.window(positions.clone(), false)?;
        let session = self.source.open(self.engine, &self.window_params, &window)?;
        let start = (!cold).then(|| self.source.codes(&window)).transpose()?;
        let others = || self.zones.iter().filter(|zone| !meet(&zone.positions, &positions));
        let objective = others().map(|zone| zone.objective(self.penalty)).sum::<f64>();
        let nonzeros = others().map(Zone::nonzeros).sum::<usize>();
        let tolerance = self.params.tolerance;
        let params = PursuitParams {
            tolerance: SOLVED * fraction * tolerance,
            ..self.window_params.clone()
        };
        // Later passes over the bands find little left to do.
        let (band, bands) = match target {
            Target::Band(band) | Target::SeamBefore(band) => (band as f64, self.bands.len() as f64),
        };
        self.run.begin_part(band / bands..(band + 1.0) / bands);
        let limits = Limits { time: self.run.time_left(), memory: self.run.context().max_memory };
        let agreement = self.run.agreement().clone();
        let mut watch = Watch { run: &mut self.run, objective, nonzeros, tolerance };
        let signals = std::slice::from_ref(&window.observed);
        let mut solver = Solver::new(
            &params,
            self.engine,
            signals,
            self.source.dictionary,
            session,
            Run::begin(limits, agreement, &mut watch),
            (self.penalty, self.penalty_max.clone()),
        );
        let status = match solver.run_part(start, ACCEPTED * fraction * tolerance) {
            // The codes in the store are unchanged.
            Err(Error::Limits { needed, .. }) => return Ok(Done::Needs(needed)),
            status => status?,
        };
        let inner = solver.run.progress;
        let memory = solver.run.peak_memory();
        let mut session = solver.session;
        let changed = inner.discovery_sweeps > 0;
        self.run.progress.discovery_sweeps += inner.discovery_sweeps;
        self.run.progress.support_sweeps += inner.support_sweeps;
        self.run.note_memory(memory);
        if changed {
            self.unsettle(&positions);
            let state = session.state(Share::All)?;
            for zone in 0..self.zones.len() {
                let Range { start, end } = self.zones[zone].positions;
                if positions.start <= start && end <= positions.end {
                    self.record_zone(zone, &window, &mut *session, &state)?;
                }
            }
            drop((session, window));
            self.source.keep(positions, state, self.engine.threads())?;
        }
        match target {
            Target::Band(band) => {
                let seams = self
                    .bands
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| changed && (band..band + 2).contains(i));
                seams.for_each(|(_, after)| after.seam_changed = true);
                self.bands[band].started = true;
                self.bands[band].settled = !is_stopped_early(status);
            }
            Target::SeamBefore(band) => self.bands[band].seam_changed = false,
        }
        Ok(Done::With(status))
    }
}

/// Reports the progress of a window as progress of the whole signal.
struct Watch<'a, 'o> {
    run: &'a mut Run<'o>,
    /// Objective of everything outside the window.
    objective: f64,
    nonzeros: usize,
    tolerance: f64,
}

impl Observer for Watch<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let sweeps = self.run.progress;
        self.run.part().progress(&Progress {
            objective: self.objective + progress.objective,
            nonzeros: self.nonzeros + progress.nonzeros,
            relative_gap: None,
            tolerance: self.tolerance,
            discovery_sweeps: sweeps.discovery_sweeps + progress.discovery_sweeps,
            support_sweeps: sweeps.support_sweeps + progress.support_sweeps,
            ..*progress
        })
    }

    fn stop(&self) -> Stop {
        self.run.interrupt().clone()
    }
}
