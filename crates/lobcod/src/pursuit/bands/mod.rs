//! A signal that does not fit into memory, coded in bands.
//!
//! The positions are cut into bands along the first axis. Once all other needles are held still, a band is a pursuit of its own: over
//! the samples its needles touch, less what the neighbours' needles make of them. Band after band, pass after pass, this is block
//! coordinate descent on the whole problem and has the same optimum. The rows around the seam of two bands are worked on together once
//! both bands were, so that no seam is felt. A band is looked at again whenever something changed near it after it was measured; once
//! none is left to look at, all measurements belong to one answer and prove its gap for the whole signal.

mod cut;
mod lower;
mod memory;
mod shelf;
mod whole;
mod window;

pub use memory::BandedShape;
pub use shelf::{Piece, Rows, Shelf};

use super::local_dual::{Excess, lattice};
use super::solver::{Setting, Solver, is_broken_off};
use super::{Pursuit, PursuitParams};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine, Lattice, Measure, Measurement, ScaleField, Scaling, Session};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::real::Real;
use crate::report::{HistoryPoint, Report, Status};
use cut::Cut;
use lower::Done;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use window::{Source, Window, scaled};

/// A band whose gap is at most this share of the tolerance is left as it is; another is worked on until its gap is at most that one.
const ACCEPTED: f64 = 0.9;
const SOLVED: f64 = 0.5;
/// Passes after which the answer is taken as it is.
const MOST_PASSES: usize = 40;
/// Both shares are halved where they do not prove the gap of the whole, this often.
const HALVINGS: usize = 4;

impl Pursuit {
    /// Codes one signal in bands of at most `rows` positions of the first axis (of a few atoms where that is more), on the threads of
    /// this machine. The codes end up on the shelf, band after band in the order of their positions; the report is that of the
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
            source: Source { cut, signal, shelf, dictionary },
            penalty: 0.0,
            penalty_max: Vec::new(),
            lattice: lattice(&self.params, extent, atom),
            bands: (0..cut.count).map(|_| Band::default()).collect(),
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
    sweeps: (usize, usize),
    memory: u64,
    /// Bytes a session may take of the engine's own memory.
    allowed: Option<u64>,
    clock: Instant,
    history: Vec<HistoryPoint>,
}

/// What is known of a band.
#[derive(Clone, Default)]
struct Band {
    /// Was it ever worked on?
    begun: bool,
    /// Has neither it nor a neighbour changed since it was measured?
    settled: bool,
    /// Has it or the band before it changed since the seam between them was worked on?
    seam_changed: bool,
    /// When last measured, plane by plane: sums over its own samples and codes.
    planes: Vec<Measurement>,
    excess: Vec<Excess>,
}

/// What is worked on.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Band(usize),
    /// The rows around where this band begins.
    SeamBefore(usize),
}

impl Band {
    fn objective(&self, penalty: f64) -> f64 {
        self.planes.iter().map(|m| 0.5 * m.residual_energy + penalty * m.weighted_l1).sum()
    }

    fn nonzeros(&self) -> usize {
        self.planes.iter().map(|m| m.nonzeros).sum()
    }
}

impl<T: Real> Work<'_, T> {
    /// Measures the smallest penalty with an all-zero answer.
    fn find_penalty(&mut self) -> Result<()> {
        for band in 0..self.bands.len() {
            let window = self.source.window(self.source.cut.positions(band), true)?;
            let mut session = self.source.open(self.engine, &self.params, &window)?;
            let zero = session.measure(Measure::Largest);
            self.penalty_max.resize(zero.len(), 0.0);
            for (most, m) in self.penalty_max.iter_mut().zip(&zero) {
                if !(m.largest_correlation.is_finite() && m.residual_energy.is_finite()) {
                    return Err(super::params::too_large::<T>());
                }
                *most = most.max(m.largest_correlation);
            }
        }
        self.penalty = self.params.penalty.absolute::<T>(self.penalty_max.iter().copied().fold(0.0, f64::max))?;
        Ok(())
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<Report> {
        let mut shares = 1.0;
        let mut halvings = 0;
        for _ in 0..MOST_PASSES {
            let mut worst = Status::Converged;
            for band in 0..self.bands.len() {
                if self.bands[band].settled {
                    continue;
                }
                let mut done = self.solve(Place::Band(band), shares, observer)?;
                if band > 0 && self.bands[band].seam_changed && matches!(done, Done::With(status) if !is_broken_off(status)) {
                    done = done.and(self.solve(Place::SeamBefore(band), shares, observer)?);
                }
                match done {
                    Done::With(status) if is_broken_off(status) => return self.finish(status),
                    Done::With(status) => worst = worst.max(status),
                    Done::Needs(bytes) => {
                        self.halve_bands(bytes)?;
                        break;
                    }
                }
            }
            if self.bands.iter().all(|band| band.settled) {
                let total = self.certificate()?;
                let relative_gap = Some(total.relative_gap());
                let (objective, nonzeros) = (total.objective, total.nonzeros);
                self.history.push(HistoryPoint {
                    seconds: self.clock.elapsed().as_secs_f64(),
                    objective,
                    nonzeros,
                    relative_gap,
                });
                if total.relative_gap() <= self.asked.tolerance {
                    return Ok(self.report(Status::Converged, total));
                }
                if worst != Status::Converged || halvings == HALVINGS {
                    return Ok(self.report(worst.max(Status::Stalled), total));
                }
                halvings += 1;
                shares *= 0.5;
                self.bands.iter_mut().for_each(|band| band.settled = false);
            }
        }
        self.finish(Status::Stalled)
    }

    /// Works on a band or seam until its gap is small; what is near must be looked at again if it changed.
    fn solve(&mut self, place: Place, shares: f64, observer: &mut dyn Observer) -> Result<Done> {
        let cut = self.source.cut;
        let (positions, cold) = match place {
            Place::Band(band) => (cut.positions(band), !self.bands[band].begun),
            Place::SeamBefore(band) => (cut.seam(band - 1), false),
        };
        let window = self.source.window(positions.clone(), false)?;
        let mut session = self.source.open(self.engine, &self.params, &window)?;
        let wanted = Arc::new(AtomicU64::new(0));
        if let Some(allowed) = self.allowed {
            session.keep_within(allowed, Arc::clone(&wanted));
        }
        let start = (!cold).then(|| self.source.codes(&window)).transpose()?;
        let asked = self.asked;
        let others = || self.bands.iter().enumerate().filter(|(i, _)| place != Place::Band(*i)).map(|(_, band)| band);
        let objective = others().map(|band| band.objective(self.penalty)).sum::<f64>();
        let nonzeros = others().map(Band::nonzeros).sum::<usize>();
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
        let (mut session, measured) = (solver.session, solver.last);
        if let Place::Band(band) = place {
            self.note(band, &window, &mut *session, &measured);
            self.bands[band].begun = true;
            self.bands[band].settled = !is_broken_off(status);
        }
        if changed {
            let state = session.fetch();
            drop((session, window));
            self.source.keep(positions, state)?;
            self.unsettle(place);
        }
        if let Place::SeamBefore(band) = place {
            self.bands[band].seam_changed = false;
        }
        Ok(Done::With(status))
    }

    /// Says what must be looked at again because something changed here.
    fn unsettle(&mut self, place: Place) {
        match place {
            Place::Band(band) => {
                for neighbour in [band.wrapping_sub(1), band + 1] {
                    if let Some(neighbour) = self.bands.get_mut(neighbour) {
                        neighbour.settled = false;
                    }
                }
                for after in [band, band + 1] {
                    if let Some(after) = self.bands.get_mut(after) {
                        after.seam_changed = true;
                    }
                }
            }
            // A seam may be as wide as its bands, and then their other neighbours feel it too.
            Place::SeamBefore(band) => {
                for near in band.saturating_sub(2)..(band + 2).min(self.bands.len()) {
                    self.bands[near].settled = false;
                }
            }
        }
    }

    /// Measures a band as it stands.
    fn measure(&mut self, band: usize) -> Result<()> {
        let (window, mut session) = self.reopen(band)?;
        let measured = session.measure(Measure::Certificate { penalty: self.penalty, slack: 0.0 });
        self.note(band, &window, &mut *session, &measured);
        self.bands[band].settled = true;
        Ok(())
    }

    /// A session of a band with its codes as they stand.
    fn reopen(&mut self, band: usize) -> Result<(Window<T>, Box<dyn Session<T>>)> {
        let window = self.source.window(self.source.cut.positions(band), false)?;
        let mut session = self.source.open(self.engine, &self.params, &window)?;
        session.restore(&self.source.codes(&window)?);
        session.refresh();
        Ok((window, session))
    }

    /// Takes down what was measured of a band.
    fn note(&mut self, band: usize, window: &Window<T>, session: &mut dyn Session<T>, measured: &[Measurement]) {
        let ones = ScaleField::ones();
        let origin = self.source.cut.origin(&window.positions);
        let own = measured.iter().enumerate().map(|(plane, &m)| {
            let sums = window.sums(session, plane, Scaling { field: &ones, origin });
            Measurement { residual_energy: sums.energy, target_dot_residual: sums.dot, ..m }
        });
        let planes: Vec<Measurement> = own.collect();
        let mut excess = Vec::new();
        if let Some(lattice) = self.lattice {
            let rows = window.positions.clone();
            excess = vec![Excess::of_rows(lattice, self.source.dictionary.extent(), rows); planes.len()];
            scaled(session).exceeding(self.penalty, &mut |plane, found| excess[plane].note(origin, found));
        }
        let band = &mut self.bands[band];
        (band.planes, band.excess) = (planes, excess);
    }
}
