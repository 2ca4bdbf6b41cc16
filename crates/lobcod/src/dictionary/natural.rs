//! The embedded dictionary.

use super::Dictionary;
use crate::extent::Extent;
use crate::real::Real;

/// 81 atoms of 8x8 as little-endian `f32`; `docs/dictionaries.md` says how they were learnt.
const NATURAL: &[u8] = include_bytes!("natural.f32");

impl<T: Real> Dictionary<T> {
    /// The embedded dictionary `natural`: 81 atoms of 8x8, learnt from photographs less their local mean.
    pub fn natural() -> Self {
        let number = |bytes: &[u8]| T::from_f64(f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
        let extent = Extent::new(&[8, 8]).expect("a box");
        Self::new(extent, 1, NATURAL.chunks_exact(4).map(number).collect()).expect("the embedded atoms are sound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_dictionary_is_whole() {
        let natural = Dictionary::<f32>::natural();
        assert_eq!((natural.len(), natural.extent().axes(), natural.normalised()), (81, &[8, 8][..], 0));
    }
}
