//! What can go wrong, split by who is at fault.

/// Result of every fallible call of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One sentence that names what is wrong and what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two things that must have matching shapes do not.
    #[error("{0}")]
    Shape(String),
    /// A parameter lies outside its allowed range.
    #[error("{name} is {value}, but must be {allowed}")]
    Parameter {
        /// Name of the parameter as users write it.
        name: &'static str,
        /// The offending value.
        value: String,
        /// The allowed range, as words.
        allowed: &'static str,
    },
    /// The numbers themselves cannot be worked with (NaN, nothing known, a zero atom).
    #[error("{0}")]
    Data(String),
    /// The work would need more memory than was allowed.
    #[error(
        "this needs about {} of memory, but the limit is {}; raise the limit or use a smaller signal",
        crate::memory::words(*.needed),
        crate::memory::words(*.limit)
    )]
    Limits {
        /// Bytes the work would need.
        needed: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The observer stopped the work before there was an answer.
    #[error("the work was stopped before there was an answer; run it again")]
    Stopped,
    /// An engine or feature that this build or machine does not have.
    #[error("{0}")]
    Unavailable(String),
}

impl Error {
    pub(crate) fn parameter(name: &'static str, value: impl ToString, allowed: &'static str) -> Self {
        Error::Parameter { name, value: value.to_string(), allowed }
    }
}
