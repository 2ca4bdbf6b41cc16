//! Joint coding of similar patches.
//!
//! An image repeats itself. For every reference patch, the most similar patches nearby form a
//! group. The group is coded over its own principal components with one gain per component, which
//! all its patches share; or its missing samples are predicted from the known ones by its
//! covariance. The patches are averaged where they overlap, weighted by certainty.
//!
//! Reference patches are processed in bands of fixed size, and the sums of the bands are added in
//! their order, so the result is the same for any number of threads.

mod band;
mod eigen;
mod group;
mod matching;
mod predict;

pub(crate) use group::Shrinkage;

use band::{Band, Sums};
use group::Group;
use lobcod::parallel;
use lobcod_simd::{Dispatch, Level};
use matching::{Found, Search};

/// Rows of reference patches processed together.
const BAND: usize = 8;
/// Bands that a thread processes before they are added.
const BANDS_PER_THREAD: usize = 2;

/// One pass over the groups of all reference patches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    search: Search,
    /// Distance between reference patches along each axis.
    step: [usize; 3],
    /// Patches in a group: of the first channel, of the others.
    counts: [usize; 2],
}

/// The image of a pass, one channel after the other.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// The samples to shrink.
    pub(crate) samples: &'a [f32],
    /// Groups are found in the first channel of the guide, and each channel is shrunk along the
    /// principal components of that channel of the guide. Without a guide the samples are used.
    pub(crate) guide: Option<&'a [f32]>,
    /// What is done with the groups.
    pub(crate) task: Task<'a>,
}

/// Gets the fraction of a pass that is done and the result so far; decides whether to go on.
pub(crate) type Proceed<'a> = &'a mut dyn FnMut(f64, &dyn Fn() -> Vec<f32>) -> bool;

/// What is done with the groups.
#[derive(Clone, Copy)]
pub(crate) enum Task<'a> {
    /// They are shrunk along their principal components: in the first channel, in the others.
    Shrink([Shrinkage; 2], NoiseLeft<'a>),
    /// Samples that are not known, which hold an estimate, are predicted from the known ones, which
    /// have noise of this standard deviation. Of this many patches of a group, the most similar one
    /// is used: the others help to estimate its covariance. Groups without a guide only.
    Fill(&'a [bool], f32, usize),
}

/// The noise in the samples of a pass.
#[derive(Clone, Copy)]
pub(crate) enum NoiseLeft<'a> {
    /// Of this standard deviation everywhere.
    Level(f32),
    /// What is left of noise of level 1 after this was removed, and this fraction of it counts:
    /// some of what was removed was not noise. Measured in each reference patch.
    After(&'a [f32], f32),
}

/// Sizes of patches and groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Size of a patch: slices, rows, columns; less where the image is smaller.
    pub(crate) patch: [usize; 3],
    /// Maximum distance between the patches of a group.
    pub(crate) window: [usize; 3],
    /// Patches in a group.
    pub(crate) count: usize,
    /// Patches in a group of another channel than the first; at least `count`.
    pub(crate) others: usize,
    /// Distance between reference patches.
    pub(crate) step: [usize; 3],
}

impl Pass {
    /// A pass over an image of this size: slices, rows, columns.
    pub(crate) fn new(size: [usize; 3], shape: Shape) -> Self {
        let Shape { patch, window, count, others, step } = shape;
        let patch = std::array::from_fn(|axis| patch[axis].min(size[axis]));
        let search = Search { size, patch, window, count: others };
        Self { search, step, counts: [count, others] }
    }

    /// Processes all groups of an image. Samples that are not covered yet, for `proceed` or when it
    /// ends the pass, are those of the guide; without a guide they are unchanged.
    pub(crate) fn run(&self, input: Input<'_>, threads: usize, proceed: Proceed<'_>) -> Vec<f32> {
        let samples = input.samples;
        let uncovered = input.guide.unwrap_or(samples);
        let Search { size, patch, .. } = self.search;
        // The best matches come first, so the groups of the first channel are part of the others.
        let count = self.counts[usize::from(samples.len() > size.iter().product())];
        let search = &Search { count, ..self.search };
        let [slices, rows, columns] = std::array::from_fn(|axis| {
            reference_positions(size[axis] - patch[axis], self.step[axis])
        });
        let bands: Vec<(usize, &[usize])> = slices
            .iter()
            .flat_map(|&slice| rows.chunks(BAND).map(move |rows| (slice, rows)))
            .collect();
        let (mut sums, mut weights) = (vec![0.0f32; samples.len()], vec![0.0f32; samples.len()]);
        // One thread needs no balance, and previews come more often.
        let (together, rows_at_once) = match parallel::count(threads) {
            1 => (1, 1),
            several => (BANDS_PER_THREAD * several, BAND),
        };
        let mut goes_on = true;
        for (number, some) in bands.chunks(together).enumerate() {
            let mut parts: Vec<Sums> = some
                .iter()
                .map(|&(slice, rows)| Sums::new(search, slice, rows, samples.len()))
                .collect();
            let add = |parts: &[Sums], sums: &mut [f32], weights: &mut [f32]| {
                parts.iter().for_each(|part| part.add_to(sums, weights, size));
            };
            let rows = some.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
            for first in (0..rows).step_by(rows_at_once) {
                let part = first as f64 / rows as f64;
                let fraction = (number as f64 + part) * together as f64 / bands.len() as f64;
                let so_far = || {
                    let (mut sums, mut weights) = (sums.clone(), weights.clone());
                    add(&parts, &mut sums, &mut weights);
                    average(sums, &weights, uncovered)
                };
                goes_on = proceed(fraction, &so_far);
                if !goes_on {
                    break;
                }
                let open = || (Group::new(patch, count), Found::default());
                parallel::chunks(&mut parts, 1, threads, open, |i, part, (group, found)| {
                    let (slice, rows) = some[i];
                    let rows = rows.chunks(rows_at_once).nth(first / rows_at_once);
                    let (rows, columns) = (rows.unwrap_or_default(), &columns[..]);
                    let sums = &mut part[0];
                    let band = Band {
                        pass: self,
                        search,
                        input,
                        slice,
                        rows,
                        columns,
                        group,
                        found,
                        sums,
                    };
                    f32::dispatch(Level::detect(), band);
                });
            }
            add(&parts, &mut sums, &mut weights);
            if !goes_on {
                break;
            }
        }
        average(sums, &weights, uncovered)
    }

    /// Working memory in bytes besides the image and the guide: the result, the weights, and what
    /// the threads have at a time.
    pub(crate) fn memory(&self, channels: usize, threads: usize) -> u64 {
        let Search { size: [depth, height, width], patch, window, count } = self.search;
        let rows = (BAND * self.step[1] + 2 * window[1] + patch[1]).min(height);
        let slices = (2 * window[0] + patch[0]).min(depth);
        let part = BANDS_PER_THREAD * slices * rows * width;
        let planes = 2 * channels * (depth * height * width + parallel::count(threads) * part);
        let group = Group::memory(patch.iter().product(), count);
        (planes * size_of::<f32>()) as u64 + parallel::count(threads) as u64 * group
    }
}

/// Sums by their weights; the other samples where the weight is 0.
fn average(mut sums: Vec<f32>, weights: &[f32], others: &[f32]) -> Vec<f32> {
    for ((sum, weight), sample) in sums.iter_mut().zip(weights).zip(others) {
        *sum = if *weight > 0.0 { *sum / weight } else { *sample };
    }
    sums
}

/// Places from 0 to `last` at this distance; always including `last`.
fn reference_positions(last: usize, step: usize) -> Vec<usize> {
    (0..last).step_by(step).chain([last]).collect()
}
