//! Pursuits one after the other, reported as one.

use super::{Answer, Observed, Pursuit, PursuitParams, Start};
use crate::dictionary::Dictionary;
use crate::engine::{Engine, Measurement};
use crate::error::Result;
use crate::needles::Needles;
use crate::observe::Observer;
use crate::real::Real;
use crate::run::{Limits, Run};

/// A sequence of pursuits under the limits of one run.
pub struct Sequence<'a, 'o, T> {
    engine: &'a dyn Engine<T>,
    run: Run<'o>,
    /// Fraction of the work that is left, for progress reports.
    left: f64,
    /// Whether optimal codes of these problems overlap much, whatever their parameters.
    pub overlapping: bool,
}

impl<'a, 'o, T: Real> Sequence<'a, 'o, T> {
    pub fn begin(
        params: &PursuitParams,
        engine: &'a dyn Engine<T>,
        observer: &'o mut dyn Observer,
    ) -> Self {
        let limits = Limits { time: params.time_limit, memory: None };
        Self {
            engine,
            run: Run::begin(limits, engine.agreement(), observer),
            left: 1.0,
            overlapping: false,
        }
    }

    /// Solves the next problem, which is about this fraction of the work that is left. Its report
    /// has the sweeps, time and memory of all problems so far.
    pub fn solve(
        &mut self,
        params: PursuitParams,
        fraction: f64,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
    ) -> Result<(Answer<T>, Pursuit)> {
        let Self { engine, run, left, overlapping } = self;
        let mut pursuit = params.with(|p| p.time_limit = run.time_left()).check()?;
        pursuit.overlapping |= *overlapping;
        run.begin_part(1.0 - *left..1.0 - (1.0 - fraction) * *left);
        *left *= 1.0 - fraction;
        let mut answer = pursuit.run(*engine, signals, dictionary, &mut run.part())?;
        let report = &mut answer.report;
        run.progress.discovery_sweeps += report.discovery_sweeps;
        run.progress.support_sweeps += report.support_sweeps;
        run.note_memory(report.working_memory_bytes);
        report.discovery_sweeps = run.progress.discovery_sweeps;
        report.support_sweeps = run.progress.support_sweeps;
        report.working_memory_bytes = run.peak_memory();
        report.seconds = run.seconds();
        Ok((answer, pursuit))
    }

    /// Certificate of the start needles of the signals, per plane, also in a run that is stopped.
    pub fn measure(
        &self,
        pursuit: &Pursuit,
        signals: &[Observed<T>],
        dictionary: &Dictionary<T>,
        penalty: f64,
    ) -> Result<Vec<Measurement>> {
        let context = self.run.last_measurement();
        pursuit.measure_start(self.engine, signals, dictionary, penalty, &context)
    }
}

/// Makes needles the start of their signals.
pub fn start_from<T: Real>(signals: &mut [Observed<T>], needles: &[Needles<T>]) {
    let starts = signals.iter_mut().zip(needles);
    starts.for_each(|(observed, needles)| observed.start = Start::Needles(needles.clone()));
}
