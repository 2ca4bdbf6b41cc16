//! Separation into a smooth layer and a texture layer, jointly optimised.

use lobcod::Result;
use lobcod::bands::BandedShape;
use lobcod::base::{Base, smooth_memory, smooth_on};
use lobcod::engine::{Engine, Measurement};
use lobcod::error::check_positive;
use lobcod::memory;
use lobcod::pursuit::{HistoryPoint, Start};
use lobcod::run::{Limits, Run};
use lobcod::{
    Certificate, Dictionary, Extent, Needles, Observed, Observer, Penalty, PursuitParams, Real,
    Report, Signal, Status,
};
use std::time::Duration;

/// Fraction of the joint gap at which a pursuit ends; the base is updated afterwards.
const INNER_FRACTION: f64 = 0.5;
/// Signals in memory besides a pursuit.
const PLANES: usize = 7;

/// Parameters of a separation.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm of the codes |
/// | `mu` | 5 | > 0 | weight of the squared gradient of the smooth layer |
/// | `tolerance` | 1e-2 | >= 0 | target for the relative joint duality gap |
/// | `alternations` | 4 | >= 0 | alternations of pursuit and smooth layer; 0: the smooth layer of the signal itself is kept |
/// | `time_limit` | none | | maximum wall time |
/// | `max_memory` | none | | maximum working memory in bytes, not counting inputs |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SeparateParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Weight of the squared gradient.
    pub mu: f64,
    /// Target for the relative joint duality gap.
    pub tolerance: f64,
    /// Alternations of pursuit and smooth layer; 0: the smooth layer of the signal itself is kept.
    pub alternations: usize,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// Maximum memory of the pursuit in bytes.
    pub max_memory: Option<u64>,
}

impl SeparateParams {
    /// These parameters with some of them changed.
    ///
    /// ```
    /// use lobcod::Penalty;
    /// use lobcod_tasks::separate::SeparateParams;
    /// let separator = SeparateParams::new(Penalty::Relative(0.1)).with(|p| p.mu = 2.0).check()?;
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Default parameters with this penalty.
    pub fn new(penalty: Penalty) -> Self {
        Self {
            penalty,
            mu: Base::DEFAULT_MU,
            tolerance: 1e-2,
            alternations: 4,
            time_limit: None,
            max_memory: None,
        }
    }

    /// Validates the parameters.
    pub fn check(self) -> Result<Separator> {
        check_positive("the weight of the smooth layer", self.mu)?;
        self.pursuit(self.penalty, self.tolerance).check()?;
        Ok(Separator { params: self })
    }

    fn pursuit(&self, penalty: Penalty, tolerance: f64) -> PursuitParams {
        PursuitParams::new(penalty).with(|p| p.tolerance = tolerance)
    }
}

/// A separation with validated parameters.
///
/// Solves, jointly over the smooth layer `B` and the needles `a_i` (eq. 16 to 21 of the paper),
///
/// ```text
/// min   1/2 || Y - B - sum_i P_i^T D a_i ||^2  +  penalty sum_i |a_i|_1  +  mu/2 || grad B ||^2
/// ```
///
/// by alternating a warm-started pursuit with `B` fixed and `B = (I + mu L)^-1 (Y - sum P_i^T D
/// a_i)`, solved exactly (see [`lobcod::base::smooth`]). An alternation is a gradient step on the
/// objective as a function of `B`, in the metric `I + mu L`; each starts from a base extrapolated
/// along its last change (Nesterov acceleration). With `B` just solved and `r` the residual, the
/// joint dual at `s r` is `s <r, Y> - s^2/2 ||r||^2 - s^2 mu/2 ||grad B||^2`, `s =
/// min(1, penalty / max |D^T P_i r|)`; the reported gap is that of the returned layers.
///
/// Without alternations `B = (I + mu L)^-1 Y` is kept, one pursuit is run to the tolerance, and
/// objective and gap are the pursuit's: those of `Y - B`, without the term of `B`.
#[derive(Clone, Debug, PartialEq)]
pub struct Separator {
    params: SeparateParams,
}

/// The layers of a signal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Layers<T> {
    /// The smooth layer `B`.
    pub base: Signal<T>,
    /// The texture `sum P_i^T D a_i`.
    pub texture: Signal<T>,
    /// The codes of the texture.
    pub needles: Needles<T>,
    /// Joint objective and certificate, history.
    pub report: Report,
    /// Number of alternations of pursuit and smooth layer.
    pub alternations: usize,
}

impl Separator {
    /// The parameters.
    pub fn params(&self) -> &SeparateParams {
        &self.params
    }

    /// Estimates the memory of separating a signal of this shape in bytes, excluding the signal.
    pub fn estimate_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        extent: Extent,
        channels: usize,
        dictionary: &Dictionary<T>,
    ) -> Result<u64> {
        let shape = BandedShape { extent, channels, masked: false };
        let pursuit = self.params.pursuit(self.params.penalty, self.params.tolerance).check()?;
        let pursuit = pursuit.whole_memory(engine, shape, dictionary)?;
        Ok(pursuit.max(smooth_memory(extent))
            + (PLANES * channels * extent.volume() * size_of::<T>()) as u64)
    }

    /// Separates a signal.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, Penalty, Signal};
    /// use lobcod_tasks::separate::SeparateParams;
    /// let scene = |i: usize| (i / 32) as f32 + if i % 3 == 0 { 8.0 } else { 0.0 };
    /// let image =
    ///     Signal::from_planar(Extent::new(&[32, 32])?, 1, (0..1024).map(scene).collect())?;
    /// let layers = SeparateParams::new(Penalty::Absolute(1.0)).check()?.run(
    ///     &CpuEngine::new(0)?,
    ///     &image,
    ///     &Dictionary::natural(),
    ///     &mut (),
    /// )?;
    /// println!(
    ///     "{} non-zeros, joint gap {:.1e}",
    ///     layers.needles.nonzeros(),
    ///     layers.report.total.relative_gap()
    /// );
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Layers<T>> {
        let limits = Limits { time: self.params.time_limit, memory: None };
        let mut run = Run::begin(limits, engine.agreement(), observer);
        let SeparateParams { mu, tolerance, max_memory, .. } = self.params;
        let threads = engine.threads();
        memory::check(
            self.estimate_memory(engine, signal.extent(), signal.channels(), dictionary)?,
            max_memory,
        )?;
        let mut base = smooth_on(signal, None, mu, threads)?;
        if self.params.alternations == 0 {
            return self.texture_on(engine, base, signal, dictionary, &mut run);
        }
        let mut before = base.clone();
        let (mut gap, mut objective): (f64, f64) = (1.0, f64::INFINITY);
        // Alternations since an update raised the objective.
        let mut streak = 0;
        let mut start = Start::Zero;
        let mut penalty = self.params.penalty;
        let mut whole: Option<Report> = None;
        for turn in 1.. {
            let turns = self.params.alternations as f64;
            run.begin_part((turn - 1) as f64 / turns..turn as f64 / turns);
            // No momentum at the first turn, nor after a move that raised the objective.
            let momentum = T::from_f64(streak as f64 / (streak + 3) as f64);
            let ahead = base
                .data()
                .iter()
                .zip(before.data())
                .map(|(&b, &a)| b + momentum * (b - a))
                .collect();
            before = std::mem::replace(
                &mut base,
                Signal::from_planar(signal.extent(), signal.channels(), ahead)?,
            );
            let observed = [Observed { start, ..signal.minus(&base)?.into() }];
            let mut params = self.params.pursuit(penalty, INNER_FRACTION * gap.max(tolerance));
            params.time_limit = run.time_left();
            let answer =
                params.clone().check()?.run(engine, &observed, dictionary, &mut run.part())?;
            let needles = answer.needles.into_iter().next().expect("one signal has one entry");
            let roughness = mu * square_gradient(&base) / 2.0;
            drop(observed);

            let texture = needles.synthesise(dictionary)?;
            base = smooth_on(&signal.minus(&texture)?, None, mu, threads)?;
            penalty = Penalty::Absolute(answer.report.penalty);
            let observed =
                [Observed { start: Start::Needles(needles), ..signal.minus(&base)?.into() }];
            let measured = params.check()?.measure_start(
                engine,
                &observed,
                dictionary,
                answer.report.penalty,
                &run.last_measurement(),
            )?;
            let joint = self.certificate(&measured, &base, dictionary.channels(), &answer.report);
            streak = if joint.objective < objective { streak + 1 } else { 0 };
            (gap, objective) = (joint.relative_gap(), joint.objective);
            let mut report = gather(whole.take(), answer.report, roughness, joint, run.seconds());

            let status = match report.status {
                Status::Interrupted | Status::TimeLimit => Some(report.status),
                _ if gap <= tolerance => Some(Status::Converged),
                _ if turn == self.params.alternations => Some(Status::Completed),
                _ => None,
            };
            let [Observed { start: Start::Needles(needles), .. }] = observed else {
                unreachable!("started from needles")
            };
            if let Some(status) = status {
                report.status = status;
                return Ok(Layers { base, texture, needles, report, alternations: turn });
            }
            whole = Some(report);
            start = Start::Needles(needles);
        }
        unreachable!("the number of alternations is at least 1 and finite")
    }

    /// One pursuit with a fixed base.
    fn texture_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        base: Signal<T>,
        signal: &Signal<T>,
        dictionary: &Dictionary<T>,
        run: &mut Run,
    ) -> Result<Layers<T>> {
        let params = self
            .params
            .pursuit(self.params.penalty, self.params.tolerance)
            .with(|p| p.time_limit = run.time_left());
        let answer = params.check()?.run(
            engine,
            &[signal.minus(&base)?.into()],
            dictionary,
            &mut run.part(),
        )?;
        let needles = answer.needles.into_iter().next().expect("one signal has one entry");
        let texture = needles.synthesise(dictionary)?;
        let mut report = answer.report;
        report.seconds = run.seconds();
        Ok(Layers { base, texture, needles, report, alternations: 0 })
    }

    /// The joint certificate of needles and the base just solved for them, with a separate dual
    /// point for each plane.
    fn certificate<T: Real>(
        &self,
        measured: &[Measurement],
        base: &Signal<T>,
        channels: usize,
        report: &Report,
    ) -> Certificate {
        let mut sum = Certificate::default();
        sum.pixels = base.extent().volume();
        sum.penalty_max = report.total.penalty_max;
        for (plane, m) in measured.iter().enumerate() {
            let own = if channels == 1 { plane..plane + 1 } else { 0..base.channels() };
            let rough: f64 = self.params.mu * own.map(|c| square_gradient_of(base, c)).sum::<f64>();
            // The base is a quadratic term like that of the elastic net. It solves r = mu L B, so
            // <r, Y> = <r, Y - B> + mu ||grad B||^2.
            let mut joint = *m;
            joint.elastic_term += 0.5 * rough;
            joint.target_dot_residual += rough;
            let objective = joint.objective(report.penalty);
            let scale = (report.penalty / m.largest_correlation).min(1.0);
            sum.objective += objective;
            sum.data_term += joint.data_term();
            sum.gap += (objective - joint.dual(scale)).max(0.0);
            sum.nonzeros += m.nonzeros;
        }
        sum
    }
}

/// `||grad B||^2`, differences of neighbours along every axis.
pub(crate) fn square_gradient<T: Real>(layer: &Signal<T>) -> f64 {
    (0..layer.channels()).map(|c| square_gradient_of(layer, c)).sum()
}

fn square_gradient_of<T: Real>(layer: &Signal<T>, channel: usize) -> f64 {
    let (size, x) = (layer.extent().padded(), layer.channel(channel));
    let (mut sum, mut stride) = (0.0, 1);
    for axis in (0..3).rev() {
        for slab in x.chunks_exact(stride * size[axis]) {
            sum += slab
                .iter()
                .zip(&slab[stride..])
                .map(|(a, b)| (b.to_f64() - a.to_f64()).powi(2))
                .sum::<f64>();
        }
        stride *= size[axis];
    }
    sum
}

/// Merges the reports of all alternations so far, in terms of the joint objective.
fn gather(
    earlier: Option<Report>,
    mut turn: Report,
    roughness: f64,
    joint: Certificate,
    seconds: f64,
) -> Report {
    let mut history = Vec::new();
    let mut before = 0.0;
    if let Some(earlier) = earlier {
        turn.discovery_sweeps += earlier.discovery_sweeps;
        turn.support_sweeps += earlier.support_sweeps;
        turn.working_memory_bytes = turn.working_memory_bytes.max(earlier.working_memory_bytes);
        (history, before) = (earlier.history, earlier.seconds);
    }
    history.extend(turn.history.iter().map(|h| HistoryPoint {
        seconds: before + h.seconds,
        objective: h.objective + roughness,
        relative_gap: None,
        ..*h
    }));
    let relative_gap = Some(joint.relative_gap());
    history.push(HistoryPoint {
        seconds,
        objective: joint.objective,
        nonzeros: joint.nonzeros,
        relative_gap,
    });
    (turn.total, turn.signals, turn.seconds, turn.history) = (joint, vec![joint], seconds, history);
    turn
}
