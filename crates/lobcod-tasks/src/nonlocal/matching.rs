//! Block matching: the patches of an image that are most similar to a given one.

/// Where similar patches are searched; sizes are slices, rows, columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Size of the image.
    pub(crate) size: [usize; 3],
    /// Size of a patch.
    pub(crate) patch: [usize; 3],
    /// Maximum distance from the reference patch.
    pub(crate) window: [usize; 3],
    /// Maximum number of patches found.
    pub(crate) count: usize,
}

/// Scratch memory of a search.
#[derive(Default)]
pub(crate) struct Found {
    /// Index of the first sample of every patch found, the most similar first.
    pub(crate) corners: Vec<usize>,
    distances: Vec<f32>,
    keys: Vec<u64>,
}

impl Search {
    /// Finds the patches with the least squared distance to the patch at `reference`, which is one
    /// of them; of equal ones those that come first in the image.
    ///
    /// Distances of all patches of a row are summed together, sample by sample of the patch, so
    /// that the loop runs over contiguous samples.
    #[inline(always)]
    pub(crate) fn find(&self, samples: &[f32], reference: [usize; 3], found: &mut Found) {
        let [_, height, width] = self.size;
        let [depth, rows, columns] = self.patch;
        let index = |z: usize, y: usize, x: usize| (z * height + y) * width + x;
        let [slices, lines, [left, right]] = std::array::from_fn(|axis| {
            let last = self.size[axis] - self.patch[axis];
            let first = reference[axis].saturating_sub(self.window[axis]);
            [first, (reference[axis] + self.window[axis]).min(last)]
        });
        let across = right - left + 1;
        found.keys.clear();
        for z in slices[0]..=slices[1] {
            for y in lines[0]..=lines[1] {
                found.distances.clear();
                found.distances.resize(across, 0.0);
                for row in 0..depth * rows {
                    let (dz, dy) = (row / rows, row % rows);
                    let own = index(reference[0] + dz, reference[1] + dy, reference[2]);
                    let other = &samples[index(z + dz, y + dy, left)..][..across + columns - 1];
                    for (dx, sample) in samples[own..own + columns].iter().enumerate() {
                        let others = &other[dx..dx + across];
                        for (sum, x) in found.distances.iter_mut().zip(others) {
                            *sum += (sample - x) * (sample - x);
                        }
                    }
                }
                let first = index(z, y, left);
                // Distances are not negative, so their bits are in their order.
                let key =
                    |(x, d): (usize, &f32)| (u64::from(d.to_bits()) << 32) | (first + x) as u64;
                found.keys.extend(found.distances.iter().enumerate().map(key));
            }
        }
        if found.keys.len() > self.count {
            found.keys.select_nth_unstable(self.count - 1);
            found.keys.truncate(self.count);
        }
        found.keys.sort_unstable();
        found.corners.clear();
        found.corners.extend(found.keys.iter().map(|key| (key & 0xffff_ffff) as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, one patch at a time.
    fn plain(search: &Search, samples: &[f32], reference: [usize; 3]) -> Vec<(f64, usize)> {
        let [_, height, width] = search.size;
        let index = |p: [usize; 3]| (p[0] * height + p[1]) * width + p[2];
        let mut all = Vec::new();
        let fits = |p: [usize; 3]| {
            (0..3).all(|a| {
                p[a] + search.patch[a] <= search.size[a]
                    && p[a].abs_diff(reference[a]) <= search.window[a]
            })
        };
        for corner in 0..samples.len() {
            let at = [corner / width / height, corner / width % height, corner % width];
            if !fits(at) {
                continue;
            }
            let mut distance = 0.0;
            for i in 0..search.patch.iter().product() {
                let [_, rows, columns] = search.patch;
                let step = [i / columns / rows, i / columns % rows, i % columns];
                let sample = |p: [usize; 3]| {
                    f64::from(samples[index(std::array::from_fn(|a| p[a] + step[a]))])
                };
                distance += (sample(at) - sample(reference)).powi(2);
            }
            all.push((distance, corner));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.truncate(search.count);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_same_patches_are_found_one_at_a_time(
            size in [1usize..4, 1usize..14, 1usize..20],
            patch in [1usize..3, 1usize..5, 1usize..6],
            window in [0usize..3, 0usize..7, 0usize..12],
            count in 1usize..40,
            at in [0.0..1.0f64, 0.0..1.0, 0.0..1.0],
            levels in 2u32..50,
            seed in any::<u32>(),
        ) {
            let patch = std::array::from_fn(|a| patch[a].min(size[a]));
            let search = Search { size, patch, window, count };
            let reference =
                std::array::from_fn(|a| (at[a] * (size[a] - patch[a] + 1) as f64) as usize);
            // Whole numbers: sums are exact, so equal distances are found equal.
            let sample = |i: usize| ((i as u32 ^ seed).wrapping_mul(2_654_435_761) >> 16) % levels;
            let samples: Vec<f32> = (0..size.iter().product()).map(|i| sample(i) as f32).collect();
            let mut found = Found::default();
            search.find(&samples, reference, &mut found);
            let expected: Vec<usize> =
                plain(&search, &samples, reference).into_iter().map(|(_, corner)| corner).collect();
            prop_assert_eq!(&found.corners, &expected);
        }
    }
}
