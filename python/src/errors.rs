//! Library errors as Python exceptions, with the same messages.

use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyNotImplementedError, PyOSError, PyPermissionError,
    PyValueError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;

/// An error in a call from Python.
#[derive(Debug)]
pub struct Fault(pub PyErr);

/// Result type of calls from Python.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    /// A `ValueError` with this message.
    pub fn value(message: impl Into<String>) -> Self {
        Fault(PyValueError::new_err(message.into()))
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
        let message = error.to_string();
        Fault(match error {
            lobcod::Error::Limits { .. } => PyMemoryError::new_err(message),
            lobcod::Error::Unavailable(_) => PyNotImplementedError::new_err(message),
            _ => PyValueError::new_err(message),
        })
    }
}

impl From<lobcod_io::Error> for Fault {
    fn from(error: lobcod_io::Error) -> Self {
        let message = error.to_string();
        Fault(match error {
            lobcod_io::Error::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
                ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
                _ => PyOSError::new_err(message),
            },
            lobcod_io::Error::Limits { .. } => PyMemoryError::new_err(message),
            lobcod_io::Error::Core(error) => return error.into(),
            _ => PyValueError::new_err(message),
        })
    }
}
