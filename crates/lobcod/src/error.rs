//! Errors, by who can do something about them.
//!
//! Every error is one sentence that names what is wrong and what to do.

use crate::real::Real;

/// Result of every fallible call of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error whose message states what is wrong and how to fix it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Shapes do not match.
    #[error("{0}")]
    Shape(String),
    /// A parameter is out of range.
    #[error("{name} is {value}, but must be {allowed}")]
    Parameter {
        /// Name of the parameter as users write it.
        name: &'static str,
        /// The offending value.
        value: String,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// The data cannot be processed (NaN, nothing known, a zero atom).
    #[error("{0}")]
    Data(String),
    /// The memory limit would be exceeded.
    #[error(
        "this needs about {} of memory, but the limit is {}; raise the limit or use a smaller signal",
        crate::memory::words(*.needed),
        crate::memory::words(*.limit)
    )]
    Limits {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The observer stopped the run before a result was available.
    #[error("stopped before a result was available; run it again")]
    Stopped,
    /// A device failed. The last checkpoint contains the codes of the last complete pass.
    #[error("{0}")]
    Device(String),
    /// A device was lost, and with it the newest codes. The session continues on another engine,
    /// from older codes; solvers repeat what they did since.
    #[error("{0}; the codes since their last copy are lost, so run it again")]
    DeviceLost(String),
    /// The engine or feature is not available in this build or on this machine.
    #[error("{0}")]
    Unavailable(String),
}

impl Error {
    /// A parameter out of its range; `allowed` completes "must be ...".
    pub fn parameter(name: &'static str, value: impl ToString, allowed: &'static str) -> Self {
        Error::Parameter { name, value: value.to_string(), allowed }
    }

    /// The samples of a signal, its correlations or its energy overflow.
    pub fn overflow<T: Real>() -> Self {
        let cure = "scale the signal down or use double precision";
        Error::Data(format!("the signal is too large for {} numbers; {cure}", T::NAME))
    }
}

/// Refuses the first of several options that is given together with a model.
pub(crate) fn refuse_together(model: &str, options: &[(bool, &str)], cure: &str) -> Result<()> {
    let refused = options.iter().find(|(given, _)| *given);
    refused.map_or(Ok(()), |(_, option)| {
        Err(Error::Data(format!("{model} cannot be combined with {option}; {cure}")))
    })
}

/// Returns an error unless a number is finite and above 0.
pub fn check_positive(name: &'static str, x: f64) -> Result<()> {
    if x.is_finite() && x > 0.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, x, "a number above 0"))
    }
}
