//! EXIF orientation: how stored pixels are rotated upright.

/// One of the eight orientations of stored pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Orientation {
    /// Stored rows are columns of the upright image.
    transposed: bool,
    /// Stored rows are reversed.
    rows_reversed: bool,
    /// Stored columns are reversed.
    columns_reversed: bool,
}

impl Orientation {
    /// The orientation with an EXIF value; values outside 1..=8 mean upright, as in other readers.
    pub(crate) fn from_exif(value: u8) -> Self {
        Self {
            transposed: (5..=8).contains(&value),
            rows_reversed: matches!(value, 3 | 4 | 6 | 7),
            columns_reversed: matches!(value, 2 | 3 | 7 | 8),
        }
    }

    pub(crate) fn is_upright(self) -> bool {
        self == Self::default()
    }

    /// Whether width and height are swapped.
    pub(crate) fn is_transposed(self) -> bool {
        self.transposed
    }

    /// Rotates pixels upright: `shape` ends in height, width and samples, each of `size` bytes.
    pub(crate) fn turn(self, shape: &mut [usize], bytes: Vec<u8>, size: usize) -> Vec<u8> {
        let [.., height, width, samples] = shape else { return bytes };
        if self.is_upright() || bytes.is_empty() {
            return bytes;
        }
        let stored_height = *height;
        let stored_width = *width;
        let pixel = *samples * size;
        if self.transposed {
            std::mem::swap(height, width);
        }
        let mut turned = Vec::with_capacity(bytes.len());
        for page in bytes.chunks_exact(stored_height * stored_width * pixel) {
            for (y, x) in (0..*height).flat_map(|y| (0..*width).map(move |x| (y, x))) {
                let (row, column) = if self.transposed { (x, y) } else { (y, x) };
                let row = if self.rows_reversed { stored_height - 1 - row } else { row };
                let column = if self.columns_reversed { stored_width - 1 - column } else { column };
                let start = (row * stored_width + column) * pixel;
                turned.extend_from_slice(&page[start..start + pixel]);
            }
        }
        turned
    }
}
