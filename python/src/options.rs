//! Conversion of Python option dictionaries to library parameters.

use crate::errors::{Fault, Result};
use lobcod::engine::{CpuEngine, Engine, FallbackEngine, words_of_fallback};
use lobcod::{Penalty, Real, parallel};
use lobcod_cuda::CudaEngine;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::OnceLock;
use std::time::Duration;

/// Engines by name.
pub const ENGINES: &[(&str, EngineChoice)] = &[
    ("cpu", EngineChoice::Cpu { threads: 0 }),
    ("cuda", EngineChoice::Cuda),
    ("auto", EngineChoice::Auto { threads: 0 }),
];
/// Precisions by name.
pub const PRECISIONS: [&str; 2] = ["f32", "f64"];

/// Options of all long-running functions.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RunOptions<'py> {
    /// Time limit in seconds.
    time_limit: Option<f64>,
    /// Number of threads; 0 uses all cores.
    pub threads: usize,
    /// The engine: `cpu`, `cuda` or `auto`.
    engine: String,
    /// Memory limit in bytes.
    pub max_memory: Option<u64>,
    /// `f32` or `f64`.
    pub precision: String,
    /// Called after each sweep.
    pub callback: Option<Bound<'py, PyAny>>,
}

impl RunOptions<'_> {
    /// The time limit, if any.
    pub fn time_limit(&self) -> Result<Option<Duration>> {
        let seconds = |s: f64| {
            let wrong = |_| {
                Fault::value(format!(
                    "the time limit is {s}, but must be a non-negative number of seconds"
                ))
            };
            Duration::try_from_secs_f64(s).map_err(wrong)
        };
        self.time_limit.map(seconds).transpose()
    }

    /// The requested engine.
    pub fn engine_choice(&self) -> Result<EngineChoice> {
        let choice = word("the engine", &self.engine, ENGINES)?;
        let (threads, double) = (self.threads, self.precision == "f64");
        Ok(match choice {
            EngineChoice::Cuda if double => {
                let cure = "use precision=\"f32\" or engine=\"cpu\"";
                return Err(Fault::value(format!("the CUDA engine uses single precision; {cure}")));
            }
            EngineChoice::Cuda => choice,
            EngineChoice::Auto { .. } if !double => EngineChoice::Auto { threads },
            EngineChoice::Cpu { .. } | EngineChoice::Auto { .. } => EngineChoice::Cpu { threads },
        })
    }
}

/// The compute engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// The CPU with this many threads.
    Cpu {
        /// Number of threads; 0 uses all cores.
        threads: usize,
    },
    /// An NVIDIA GPU.
    Cuda,
    /// An NVIDIA GPU if available, otherwise, or if it fails, the CPU with this many threads.
    Auto {
        /// Number of threads; 0 uses all cores.
        threads: usize,
    },
}

impl EngineChoice {
    /// Opens the engine.
    pub fn engine<T: Real>(self) -> lobcod::Result<Box<dyn Engine<T>>> {
        static DEVICE: OnceLock<lobcod::Result<CudaEngine>> = OnceLock::new();
        let device = || DEVICE.get_or_init(CudaEngine::new).clone();
        let cpu = |threads| CpuEngine::new(threads).map(Box::new);
        Ok(match self {
            EngineChoice::Cpu { threads } => cpu(threads)?,
            EngineChoice::Cuda => Box::new(device()?),
            EngineChoice::Auto { threads } => match device() {
                Ok(device) => {
                    Box::new(FallbackEngine::new(Box::new(device), cpu(threads)?, warn_of_fallback))
                }
                Err(_) => cpu(threads)?,
            },
        })
    }
}

/// Warns in Python that a device failed.
fn warn_of_fallback(fault: &lobcod::Error, lost: Duration) {
    let text = CString::new(format!("{fault}; {}", words_of_fallback(lost))).unwrap_or_default();
    // A warning filter may raise an error; the work continues regardless.
    Python::attach(|py| {
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1).unwrap_or(())
    });
}

/// A penalty in signal units, or relative to penalty_max.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PenaltyOptions {
    penalty: Option<f64>,
    relative_penalty: f64,
}

impl PenaltyOptions {
    /// The penalty.
    pub fn penalty(&self) -> Penalty {
        self.penalty.map_or(Penalty::Relative(self.relative_penalty), Penalty::Absolute)
    }
}

/// The value of a named choice.
pub fn word<T: Copy>(name: &str, text: &str, meanings: &[(&str, T)]) -> Result<T> {
    meanings.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = meanings.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().expect("a choice has names");
        let joint = if others.is_empty() {
            last.to_string()
        } else {
            format!("{} or {last}", others.join(", "))
        };
        Fault::value(format!("{name} is {text}, but must be {joint}"))
    })
}

/// Number of threads for this many samples: 0 chooses by size, -1 means all cores.
#[pyfunction]
pub fn thread_count(threads: isize, samples: usize) -> usize {
    usize::try_from(threads)
        .map_or_else(|_| parallel::count(0), |threads| parallel::count_for(threads, samples))
}

/// The common white level that fits float samples within these limits.
#[pyfunction]
pub fn common_white(least: f64, most: f64) -> Option<f64> {
    lobcod_io::common_white(least, most)
}

/// Calls a generic function in the given precision.
macro_rules! in_precision {
    ($precision:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $precision {
            "f64" => $function::<f64>($($argument),*),
            _ => $function::<f32>($($argument),*),
        }
    };
}
pub(crate) use in_precision;
