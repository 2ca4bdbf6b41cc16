//! Interprets bytes as choices.

/// Bytes that are consumed one by one; zeros follow the last.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number from 0 to `count - 1`.
    pub fn below(&mut self, count: usize) -> usize {
        let wide = usize::from(self.byte());
        let wide = if count > 256 { wide << 8 | usize::from(self.byte()) } else { wide };
        wide % count
    }

    /// An element of a list.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A number: usually of moderate size, sometimes arbitrary bits.
    pub fn number(&mut self) -> f64 {
        match self.byte() {
            0 => 0.0,
            1 => self.one_of(&[
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -0.0,
                f64::MAX,
                f64::MIN_POSITIVE,
                5e-324,
            ]),
            2 => {
                f64::from(f32::from_bits(u32::from_le_bytes(std::array::from_fn(|_| self.byte()))))
            }
            3 => {
                (f64::from(self.byte()) - 128.0) * f64::powi(10.0, i32::from(self.byte() as i8) / 3)
            }
            first => (f64::from(self.byte()) - 128.0) / 16.0 + f64::from(first) / 4096.0,
        }
    }

    /// Whether anything is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
