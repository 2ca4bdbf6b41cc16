//! Slice-based dictionary learning: ADMM on the slices of the signals.

use crate::geometry::Target;
use crate::slices::Slices;
use crate::update::Update;
use lobcod::run::Clock;
use lobcod::{Border, Code, Dictionary, Error, Needles, Observed, Result};
use std::time::Duration;

/// Slice-based pursuit and dictionary learning (Papyan, Romano, Sulam, Elad 2017; eq. 5 and 6 of
/// the paper).
///
/// ```text
/// min   1/2 || A (Y - sum_i P_i^T s_i) ||^2 + sum_i ( penalty |a_i|_1 + rho/2 || s_i - D a_i + u_i ||^2 )
/// ```
///
/// by alternating needles `a_i` by LARS, slices `s_i` by least squares, dual variables
/// `u_i += s_i - D a_i`; if the dictionary is learnt, it is updated between needles and slices.
/// Memory: two numbers per sample of every patch, `2 n` per position.
#[derive(Clone, Debug, PartialEq)]
pub struct Sbdl {
    /// Weight of the l1 norm.
    pub penalty: f64,
    /// Weight of the constraint `s_i = D a_i`: affects the speed of convergence, not the limit.
    pub rho: f64,
    /// Border condition; periodic is an error.
    pub border: Border,
    /// Number of iterations.
    pub iterations: usize,
    /// Iterations between two measurements of the objective, whose time is not counted.
    pub measure_every: usize,
    /// Maximum wall time.
    pub time_limit: Option<Duration>,
    /// How the dictionary is learnt; `None`: it is fixed.
    pub update: Option<Update>,
    /// Iterations before the dictionary is first updated: until then, slices of missing samples
    /// are not worth learning from.
    pub warm_up: usize,
    /// Worker threads for the needles.
    pub threads: usize,
}

/// A point of the objective over time.
#[derive(Clone, Debug)]
pub struct SbdlPoint {
    /// Seconds so far.
    pub seconds: f64,
    /// Iterations so far.
    pub iteration: usize,
    /// Objective of eq. 4 at the needles, recomputed from them and the dictionary.
    pub objective: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// The current dictionary.
    pub dictionary: Dictionary<f64>,
}

/// Needles, dictionary and history.
#[derive(Clone, Debug)]
pub struct SbdlAnswer {
    /// Needles of every signal.
    pub needles: Vec<Needles<f64>>,
    /// The dictionary, as given or learnt.
    pub dictionary: Dictionary<f64>,
    /// Objective over time; the last point is that of the answer.
    pub history: Vec<SbdlPoint>,
}

impl Sbdl {
    /// Default parameters with this penalty: 100 iterations, `rho` 1, free border, fixed
    /// dictionary, no warm-up, one thread.
    pub fn new(penalty: f64) -> Self {
        Self {
            penalty,
            rho: 1.0,
            border: Border::Free,
            iterations: 100,
            measure_every: 10,
            time_limit: None,
            update: None,
            warm_up: 0,
            threads: 1,
        }
    }

    /// Codes the signals, and learns the dictionary if `update` is set.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Signal};
    /// use lobcod_baselines::Sbdl;
    /// let signal = Signal::from_planar(
    ///     Extent::new(&[40])?,
    ///     1,
    ///     (0..40).map(|t| (t as f64 * 0.5).sin()).collect(),
    /// )?;
    /// let dictionary = Dictionary::random(Extent::new(&[6])?, 1, 8, 0)?;
    /// let answer = Sbdl::new(0.1).run(&[signal.into()], &dictionary)?;
    /// assert!(answer.history.last().unwrap().objective < answer.history[0].objective * 1.01);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run(&self, signals: &[Observed<f64>], first: &Dictionary<f64>) -> Result<SbdlAnswer> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(self.penalty)
            || !positive(self.rho)
            || self.iterations == 0
            || self.measure_every == 0
        {
            return Err(Error::Data(
                "penalty, rho, iterations and measure_every must be above 0".into(),
            ));
        }
        let targets = signals
            .iter()
            .map(|signal| Target::new(signal, self.border, first))
            .collect::<Result<Vec<_>>>()?;
        let mut dictionary = first.clone();
        let mut all: Vec<Slices> =
            targets.into_iter().map(|target| Slices::new(target, first)).collect();
        let mut history = Vec::new();
        let mut seconds = 0.0;
        for iteration in 1..=self.iterations {
            let clock = Clock::start();
            let gram = dictionary.gram();
            for slices in &mut all {
                slices.code(&dictionary, &gram, self.penalty / self.rho, self.threads);
            }
            let late = self.time_limit.is_some_and(|limit| {
                seconds + clock.elapsed().as_secs_f64() >= limit.as_secs_f64()
            });
            let last = late || iteration == self.iterations;
            // Needles and dictionary of the last iteration already belong together.
            if let (Some(update), false) = (self.update, last || iteration <= self.warm_up) {
                dictionary = update.apply(&mut all, &dictionary)?;
            }
            seconds += clock.elapsed().as_secs_f64();
            if last || iteration % self.measure_every == 0 || iteration == 1 {
                history.push(self.measure(&all, &dictionary, iteration, seconds));
            }
            if last {
                break;
            }
            let clock = Clock::start();
            all.iter_mut().for_each(|slices| slices.fit(&dictionary, self.rho));
            seconds += clock.elapsed().as_secs_f64();
        }
        let needles =
            signals.iter().zip(&all).map(|(signal, slices)| self.needles(signal, slices)).collect();
        Ok(SbdlAnswer { needles, dictionary, history })
    }

    fn measure(
        &self,
        all: &[Slices],
        dictionary: &Dictionary<f64>,
        iteration: usize,
        seconds: f64,
    ) -> SbdlPoint {
        let mut point = SbdlPoint {
            seconds,
            iteration,
            objective: 0.0,
            nonzeros: 0,
            dictionary: dictionary.clone(),
        };
        for slices in all {
            let (data_term, norm, nonzeros) = slices.measure(dictionary);
            point.objective += data_term + self.penalty * norm;
            point.nonzeros += nonzeros;
        }
        point
    }

    fn needles(&self, signal: &Observed<f64>, slices: &Slices) -> Needles<f64> {
        let codes = slices.needles.iter().enumerate().flat_map(|(i, needle)| {
            let position = slices.target.geometry.in_signal(i);
            needle.iter().map(move |&(k, value)| Code {
                position,
                atom: k as u32,
                channel: 0,
                value,
            })
        });
        Needles::new(signal.signal.extent(), 1, self.border, codes.collect())
    }
}
