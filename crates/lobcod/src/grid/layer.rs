//! Layers: needles whose patches do not overlap.

/// Positions `start, start + step, ...` (`count` of them) of a tile along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisLayer {
    /// First position.
    pub start: usize,
    /// Distance between positions.
    pub step: usize,
    /// Number of positions.
    pub count: usize,
}

/// The layers of one axis: `length` positions in classes `period` apart. On an axis that wraps, the remainder of the division gets
/// layers of one position each, so that no patch meets another around the corner.
#[derive(Clone, Copy, Debug)]
pub struct AxisLayers {
    period: usize,
    wraps: bool,
    /// Positions of every class, and of how many classes there is one more.
    whole: usize,
    rest: usize,
}

impl AxisLayers {
    /// Layers of an axis.
    pub fn new(length: usize, period: usize, wraps: bool) -> Self {
        Self { period, wraps, whole: length / period, rest: length % period }
    }

    /// How many layers there are.
    pub fn count(&self) -> usize {
        match (self.wraps, self.whole) {
            (true, _) => self.period + self.rest,
            (false, 0) => self.rest,
            (false, _) => self.period,
        }
    }

    /// All layers, in order.
    pub fn iter(self) -> impl Iterator<Item = AxisLayer> + Clone {
        (0..self.count()).map(move |i| self.layer(i))
    }

    /// Layer `i`, below [`count`](Self::count).
    pub fn layer(&self, i: usize) -> AxisLayer {
        let Self { period, wraps, whole, rest } = *self;
        let (start, count) = match (wraps, i < period) {
            (false, _) => (i, whole + usize::from(i < rest)),
            (true, true) => (i, whole),
            (true, false) => (whole * period + i - period, 1),
        };
        AxisLayer { start, step: period, count }
    }
}

/// Layer of position `at`, and its number inside that layer.
pub fn axis_order(at: usize, length: usize, period: usize, wraps: bool) -> (usize, usize) {
    let whole = length / period;
    if wraps && at >= whole * period { (period + at - whole * period, 0) } else { (at % period, at / period) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_position_is_in_one_layer_and_patches_of_a_layer_are_apart(length in 1usize..60, atom in 1usize..12, wraps: bool) {
            prop_assume!(!wraps || length >= atom);
            let mut seen = vec![0; length];
            for (l, layer) in AxisLayers::new(length, atom, wraps).iter().enumerate() {
                let at: Vec<usize> = (0..layer.count).map(|i| layer.start + i * layer.step).collect();
                for (i, &p) in at.iter().enumerate() {
                    seen[p] += 1;
                    prop_assert_eq!(axis_order(p, length, atom, wraps), (l, i));
                    for &q in &at[..i] {
                        prop_assert!(p - q >= atom && (!wraps || q + length - p >= atom));
                    }
                }
            }
            prop_assert!(seen.iter().all(|&s| s == 1));
        }
    }
}
