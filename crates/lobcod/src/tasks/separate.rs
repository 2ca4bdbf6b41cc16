//! Separation: a smooth layer and a layer of texture, found together.

use crate::base::{Base, smooth_memory, smooth_on};
use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine, Measurement};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::memory;
use crate::needles::Needles;
use crate::observe::Observer;
use crate::pursuit::{BandedShape, Observed, Penalty, PursuitParams, Start};
use crate::real::Real;
use crate::report::{Certificate, HistoryPoint, Report, Status};
use crate::signal::Signal;
use std::time::{Duration, Instant};

/// Share of the joint gap as it stands that a pursuit is run to: the base moves afterwards, so more would be wasted.
const INNER_SHARE: f64 = 0.5;
/// Signals held at once beside a pursuit: layers of this turn and the last, and what is left to code.
const PLANES: usize = 7;

/// Parameters of a separation.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | required | > 0 | weight of the l1 norm of the codes |
/// | `mu` | 5 | > 0 | weight of the squared gradient of the smooth layer |
/// | `tolerance` | 1e-2 | >= 0 | relative joint duality gap at which the layers count as converged |
/// | `alternations` | 4 | >= 0 | times pursuit and smooth layer take turns; 0: the smooth layer of the signal itself is kept |
/// | `time_limit` | none | | wall time allowed |
/// | `threads` | 0 = all cores | | worker threads |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct SeparateParams {
    /// Weight of the l1 norm.
    pub penalty: Penalty,
    /// Weight of the squared gradient.
    pub mu: f64,
    /// Relative joint duality gap to reach.
    pub tolerance: f64,
    /// Times pursuit and smooth layer take turns; 0: the smooth layer of the signal itself is kept.
    pub alternations: usize,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Bytes the pursuit may use.
    pub max_memory: Option<u64>,
}

impl SeparateParams {
    /// Defaults, with the penalty given.
    pub fn new(penalty: Penalty) -> Self {
        Self { penalty, mu: Base::DEFAULT_MU, tolerance: 1e-2, alternations: 4, time_limit: None, threads: 0, max_memory: None }
    }

    /// The parameters, if each lies in its range.
    pub fn check(self) -> Result<Separator> {
        if !(self.mu > 0.0 && self.mu.is_finite()) {
            return Err(Error::parameter("the weight of the smooth layer", self.mu, "a number above 0"));
        }
        self.pursuit(self.penalty, self.tolerance).check()?;
        Ok(Separator { params: self })
    }

    fn pursuit(&self, penalty: Penalty, tolerance: f64) -> PursuitParams {
        PursuitParams { tolerance, threads: self.threads, ..PursuitParams::new(penalty) }
    }
}

/// A separation whose parameters were checked.
///
/// Solves, over the smooth layer `B` and the needles `a_i` together (eq. 16 to 21 of the paper),
///
/// ```text
/// min   1/2 || Y - B - sum_i P_i^T D a_i ||^2  +  penalty sum_i |a_i|_1  +  mu/2 || grad B ||^2
/// ```
///
/// by turns: a pursuit with `B` held still, warm-started, then `B = (I + mu L)^-1 (Y - sum P_i^T D a_i)`, solved exactly (see
/// [`crate::base::smooth`]). A turn is a gradient step of what remains as a function of `B`, in the metric `I + mu L`; each starts
/// from a base carried on along its last move, which is Nesterov's way to make such steps count. With `B` just solved and `r` what is left, the joint dual at `s r` is
/// `s <r, Y> - s^2/2 ||r||^2 - s^2 mu/2 ||grad B||^2`, `s = min(1, penalty / max |D^T P_i r|)`; the reported gap is that of the
/// layers as they are returned.
///
/// Without alternations `B = (I + mu L)^-1 Y` is kept, one pursuit is run to the tolerance, and objective and gap are the pursuit's: those
/// of `Y - B`, without the term of `B`.
#[derive(Clone, Debug, PartialEq)]
pub struct Separator {
    params: SeparateParams,
}

/// The layers of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers<T> {
    /// The smooth layer `B`.
    pub base: Signal<T>,
    /// The texture `sum P_i^T D a_i`.
    pub texture: Signal<T>,
    /// The codes of the texture.
    pub needles: Needles<T>,
    /// Joint objective and certificate, history.
    pub report: Report,
    /// Times pursuit and smooth layer took turns.
    pub alternations: usize,
}

impl Separator {
    /// The parameters.
    pub fn params(&self) -> &SeparateParams {
        &self.params
    }

    /// Bytes that separating a signal of this shape is expected to need on the CPU beside the signal itself.
    pub fn estimate_memory<T: Real>(&self, extent: Extent, channels: usize, dictionary: &Dictionary<T>) -> Result<u64> {
        let shape = BandedShape { extent, channels, masked: false };
        let pursuit = self.params.pursuit(self.params.penalty, self.params.tolerance).check()?;
        let pursuit = pursuit.whole_memory(&CpuEngine::new(self.params.threads)?, shape, dictionary)?;
        Ok(pursuit.max(smooth_memory(extent)) + (PLANES * channels * extent.volume() * size_of::<T>()) as u64)
    }

    /// Separates a signal.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Penalty, Signal, tasks::separate::SeparateParams};
    /// let scene = |i: usize| (i / 32) as f32 + if i % 3 == 0 { 8.0 } else { 0.0 };
    /// let picture = Signal::from_planar(Extent::new(&[32, 32])?, 1, (0..1024).map(scene).collect())?;
    /// let layers = SeparateParams::new(Penalty::Absolute(1.0)).check()?.run(&picture, &Dictionary::natural(), &mut ())?;
    /// println!("{} non-zeros, joint gap {:.1e}", layers.needles.nonzeros(), layers.report.total.relative_gap());
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(&self, signal: &Signal<T>, dictionary: &Dictionary<T>, observer: &mut dyn Observer) -> Result<Layers<T>> {
        self.run_on(&CpuEngine::new(self.params.threads)?, signal, dictionary, observer)
    }

    /// Separates a signal on a given engine.
    pub fn run_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
    ) -> Result<Layers<T>> {
        let clock = Instant::now();
        let SeparateParams { mu, tolerance, threads, max_memory, .. } = self.params;
        memory::check(self.estimate_memory(signal.extent(), signal.channels(), dictionary)?, max_memory)?;
        let mut base = smooth_on(signal, None, mu, threads)?;
        if self.params.alternations == 0 {
            return self.texture_on(engine, base, signal, dictionary, observer, &clock);
        }
        let mut before = base.clone();
        let (mut gap, mut objective, mut run): (f64, f64, usize) = (1.0, f64::INFINITY, 0);
        let mut start = Start::Zero;
        let mut penalty = self.params.penalty;
        let mut whole: Option<Report> = None;
        for turn in 1.. {
            // At the first turn there is no move yet to carry on along; a move that raised the objective is not carried on.
            let momentum = T::from_f64(run as f64 / (run + 3) as f64);
            let ahead = base.data().iter().zip(before.data()).map(|(&b, &a)| b + momentum * (b - a)).collect();
            before = std::mem::replace(&mut base, Signal::from_planar(signal.extent(), signal.channels(), ahead)?);
            let observed = [Observed { start, ..signal.minus(&base)?.into() }];
            let mut params = self.params.pursuit(penalty, INNER_SHARE * gap.max(tolerance));
            params.time_limit = self.time_left(&clock);
            let answer = params.clone().check()?.run_on(engine, &observed, dictionary, observer)?;
            let needles = answer.needles.into_iter().next().expect("one signal has one entry");
            let roughness = mu * square_gradient(&base) / 2.0;
            drop(observed);

            let texture = needles.synthesise(dictionary)?;
            base = smooth_on(&signal.minus(&texture)?, None, mu, threads)?;
            penalty = Penalty::Absolute(answer.report.penalty);
            let observed = [Observed { start: Start::Needles(needles), ..signal.minus(&base)?.into() }];
            let measured =
                params.check()?.measure_start(engine, &observed, dictionary, answer.report.penalty, observer.stop())?;
            let joint = self.certificate(&measured, &base, dictionary.channels(), &answer.report);
            run = if joint.objective < objective { run + 1 } else { 0 };
            (gap, objective) = (joint.relative_gap(), joint.objective);
            let report = gather(whole.take(), answer.report, roughness, joint, &clock);

            let status = match report.status {
                Status::Interrupted | Status::TimeLimit => Some(report.status),
                _ if gap <= tolerance => Some(Status::Converged),
                _ if turn == self.params.alternations => Some(Status::MaxSweeps),
                _ => None,
            };
            let [Observed { start: Start::Needles(needles), .. }] = observed else { unreachable!("started from needles") };
            if let Some(status) = status {
                return Ok(Layers { base, texture, needles, report: Report { status, ..report }, alternations: turn });
            }
            whole = Some(report);
            start = Start::Needles(needles);
        }
        unreachable!("the number of alternations is at least 1 and finite")
    }

    fn time_left(&self, clock: &Instant) -> Option<Duration> {
        self.params.time_limit.map(|limit| limit.saturating_sub(clock.elapsed()))
    }

    /// One pursuit on a base that is kept.
    fn texture_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        base: Signal<T>,
        signal: &Signal<T>,
        dictionary: &Dictionary<T>,
        observer: &mut dyn Observer,
        clock: &Instant,
    ) -> Result<Layers<T>> {
        let params = PursuitParams {
            time_limit: self.time_left(clock),
            ..self.params.pursuit(self.params.penalty, self.params.tolerance)
        };
        let answer = params.check()?.run_on(engine, &[signal.minus(&base)?.into()], dictionary, observer)?;
        let needles = answer.needles.into_iter().next().expect("one signal has one entry");
        let texture = needles.synthesise(dictionary)?;
        let report = Report { seconds: clock.elapsed().as_secs_f64(), ..answer.report };
        Ok(Layers { base, texture, needles, report, alternations: 0 })
    }

    /// The joint certificate, each plane with its own dual point; the base was just solved for the needles that were measured.
    fn certificate<T: Real>(&self, measured: &[Measurement], base: &Signal<T>, channels: usize, report: &Report) -> Certificate {
        let mut sum =
            Certificate { pixels: base.extent().volume(), penalty_max: report.total.penalty_max, ..Certificate::default() };
        for (plane, m) in measured.iter().enumerate() {
            let own = if channels == 1 { plane..plane + 1 } else { 0..base.channels() };
            let rough: f64 = self.params.mu * own.map(|c| square_gradient_of(base, c)).sum::<f64>();
            let s = if m.largest_correlation > report.penalty { report.penalty / m.largest_correlation } else { 1.0 };
            let data_term = 0.5 * m.residual_energy;
            let objective = data_term + report.penalty * m.weighted_l1 + 0.5 * rough;
            // The base solves r = mu L B, so <r, Y> = <r, Y - B> + mu ||grad B||^2.
            let dual = s * (m.target_dot_residual + rough) - 0.5 * s * s * (m.residual_energy + rough);
            sum.objective += objective;
            sum.data_term += data_term;
            sum.gap += (objective - dual).max(0.0);
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
            sum += slab.iter().zip(&slab[stride..]).map(|(a, b)| (b.to_f64() - a.to_f64()).powi(2)).sum::<f64>();
        }
        stride *= size[axis];
    }
    sum
}

/// The report of all turns so far: sweeps and seconds added up, the history in terms of the joint objective.
fn gather(earlier: Option<Report>, turn: Report, roughness: f64, joint: Certificate, clock: &Instant) -> Report {
    let before = earlier.as_ref().map_or(0.0, |r| r.seconds);
    let mut history = earlier.as_ref().map_or(Vec::new(), |r| r.history.clone());
    history.extend(turn.history.iter().map(|h| HistoryPoint {
        seconds: before + h.seconds,
        objective: h.objective + roughness,
        relative_gap: None,
        ..*h
    }));
    let seconds = clock.elapsed().as_secs_f64();
    let relative_gap = Some(joint.relative_gap());
    history.push(HistoryPoint { seconds, objective: joint.objective, nonzeros: joint.nonzeros, relative_gap });
    Report {
        total: joint,
        signals: vec![joint],
        discovery_sweeps: turn.discovery_sweeps + earlier.as_ref().map_or(0, |r| r.discovery_sweeps),
        support_sweeps: turn.support_sweeps + earlier.as_ref().map_or(0, |r| r.support_sweeps),
        working_memory_bytes: turn.working_memory_bytes.max(earlier.as_ref().map_or(0, |r| r.working_memory_bytes)),
        seconds,
        history,
        ..turn
    }
}
