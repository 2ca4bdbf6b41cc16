//! Samples near holes: only they are coded, so that the cost follows the holes.

use super::params::InpaintParams;
use lobcod::{Dictionary, Extent, Real};

/// Known samples around a hole that are coded, in lengths of an atom.
const CONTEXT: usize = 1;

/// Which samples count as near.
pub struct Near {
    /// Height and width; `None`: all samples are near.
    image: Option<[usize; 2]>,
    volume: usize,
    radius: usize,
}

impl Near {
    pub fn new<T: Real>(
        params: &InpaintParams,
        extent: Extent,
        dictionaries: &[Dictionary<T>],
    ) -> Self {
        let [_, height, width] = extent.padded();
        let image = (!params.everywhere && extent.rank() == 2).then_some([height, width]);
        let longest = dictionaries.iter().flat_map(|d| d.extent().axes().to_vec()).max();
        Self { image, volume: extent.volume(), radius: radius(longest.unwrap_or(1)) }
    }

    /// Whether each sample of a channel is in a box around one of weight 0 in any channel.
    pub fn of<T: Real>(&self, weights: &[T]) -> Vec<bool> {
        let Some([height, width]) = self.image else { return vec![true; self.volume] };
        let mut near = vec![false; self.volume];
        for channel in weights.chunks_exact(self.volume) {
            near.iter_mut().zip(channel).for_each(|(near, &w)| *near |= w == T::ZERO);
        }
        // Along rows, then along columns.
        for (lines, length, [across, along]) in
            [(height, width, [width, 1]), (width, height, [1, width])]
        {
            let marked = near.clone();
            for line in 0..lines {
                let place = |i: usize| line * across + i * along;
                mark(&marked, &mut near, (0..length).map(place), self.radius);
                mark(&marked, &mut near, (0..length).rev().map(place), self.radius);
            }
        }
        near
    }
}

/// Known samples around a hole that are coded, for atoms of this length.
pub fn radius(longest_atom: usize) -> usize {
    CONTEXT * longest_atom
}

/// Marks up to `radius` samples of a line after every marked one.
fn mark(marked: &[bool], near: &mut [bool], line: impl Iterator<Item = usize>, radius: usize) {
    let mut left = 0;
    for i in line {
        if marked[i] {
            left = radius + 1;
        }
        near[i] |= left > 0;
        left = left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_within_an_atom_of_a_hole_in_any_channel_are_near() {
        let extent = Extent::new(&[30, 40]).unwrap();
        let mut weights = vec![1.0f32; 2 * 1200];
        let holes = [[3, 5], [20, 30]];
        weights[3 * 40 + 5] = 0.0;
        weights[1200 + 20 * 40 + 30] = 0.0;
        let params = InpaintParams::default();
        let near = Near::new::<f32>(&params, extent, &[Dictionary::natural()]).of(&weights);
        for (i, near) in near.into_iter().enumerate() {
            let at = |[y, x]: [usize; 2]| (i / 40).abs_diff(y).max((i % 40).abs_diff(x));
            assert_eq!(near, holes.into_iter().any(|hole| at(hole) <= 8), "sample {i}");
        }
        let everywhere = params.with(|p| p.everywhere = true);
        let near = Near::new::<f32>(&everywhere, extent, &[Dictionary::natural()]).of(&weights);
        assert!(near.into_iter().all(|near| near));
    }
}
