//! A signal that does not fit into memory, coded in bands.
//!
//! The positions are cut into bands along the first axis. Once all other needles are held still, a band is a pursuit of its own: over
//! the samples its needles touch, less what the neighbours' needles make of them. Band after band, pass after pass, this is block
//! coordinate descent on the whole problem and has the same optimum. The rows around the seam of two bands are worked on together once
//! both bands were, so that no seam is felt. What is known of the answer is kept by zones, those around seams and those between; after
//! a pass only the zones near which something changed since are measured again, and then all measurements belong to one answer and prove
//! its gap for the whole signal. Where that is too large, bands are looked at again whose surroundings changed.

mod cut;
mod lower;
mod memory;
mod order;
mod pieces;
mod shelf;
mod whole;
mod window;
mod zones;

pub use memory::BandedShape;
pub use shelf::{Piece, Rows, Shelf};

use super::local_dual::lattice;
use super::params::measured_penalty;
use super::solver::{Setting, Solver, is_broken_off};
use super::{Pursuit, PursuitParams};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine, Lattice, Measure, Measurement};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::real::Real;
use crate::report::{HistoryPoint, Report, Status};
use cut::Cut;
use lower::Done;
use pieces::Pieces;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use window::Source;
use zones::{Zone, meet};

/// A band whose gap is at most this share of the tolerance is left as it is; another is worked on until its gap is at most that one.
const ACCEPTED: f64 = 0.9;
const SOLVED: f64 = 0.75;
/// Passes after which the answer is taken as it is.
const MOST_PASSES: usize = 40;
/// Both shares are halved where they do not prove the gap of the whole, this often.
const HALVINGS: usize = 4;

impl Pursuit {
    /// Codes one signal in bands of at most `rows` positions of the first axis (of a few atoms where that is more), on the threads of
    /// this machine. The codes end up on the shelf, piece after piece in the order of their positions; the report is that of the
    /// whole signal, its history has a point for every answer that was measured as a whole.
    ///
    /// The border is free or zero; the limit of memory is not looked at, see [`Pursuit::rows_within`]. (An engine with memory of its own
    /// obeys it: where a band would take more, bands are halved.)
    pub fn run_in_bands<T: Real>(
        &self,
        signal: &mut dyn Rows<T>,
        shelf: &mut dyn Shelf<T>,
        dictionary: &Dictionary<T>,
        rows: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        self.run_in_bands_on(&CpuEngine::new(self.params.threads)?, signal, shelf, dictionary, rows, observer)
    }

    /// Codes one signal in bands on a given engine.
    pub fn run_in_bands_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &mut dyn Rows<T>,
        shelf: &mut dyn Shelf<T>,
        dictionary: &Dictionary<T>,
        rows: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        if self.params.border == Border::Periodic {
            return Err(Error::Data(
                "a periodic border closes on itself and cannot be cut into bands; use the free border".into(),
            ));
        }
        let (extent, atom) = (signal.extent(), dictionary.extent());
        if extent.rank() != atom.rank() {
            return Err(Error::Shape(format!("{} atoms do not fit a {extent} signal; they need as many axes", atom)));
        }
        let cut = Cut::new(extent, atom, self.params.border, rows);
        let mut work = Work {
            asked: &self.params,
            // A window has its border in it.
            params: PursuitParams { border: Border::Free, max_memory: None, ..self.params.clone() },
            engine,
            source: Source { cut, pieces: Pieces::new(&cut), signal, shelf, dictionary },
            penalty: 0.0,
            penalty_max: Vec::new(),
            lattice: lattice(&self.params, extent, atom),
            bands: (0..cut.count).map(|_| Band::default()).collect(),
            zones: cut.zones().into_iter().map(Zone::new).collect(),
            sweeps: (0, 0),
            memory: 0,
            allowed: engine.own_memory().map(|own| own.min(self.params.max_memory.unwrap_or(own))),
            clock: Instant::now(),
            history: Vec::new(),
        };
        work.find_penalty()?;
        work.run(observer)
    }

    /// Bands that [`Pursuit::run_in_bands`] cuts a signal of this size into.
    pub fn bands(&self, extent: Extent, atom: Extent, rows: usize) -> usize {
        Cut::new(extent, atom, self.params.border, rows).count
    }
}

/// A pursuit in bands under way.
struct Work<'a, T> {
    asked: &'a PursuitParams,
    params: PursuitParams,
    engine: &'a dyn Engine<T>,
    source: Source<'a, T>,
    penalty: f64,
    /// Of every plane, over the whole signal.
    penalty_max: Vec<f64>,
    lattice: Option<Lattice>,
    bands: Vec<Band>,
    zones: Vec<Zone>,
    sweeps: (usize, usize),
    memory: u64,
    /// Bytes a session may take of the engine's own memory.
    allowed: Option<u64>,
    clock: Instant,
    history: Vec<HistoryPoint>,
}

/// How far the work on a band is.
#[derive(Clone, Default)]
struct Band {
    /// Was it ever worked on?
    begun: bool,
    /// Has neither it nor a neighbour changed since its gap was found small enough?
    settled: bool,
    /// Has it or the band before it changed since the seam between them was worked on?
    seam_changed: bool,
}

/// What is worked on.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Band(usize),
    /// The rows around where this band begins.
    SeamBefore(usize),
}

impl<T: Real> Work<'_, T> {
    /// Measures the smallest penalty with an all-zero answer.
    fn find_penalty(&mut self) -> Result<()> {
        let mut all: Vec<Measurement> = Vec::new();
        for band in 0..self.bands.len() {
            let window = self.source.window(self.source.cut.positions(band), true)?;
            let mut session = self.source.open(self.engine, &self.params, &window)?;
            let zero = session.measure(Measure::Largest);
            all.resize(zero.len(), Measurement::default());
            for (sum, m) in all.iter_mut().zip(&zero) {
                // Samples that two bands touch count twice, which matters to no limit.
                sum.residual_energy += m.residual_energy;
                sum.largest_correlation = sum.largest_correlation.max(m.largest_correlation);
            }
        }
        self.penalty = measured_penalty::<T>(self.params.penalty, &all, &Stop::default())?;
        self.penalty_max = all.iter().map(|m| m.largest_correlation).collect();
        Ok(())
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<Report> {
        let (mut shares, mut halvings, mut passes) = (1.0, 0, 0);
        loop {
            passes += 1;
            let worst = match self.pass(shares, observer)? {
                Done::With(worst) => worst,
                Done::Needs(bytes) => {
                    self.halve_bands(bytes)?;
                    continue;
                }
            };
            let total = self.measure()?;
            if is_broken_off(worst) {
                return Ok(self.report(worst, total));
            }
            if total.relative_gap() <= self.asked.tolerance {
                return Ok(self.report(Status::Converged, total));
            }
            let settled = self.bands.iter().all(|band| band.settled);
            if passes == MOST_PASSES || settled && (worst != Status::Converged || halvings == HALVINGS) {
                return Ok(self.report(worst.max(Status::Stalled), total));
            }
            if settled {
                halvings += 1;
                shares *= 0.5;
                self.bands.iter_mut().for_each(|band| band.settled = false);
            }
        }
    }

    /// Works on every band that is not settled, and on the seam before it; tells the worst that became of one.
    fn pass(&mut self, shares: f64, observer: &mut dyn Observer) -> Result<Done> {
        let mut worst = Done::With(Status::Converged);
        for band in 0..self.bands.len() {
            if self.bands[band].settled {
                continue;
            }
            worst = worst.and(self.solve(Place::Band(band), shares, observer)?);
            if band > 0 && self.bands[band].seam_changed && worst.goes_on() {
                worst = worst.and(self.solve(Place::SeamBefore(band), shares, observer)?);
            }
            if !worst.goes_on() {
                break;
            }
        }
        Ok(worst)
    }

    /// Works on a band or seam until its gap is small; what is near must be looked at again if it changed.
    fn solve(&mut self, place: Place, shares: f64, observer: &mut dyn Observer) -> Result<Done> {
        let cut = self.source.cut;
        let (positions, cold) = match place {
            Place::Band(band) => (cut.positions(band), !self.bands[band].begun),
            Place::SeamBefore(band) => (cut.seam(band), false),
        };
        let window = self.source.window(positions.clone(), false)?;
        let mut session = self.source.open(self.engine, &self.params, &window)?;
        let wanted = Arc::new(AtomicU64::new(0));
        if let Some(allowed) = self.allowed {
            session.keep_within(allowed, Arc::clone(&wanted));
        }
        let start = (!cold).then(|| self.source.codes(&window)).transpose()?;
        let asked = self.asked;
        let others = || self.zones.iter().filter(|zone| !meet(&zone.positions, &positions));
        let objective = others().map(|zone| zone.objective(self.penalty)).sum::<f64>();
        let nonzeros = others().map(Zone::nonzeros).sum::<usize>();
        let (clock, sweeps, asked_to_stop) = (self.clock, self.sweeps, observer.stop());
        let mut watch = |progress: &Progress| -> Control {
            observer.progress(&Progress {
                seconds: clock.elapsed().as_secs_f64(),
                objective: objective + progress.objective,
                nonzeros: nonzeros + progress.nonzeros,
                relative_gap: None,
                tolerance: asked.tolerance,
                discovery_sweeps: sweeps.0 + progress.discovery_sweeps,
                support_sweeps: sweeps.1 + progress.support_sweeps,
                ..*progress
            })
        };
        let params = PursuitParams {
            tolerance: SOLVED * shares * asked.tolerance,
            time_limit: asked.time_limit.map(|limit| limit.saturating_sub(clock.elapsed())),
            ..self.params.clone()
        };
        let mut solver = Solver::new(Setting {
            params: &params,
            signals: std::slice::from_ref(&window.observed),
            dictionary: self.source.dictionary,
            session,
            penalty: self.penalty,
            penalty_max: self.penalty_max.clone(),
            means: (self.engine.name(), self.engine.threads()),
        });
        let more = Arc::clone(&wanted);
        solver.begin(Instant::now(), asked_to_stop.or(Stop::when(move || more.load(Ordering::Relaxed) > 0)), 1);
        let status = solver.run_part(start, ACCEPTED * shares * asked.tolerance, &mut watch);
        let wanted = wanted.load(Ordering::Relaxed);
        if wanted > 0 {
            // What the shelf holds is as good as it was.
            return Ok(Done::Needs(wanted));
        }
        let changed = solver.progress.discovery_sweeps > 0;
        self.sweeps.0 += solver.progress.discovery_sweeps;
        self.sweeps.1 += solver.progress.support_sweeps;
        self.memory = self.memory.max(solver.peak_memory);
        let mut session = solver.session;
        if changed {
            self.unsettle(&positions);
            let state = session.fetch();
            for zone in 0..self.zones.len() {
                let Range { start, end } = self.zones[zone].positions;
                if positions.start <= start && end <= positions.end {
                    self.note(zone, &window, &mut *session, &state);
                }
            }
            drop((session, window));
            self.source.keep(positions, state, asked.threads)?;
        }
        match place {
            Place::Band(band) => {
                let seams = self.bands.iter_mut().enumerate().filter(|(i, _)| changed && (band..band + 2).contains(i));
                seams.for_each(|(_, after)| after.seam_changed = true);
                self.bands[band].begun = true;
                self.bands[band].settled = !is_broken_off(status);
            }
            Place::SeamBefore(band) => self.bands[band].seam_changed = false,
        }
        Ok(Done::With(status))
    }
}
