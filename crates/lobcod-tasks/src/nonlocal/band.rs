//! The groups of some rows of reference patches, and the sums of their patches.

use super::group::Group;
use super::matching::{Found, Search};
use super::{Input, NoiseLeft, Pass, Task};
use lobcod_simd::{Kernel, Vector};

/// Sums of weighted samples, and of weights, in some rows of some slices of all channels.
pub(super) struct Sums {
    /// First slice and row, and number of them.
    first: [usize; 2],
    count: [usize; 2],
    samples: Vec<f32>,
    weights: Vec<f32>,
}

impl Sums {
    /// No sums yet, for reference patches in these rows of a slice of an image with so many samples.
    pub(super) fn new(search: &Search, slice: usize, rows: &[usize], samples: usize) -> Self {
        let searched = |axis: usize, first: usize, last: usize| {
            let start = first.saturating_sub(search.window[axis]);
            let end = (last + search.window[axis] + search.patch[axis]).min(search.size[axis]);
            (start, end - start)
        };
        let (slice, slices) = searched(0, slice, slice);
        let (row, rows) = searched(1, rows[0], rows[rows.len() - 1]);
        let [depth, height, _] = search.size;
        let length = samples / (depth * height) * slices * rows;
        Self {
            first: [slice, row],
            count: [slices, rows],
            samples: vec![0.0; length],
            weights: vec![0.0; length],
        }
    }

    /// Adds them to those of the whole image.
    pub(super) fn add_to(&self, samples: &mut [f32], weights: &mut [f32], size: [usize; 3]) {
        let [depth, height, width] = size;
        let block = self.count[1] * width;
        for channel in 0..samples.len() / (depth * height * width) {
            for slice in 0..self.count[0] {
                let own = (channel * self.count[0] + slice) * block;
                let row = (channel * depth + self.first[0] + slice) * height + self.first[1];
                let whole = row * width..row * width + block;
                let add = |sums: &mut [f32], part: &[f32]| {
                    sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
                };
                add(&mut samples[whole.clone()], &self.samples[own..own + block]);
                add(&mut weights[whole], &self.weights[own..own + block]);
            }
        }
    }
}

/// Reference patches in one slice.
pub(super) struct Band<'a> {
    pub(super) pass: &'a Pass,
    pub(super) search: &'a Search,
    pub(super) input: Input<'a>,
    /// The slice, and rows and columns of the reference patches in it.
    pub(super) slice: usize,
    pub(super) rows: &'a [usize],
    pub(super) columns: &'a [usize],
    pub(super) group: &'a mut Group,
    pub(super) found: &'a mut Found,
    pub(super) sums: &'a mut Sums,
}

impl Kernel<f32> for Band<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = f32>>(self) {
        let search = self.search;
        let [depth, height, width] = search.size;
        let volume = depth * height * width;
        let Input { samples, guide, task } = self.input;
        let channels = samples.len() / volume;
        let ([slice, row], [slices, rows]) = (self.sums.first, self.sums.count);
        let part = slices * rows * width;
        let image_offsets = offsets(search.patch, [height, width]);
        let own_offsets = offsets(search.patch, [rows, width]);
        let mut own = Vec::with_capacity(search.count);
        for &y in self.rows {
            for &x in self.columns {
                let reference = (self.slice * height + y) * width + x;
                if let Task::Fill(known, ..) = task {
                    let mut planes = (0..channels).map(|channel| channel * volume + reference);
                    let known = |first: usize| image_offsets.iter().all(|i| known[first + i]);
                    // Only patches with missing samples need a group.
                    if planes.all(known) {
                        continue;
                    }
                }
                let matched = guide.unwrap_or(samples);
                search.find(&matched[..volume], [self.slice, y, x], self.found);
                let corners = &self.found.corners;
                let own_corner = |corner: &usize| {
                    let (z, within) = (corner / (height * width), corner % (height * width));
                    (z - slice) * rows * width + within - row * width
                };
                own.clear();
                own.extend(corners.iter().map(own_corner));
                for channel in 0..channels {
                    let plane = channel * volume..(channel + 1) * volume;
                    let kind = usize::from(channel > 0);
                    let corners = &corners[..self.pass.counts[kind].min(corners.len())];
                    let own_samples = &samples[plane.clone()];
                    let (members, weight) = match task {
                        Task::Fill(known, level, one_of) => {
                            let members = corners.len().div_ceil(one_of);
                            let known = &known[plane];
                            let of = (members, level * level);
                            self.group.predict(own_samples, known, corners, &image_offsets, of);
                            (members, 1.0)
                        }
                        Task::Shrink(shrinkage, noise) => {
                            let variance = match noise {
                                NoiseLeft::Level(level) => level * level,
                                NoiseLeft::After(removed, fraction) => {
                                    let removed = &removed[plane.start + reference..];
                                    let squares = image_offsets.iter().map(|&i| removed[i].powi(2));
                                    let mean = squares.sum::<f32>() / image_offsets.len() as f32;
                                    fraction * fraction * (1.0 - mean).abs()
                                }
                            };
                            let guide = guide.map(|guide| &guide[plane]);
                            let how = (shrinkage[kind], variance);
                            let offsets = &image_offsets;
                            let weight =
                                self.group.shrink(own_samples, guide, corners, offsets, how);
                            (corners.len(), weight)
                        }
                    };
                    for (i, offset) in own_offsets.iter().enumerate() {
                        for (corner, sample) in own[..members].iter().zip(self.group.row(i)) {
                            let at = channel * part + corner + offset;
                            self.sums.samples[at] += weight * sample;
                            self.sums.weights[at] += weight;
                        }
                    }
                }
            }
        }
    }
}

/// Distances of the samples of a patch from its first, in slices of this height and width.
fn offsets(patch: [usize; 3], [height, width]: [usize; 2]) -> Vec<usize> {
    let [depth, rows, columns] = patch;
    let of_row = |row: usize| (row / rows * height + row % rows) * width;
    (0..depth * rows).flat_map(|row| (0..columns).map(move |x| of_row(row) + x)).collect()
}
