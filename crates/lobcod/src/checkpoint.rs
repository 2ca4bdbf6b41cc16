//! A pursuit or a learning as it stood between two passes, from which it goes on to the same answer.

use crate::dictionary::Dictionary;
use crate::engine::State;
use crate::error::{Error, Result};
use crate::learn::{LearnParams, LearnPoint};
use crate::needles::Code;
use crate::pursuit::{Observed, PursuitParams, Start};
use crate::real::Real;
use crate::report::HistoryPoint;
use std::collections::BTreeMap;

/// Everything a pursuit needs to go on bit for bit: codes, what is known of every tile, and where the schedule stands. The residual is
/// not part of it: every pass synthesises it anew. Numbers are `f64`, which holds codes of either precision exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Hash of signals, masks, dictionary and parameters it belongs to.
    pub fingerprint: u64,
    /// Seconds worked so far.
    pub seconds: f64,
    /// Sweeps over all needles so far.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes so far.
    pub support_sweeps: usize,
    /// Where the schedule stands.
    pub schedule: ScheduleState,
    /// Codes of every plane, and the changes pending around its tiles.
    pub state: State<f64>,
    /// Objective against time so far.
    pub history: Vec<HistoryPoint>,
}

/// Where the main loop stands between two passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleState {
    /// Penalty of the next pass.
    pub stage_penalty: f64,
    /// Changes that end the support sweeps of the next pass.
    pub tolerance: f64,
    /// Excess the last certificate let pass; `None`: the next pass visits all needles.
    pub candidate_slack: Option<f64>,
    /// Best gap and objective so far, and passes since either got better.
    pub best_gap: f64,
    /// See `best_gap`.
    pub best_objective: f64,
    /// See `best_gap`.
    pub idle_passes: usize,
}

/// Everything a learning needs to go on bit for bit: dictionary, codes, and what its method remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnCheckpoint {
    /// Hash of signals, masks, first dictionary and parameters it belongs to.
    pub fingerprint: u64,
    /// Seconds worked so far.
    pub seconds: f64,
    /// Penalty in units of the signal.
    pub penalty: f64,
    /// Samples of all atoms.
    pub dictionary: Vec<f64>,
    /// Codes of every plane.
    pub codes: Vec<Vec<Code<f64>>>,
    /// The passes so far.
    pub history: Vec<LearnPoint>,
    /// What the method remembers from pass to pass, by name.
    pub memory: Memory,
}

/// Numbers by name.
pub type Memory = BTreeMap<String, Vec<f64>>;

/// Error unless a checkpoint of fingerprint `found` belongs to a problem of fingerprint `wanted`.
pub(crate) fn check_fingerprint(found: u64, wanted: u64) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Data(
        "the checkpoint belongs to other signals, another dictionary or other parameters; resume with those it was made with"
            .into(),
    ))
}

/// Hash of all that decides the course of a pursuit; threads and limits do not.
pub(crate) fn fingerprint<T: Real>(params: &PursuitParams, signals: &[Observed<T>], dictionary: &Dictionary<T>) -> u64 {
    let course = PursuitParams { threads: 0, time_limit: None, max_sweeps: 1, max_memory: None, ..params.clone() };
    hash_problem(&format!("{course:?}"), signals, dictionary)
}

/// Hash of all that decides the course of a learning; threads and limits do not.
pub(crate) fn learning_fingerprint<T: Real>(params: &LearnParams, signals: &[Observed<T>], first: &Dictionary<T>) -> u64 {
    let course = LearnParams {
        threads: 0,
        time_limit: None,
        passes: 1,
        target_objective: None,
        tolerance: 0.0,
        max_memory: None,
        ..params.clone()
    };
    hash_problem(&format!("{course:?}"), signals, first)
}

/// Hash (FNV-1a) of parameters in words, signals and dictionary.
fn hash_problem<T: Real>(params: &str, signals: &[Observed<T>], dictionary: &Dictionary<T>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.text(&format!("{} {params} {} {}", T::NAME, dictionary.extent(), dictionary.channels()));
    hash.numbers(dictionary.data());
    for observed in signals {
        hash.text(&format!("{} {}", observed.extent(), observed.signal.channels()));
        match &observed.mask {
            // A rank knows only its part; what all measure together stands for the samples, see the solver.
            _ if observed.part.is_some() => {}
            None => hash.numbers(observed.signal.data()),
            Some(mask) => {
                hash.numbers(mask.weights().data());
                for c in 0..observed.signal.channels() {
                    let known = observed.signal.channel(c).iter().zip(mask.channel(c)).filter(|(_, w)| **w > T::ZERO);
                    known.for_each(|(x, _)| hash.number(*x));
                }
            }
        }
        for map in [&observed.penalty_map, &observed.max_nonzeros_map] {
            hash.text(if map.is_some() { "map" } else { "none" });
            map.iter().for_each(|map| hash.numbers(map.data()));
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

struct Fnv(u64);

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
