//! Sources of frames.

use lobcod::{Error, Signal};

/// Frames of one scene that can be read individually and repeatedly.
pub trait Frames {
    /// Error when reading a frame.
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
