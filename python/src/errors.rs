//! The library's errors as Python's exceptions, with the same sentences.

use pyo3::exceptions::{PyFileNotFoundError, PyMemoryError, PyNotImplementedError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use std::io::ErrorKind;

/// What goes wrong in a call from Python.
#[derive(Debug)]
pub struct Fault(pub PyErr);

/// Result of every fallible call from Python.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    /// A `ValueError` with this sentence.
    pub fn value(sentence: impl Into<String>) -> Self {
        Fault(PyValueError::new_err(sentence.into()))
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Fault(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        fault.0
    }
}

impl From<lobcod::Error> for Fault {
    fn from(error: lobcod::Error) -> Self {
        let sentence = error.to_string();
        Fault(match error {
            lobcod::Error::Limits { .. } => PyMemoryError::new_err(sentence),
            lobcod::Error::Unavailable(_) => PyNotImplementedError::new_err(sentence),
            _ => PyValueError::new_err(sentence),
        })
    }
}

impl From<lobcod_image::Error> for Fault {
    fn from(error: lobcod_image::Error) -> Self {
        let sentence = error.to_string();
        Fault(match error {
            lobcod_image::Error::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => PyFileNotFoundError::new_err(sentence),
                ErrorKind::PermissionDenied => PyPermissionError::new_err(sentence),
                _ => PyOSError::new_err(sentence),
            },
            lobcod_image::Error::Limits { .. } => PyMemoryError::new_err(sentence),
            lobcod_image::Error::Core(error) => return error.into(),
            _ => PyValueError::new_err(sentence),
        })
    }
}
