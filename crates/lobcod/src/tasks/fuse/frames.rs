//! Where frames come from.

use crate::error::Error;
use crate::signal::Signal;

/// Frames of one scene that can be read one by one, each as often as it takes.
pub trait Frames {
    /// What goes wrong when a frame is read.
    type Error: From<Error>;
    /// Number of frames.
    fn count(&self) -> usize;
    /// Reads frame `i`: one channel (grey) or three (sRGB).
    fn read(&mut self, i: usize) -> Result<Signal<f32>, Self::Error>;
}

/// Frames in memory.
impl Frames for Vec<Signal<f32>> {
    type Error = Error;
    fn count(&self) -> usize {
        self.len()
    }
    fn read(&mut self, i: usize) -> Result<Signal<f32>, Error> {
        Ok(self[i].clone())
    }
}
