//! Options from Python, which come as dictionaries, to parameters of the library.

use crate::errors::{Fault, Result};
use lobcod::engine::{CpuEngine, Engine};
use lobcod::{Penalty, Real};
use lobcod_cuda::CudaEngine;
use pyo3::prelude::*;
use std::sync::OnceLock;
use std::time::Duration;

/// What all kinds of long work are told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RunOptions<'py> {
    /// Relative duality gap to reach.
    pub tolerance: f64,
    /// Seconds allowed.
    time_limit: Option<f64>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// What does the work: `cpu` or `cuda`.
    engine: String,
    /// Bytes allowed.
    pub max_memory: Option<u64>,
    /// `f32` or `f64`.
    pub precision: String,
    /// Called after every sweep.
    pub callback: Option<Bound<'py, PyAny>>,
}

impl RunOptions<'_> {
    /// The time allowed, if there is a limit.
    pub fn time_limit(&self) -> Result<Option<Duration>> {
        let seconds = |s: f64| {
            let wrong = |_| Fault::value(format!("the time limit is {s}, but must be a number of seconds of at least 0"));
            Duration::try_from_secs_f64(s).map_err(wrong)
        };
        self.time_limit.map(seconds).transpose()
    }

    /// What is to do the work.
    pub fn place(&self) -> Result<Place> {
        let place = word("the engine", &self.engine, &[("cpu", Place::Cpu { threads: self.threads }), ("cuda", Place::Cuda)])?;
        if place == Place::Cuda && self.precision == "f64" {
            return Err(Fault::value("the CUDA engine works in single precision; give precision=\"f32\" or engine=\"cpu\""));
        }
        Ok(place)
    }
}

/// What does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many threads of this machine.
    Cpu {
        /// 0 means all cores.
        threads: usize,
    },
    /// A graphics card of NVIDIA.
    Cuda,
}

impl Place {
    /// The engine there.
    pub fn engine<T: Real>(self) -> lobcod::Result<Box<dyn Engine<T>>> {
        static DEVICE: OnceLock<lobcod::Result<CudaEngine>> = OnceLock::new();
        Ok(match self {
            Place::Cpu { threads } => Box::new(CpuEngine::new(threads)?),
            Place::Cuda => Box::new(DEVICE.get_or_init(CudaEngine::new).clone()?),
        })
    }
}

/// A penalty in units of the signal, or relative to penalty_max.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PenaltyOptions {
    penalty: Option<f64>,
    relative_penalty: f64,
}

impl PenaltyOptions {
    /// The penalty asked for.
    pub fn penalty(&self) -> Penalty {
        self.penalty.map_or(Penalty::Relative(self.relative_penalty), Penalty::Absolute)
    }
}

/// The value that a word stands for.
pub fn word<T: Copy>(name: &str, text: &str, meanings: &[(&str, T)]) -> Result<T> {
    meanings.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = meanings.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().expect("a choice has words");
        let joint = if others.is_empty() { last.to_string() } else { format!("{} or {last}", others.join(", ")) };
        Fault::value(format!("{name} is {text}, but must be {joint}"))
    })
}

/// Calls a generic function in the precision asked for.
macro_rules! in_precision {
    ($precision:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $precision {
            "f64" => $function::<f64>($($argument),*),
            _ => $function::<f32>($($argument),*),
        }
    };
}
pub(crate) use in_precision;
