//! Transparency: alpha is not coded but determines which pixels are known.

use crate::array::{Array, DataType};
use std::ops::Range;

/// The alpha channel of an image.
pub(crate) struct Alpha {
    /// As stored; the last two axes are height and width.
    pub levels: Array,
    /// Whether each pixel is opaque enough to be known.
    pub opaque: Vec<bool>,
}

impl Alpha {
    pub(crate) fn new(levels: Array) -> Self {
        let fractions: Vec<f32> = levels.to_reals(1.0 / full(levels.dtype())).unwrap_or_default();
        let opaque = match levels.shape() {
            [.., height, width] => known_by_alpha(&fractions, [*height, *width]),
            _ => vec![true; fractions.len()],
        };
        Self { levels, opaque }
    }

    /// A range of rows of a single-page image.
    pub(crate) fn rows(self, rows: Range<usize>, width: usize) -> Self {
        let size = self.levels.dtype().size();
        let bytes =
            self.levels.bytes()[rows.start * width * size..rows.end * width * size].to_vec();
        let levels = Array::from_bytes(self.levels.dtype(), vec![rows.len(), width], bytes);
        Self { levels, opaque: self.opaque[rows.start * width..rows.end * width].to_vec() }
    }
}

/// Which pixels are known, by their alpha from 0 to 1, on pages of this height and width.
///
/// Pixels below one half are missing, and so are partly transparent pixels next to them, because
/// soft edges contain erased colours.
pub fn known_by_alpha(alpha: &[f32], [height, width]: [usize; 2]) -> Vec<bool> {
    let near = |i: usize, length: usize| i.saturating_sub(1)..(i + 2).min(length);
    let mut known = Vec::with_capacity(alpha.len());
    for page in alpha.chunks_exact((height * width).max(1)) {
        let is_clear = |y: usize, x: usize| page[y * width + x] < 0.5;
        known.extend(page.iter().enumerate().map(|(i, &alpha)| {
            let (y, x) = (i / width, i % width);
            let at_edge = || near(y, height).any(|y| near(x, width).any(|x| is_clear(y, x)));
            alpha >= 1.0 || alpha >= 0.5 && !at_edge()
        }));
    }
    known
}

/// The value of an opaque pixel.
pub(crate) fn full(dtype: DataType) -> f64 {
    match dtype {
        DataType::U8 => f64::from(u8::MAX),
        DataType::U16 => f64::from(u16::MAX),
        DataType::U32 => f64::from(u32::MAX),
        DataType::U64 => u64::MAX as f64,
        DataType::I8 => f64::from(i8::MAX),
        DataType::I16 => f64::from(i16::MAX),
        DataType::I32 => f64::from(i32::MAX),
        DataType::I64 => i64::MAX as f64,
        DataType::Bool | DataType::F32 | DataType::F64 | DataType::Text(_) => 1.0,
    }
}
