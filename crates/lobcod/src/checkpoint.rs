//! Checkpoints: a pursuit or a learning between two passes, to be resumed to the same answer.
//!
//! An [`Observer`](crate::Observer) is offered a checkpoint after every pass.
//! [`Pursuit::resume`](crate::Pursuit::resume) and [`Learner::resume`](crate::Learner::resume)
//! continue from it and give the answer of the uninterrupted run, bit for bit. The crate
//! `lobcod-io` writes checkpoints to disk.

use crate::dictionary::Dictionary;
use crate::engine::State;
use crate::error::{Error, Result};
use crate::learn::{LearnParams, LearnPoint, Method, Step};
use crate::needles::Code;
use crate::pursuit::{Local, Observed, Penalty, PursuitParams, Schedule, Start};
use crate::real::Real;
use crate::report::HistoryPoint;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// A pursuit between two passes. Resuming is bit-identical. The residual is not included: every
/// pass recomputes it. `f64` represents codes of both precisions exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Hash of signals, masks, dictionary and parameters.
    pub fingerprint: u64,
    /// Seconds spent so far.
    pub seconds: f64,
    /// Sweeps over all needles so far.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes so far.
    pub support_sweeps: usize,
    /// State of the schedule.
    pub schedule: ScheduleState,
    /// Codes of every plane, and the changes pending around its tiles.
    pub state: State<f64>,
    /// Smooth layers that are estimated with the codes; empty if there are none.
    pub layers: Vec<f64>,
    /// Objective over time.
    pub history: Vec<HistoryPoint>,
}

/// State of the main loop between two passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleState {
    /// Penalty of the next pass.
    pub stage_penalty: f64,
    /// Changes that end the support sweeps of the next pass.
    pub tolerance: f64,
    /// Slack of the last certificate; `None`: the next pass visits all needles.
    pub candidate_slack: Option<f64>,
    /// Best gap and objective so far, and passes since either improved.
    pub best_gap: f64,
    /// See `best_gap`.
    pub best_objective: f64,
    /// See `best_gap`.
    pub idle_passes: usize,
}

/// Dictionary learning between two passes. Resuming is bit-identical.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnCheckpoint {
    /// Hash of signals, masks, initial dictionary and parameters.
    pub fingerprint: u64,
    /// Seconds spent so far.
    pub seconds: f64,
    /// Penalty in units of the signal.
    pub penalty: f64,
    /// Samples of all atoms.
    pub dictionary: Vec<f64>,
    /// Codes of every plane.
    pub codes: Vec<Vec<Code<f64>>>,
    /// One point per pass.
    pub history: Vec<LearnPoint>,
    /// State of the method, by name.
    pub learner: LearnerState,
}

/// Numbers by name.
pub type LearnerState = BTreeMap<String, Vec<f64>>;

/// Returns an error unless the checkpoint belongs to a problem with this fingerprint.
pub(crate) fn check_fingerprint(found: u64, wanted: u64) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Data(
        "the checkpoint belongs to other signals, another dictionary or other parameters; resume \
         with the original ones"
            .into(),
    ))
}

/// Error for a checkpoint whose parts contradict each other.
pub(crate) fn damaged() -> Error {
    Error::Data("the checkpoint is damaged: its parts contradict each other".into())
}

/// Hash of everything that affects the course of a pursuit.
pub(crate) fn fingerprint<T: Real>(
    params: &PursuitParams,
    signals: &[Observed<T>],
    dictionary: &Dictionary<T>,
) -> u64 {
    hash_problem(&pursuit_settings(params), signals, dictionary)
}

/// Hash of everything that affects the course of learning.
pub(crate) fn learning_fingerprint<T: Real>(
    params: &LearnParams,
    signals: &[Observed<T>],
    first: &Dictionary<T>,
) -> u64 {
    hash_problem(&learning_settings(params), signals, first)
}

/// Parameters as text: `name=value` for every value that is not the default.
///
/// The text is part of the checkpoint format. The default of a new parameter must not change the
/// behaviour; then older checkpoints keep their fingerprint.
#[derive(Default)]
struct Settings(String);

impl Settings {
    fn add(&mut self, name: &str, value: impl ToString, default: impl ToString) {
        let value = value.to_string();
        if value != default.to_string() {
            self.0 += &format!("{name}={value} ");
        }
    }
}

/// Parameters that affect the course of a pursuit. Limits do not.
fn pursuit_settings(params: &PursuitParams) -> String {
    let PursuitParams {
        penalty,
        border,
        tolerance,
        schedule,
        local,
        nonnegative,
        atom_weights,
        elastic,
        joint,
        smooth_layer,
        debias,
        loss,
        max_nonzeros,
        tile,
        seed,
        max_sweeps: _,
        time_limit: _,
        max_memory: _,
    } = params;
    let mut settings = Settings::default();
    settings.add("penalty", penalty_words(*penalty), "");
    settings.add("border", border, "free");
    settings.add("tolerance", tolerance, 1e-3);
    let schedule = match schedule {
        Schedule::Tiles => "tiles",
        Schedule::Layers => "layers",
        Schedule::Needles => "needles",
    };
    settings.add("schedule", schedule, "tiles");
    let local = match local {
        Local::Coordinate => "coordinate",
        Local::Lars => "lars",
    };
    settings.add("local", local, "coordinate");
    settings.add("nonnegative", nonnegative, false);
    settings.add(
        "atom_weights",
        atom_weights.as_ref().map_or(String::new(), |weights| list(weights)),
        "",
    );
    settings.add("elastic", elastic, 0);
    settings.add("joint", joint, 0);
    settings.add("smooth_layer", smooth_layer, 0);
    settings.add("debias", debias, false);
    settings.add("loss", loss, "squares");
    settings.add("max_nonzeros", max_nonzeros.unwrap_or(0), 0);
    settings.add("tile", tile.unwrap_or(0), 0);
    settings.add("seed", seed, 0);
    settings.0
}

/// Parameters that affect the course of learning up to the final pursuit. Limits do not.
fn learning_settings(params: &LearnParams) -> String {
    let LearnParams {
        penalty,
        border,
        nonnegative,
        smooth_layer,
        zero_mean,
        window,
        sizes,
        rank_one,
        frozen,
        grow,
        sort: _,
        method,
        rounds,
        stream_memory,
        seed,
        passes,
        target_objective: _,
        time_limit: _,
        tolerance: _,
        max_memory: _,
    } = params;
    let mut settings = Settings::default();
    settings.add("penalty", penalty_words(*penalty), "");
    settings.add("border", border, "free");
    let method = match method {
        Method::Atomwise => "atomwise".into(),
        Method::Batch => "batch".into(),
        Method::Stochastic { step, decay } => format!("stochastic,{},{decay}", step_words(*step)),
    };
    settings.add("nonnegative", nonnegative, false);
    settings.add("smooth_layer", smooth_layer, 0);
    settings.add("zero_mean", zero_mean, false);
    settings.add("window", window.map_or(String::new(), |window| window.to_string()), "");
    settings.add("sizes", sizes.iter().map(|size| format!("{size},")).collect::<String>(), "");
    settings.add("rank_one", rank_one, false);
    settings.add("frozen", frozen, 0);
    // The number of passes decides when atoms are added.
    settings.add("grow", if *grow { *passes } else { 0 }, 0);
    settings.add("method", method, "atomwise");
    settings.add("rounds", rounds, 6);
    settings.add("stream_memory", stream_memory, 32);
    settings.add("seed", seed, 0);
    settings.0
}

fn penalty_words(penalty: Penalty) -> String {
    match penalty {
        Penalty::Absolute(penalty) => format!("absolute,{penalty}"),
        Penalty::Relative(fraction) => format!("relative,{fraction}"),
        Penalty::MaxError(bound) => format!("max_error,{bound}"),
    }
}

fn step_words(step: Step) -> String {
    let (name, numbers) = match step {
        Step::Paper { adam_passes, size, momentum_size, momentum } => {
            ("paper", vec![adam_passes as f64, size, momentum_size, momentum])
        }
        Step::Sgd { size } => ("sgd", vec![size]),
        Step::Momentum { size, momentum } => ("momentum", vec![size, momentum]),
        Step::Adagrad { size, guard } => ("adagrad", vec![size, guard]),
        Step::Adadelta { size, forgetting, guard } => ("adadelta", vec![size, forgetting, guard]),
        Step::Adam { size, momentum, forgetting, guard } => {
            ("adam", vec![size, momentum, forgetting, guard])
        }
    };
    format!("{name},{}", list(&numbers))
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

/// Hash (FNV-1a) of parameters as text, signals and dictionary.
fn hash_problem<T: Real>(params: &str, signals: &[Observed<T>], dictionary: &Dictionary<T>) -> u64 {
    let mut hash = Fnv::default();
    hash.text(&format!("{} {params} {} {}", T::NAME, dictionary.extent(), dictionary.channels()));
    hash.numbers(dictionary.data());
    for observed in signals {
        hash.text(&format!("{} {}", observed.extent(), observed.signal.channels()));
        match &observed.mask {
            // A rank has only its part; the solver adds what all ranks measure.
            _ if observed.part.is_some() => {}
            None => hash.numbers(observed.signal.data()),
            Some(mask) => {
                hash.numbers(mask.weights().data());
                for c in 0..observed.signal.channels() {
                    let known = observed
                        .signal
                        .channel(c)
                        .iter()
                        .zip(mask.channel(c))
                        .filter(|(_, w)| **w > T::ZERO);
                    known.for_each(|(x, _)| hash.number(*x));
                }
            }
        }
        for map in [&observed.penalty_map, &observed.max_nonzeros_map] {
            hash.text(if map.is_some() { "map" } else { "none" });
            map.iter().for_each(|map| hash.numbers(map.data()));
        }
        if let Some(weights) = &observed.coefficient_weights {
            hash.text("weights");
            hash.numbers(weights.data());
        }
        match &observed.start {
            Start::Zero => hash.text("zero"),
            Start::Spread => hash.text("spread"),
            Start::Needles(needles) => {
                for code in needles.codes() {
                    hash.text(&format!("{:?} {} {}", code.position, code.atom, code.channel));
                    hash.number(code.value);
                }
            }
        }
    }
    hash.0
}

/// Hash of numbers in this order.
pub(crate) fn hash_numbers<'a>(numbers: impl Iterator<Item = &'a f64>) -> u64 {
    let mut hash = Fnv::default();
    numbers.for_each(|&x| hash.number(x));
    hash.0
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number<T: Real>(&mut self, x: T) {
        self.bytes(&x.to_f64().to_bits().to_le_bytes());
    }

    fn numbers<T: Real>(&mut self, numbers: &[T]) {
        numbers.iter().for_each(|&x| self.number(x));
    }
}
