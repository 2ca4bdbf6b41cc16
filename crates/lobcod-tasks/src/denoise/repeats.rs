//! Texture that comes again nearby, which noise never does.

use super::blocks::Blocks;

/// Side of the compared patches, and the distance up to which one is searched again.
const SIDE: usize = 16;
const FARTHEST: usize = 40;
/// Number of patches, among this fraction of the smoothest blocks.
const PATCHES: usize = 25;
const SMOOTHEST: f64 = 0.02;
/// Largest distance of a patch that comes again, in units of that of independent noise.
const SAME: f32 = 0.1;

/// Whether most of the smoothest patches of a channel come again nearby.
pub(super) fn repeats(samples: &[f32], [height, width]: [usize; 2]) -> bool {
    if height.min(width) < 2 * SIDE {
        return false;
    }
    let blocks = Blocks::new(samples, [height, width]);
    let energies = |clipped: [Option<f32>; 2]| -> Vec<(f32, usize)> {
        let shown = blocks.corners().iter().filter(|&&corner| blocks.shows_noise(corner, clipped));
        shown.map(|&i| (blocks.transform(i).energy[1..].iter().sum(), i)).collect()
    };
    let mut smoothest = energies(blocks.clipped_values());
    if smoothest.len() < PATCHES {
        // Black on white: every block has a clipped value.
        smoothest = energies([None; 2]);
    }
    if smoothest.len() < PATCHES {
        return false;
    }
    smoothest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = PATCHES.max((SMOOTHEST * smoothest.len() as f64) as usize);
    let chosen = (0..PATCHES).map(|k| smoothest[k * count / PATCHES].1);
    let image = Image { samples, width };
    let again = chosen.filter(|corner| {
        let y = (corner / width).min(height - SIDE);
        let x = (corner % width).min(width - SIDE);
        image.nearest([y, x], height) < SAME
    });
    2 * again.count() > PATCHES
}

struct Image<'a> {
    samples: &'a [f32],
    width: usize,
}

impl Image<'_> {
    fn row(&self, [y, x]: [usize; 2], row: usize) -> &[f32] {
        &self.samples[(y + row) * self.width + x..][..SIDE]
    }

    fn mean(&self, at: [usize; 2]) -> f32 {
        (0..SIDE).flat_map(|row| self.row(at, row)).sum::<f32>() / (SIDE * SIDE) as f32
    }

    /// Smallest distance to another patch nearby, apart from the mean, in units of the distance of
    /// independent noise with the variance of this one.
    fn nearest(&self, at: [usize; 2], height: usize) -> f32 {
        let mean = self.mean(at);
        let own: Vec<f32> = (0..SIDE).flat_map(|row| self.row(at, row)).map(|x| x - mean).collect();
        let energy: f32 = own.iter().map(|x| x * x).sum();
        let range = |a: usize, end: usize| {
            at[a].saturating_sub(FARTHEST)..(at[a] + FARTHEST + 1).min(end - SIDE + 1)
        };
        let mut least = f32::INFINITY;
        for y in range(0, height) {
            for x in range(1, self.width) {
                if y.abs_diff(at[0]) < SIDE && x.abs_diff(at[1]) < SIDE {
                    continue;
                }
                let mean = self.mean([y, x]);
                let mut distance = 0.0;
                for (row, own) in own.chunks_exact(SIDE).enumerate() {
                    let other = self.row([y, x], row);
                    distance +=
                        own.iter().zip(other).map(|(a, b)| (a - b + mean).powi(2)).sum::<f32>();
                    if distance >= least {
                        break;
                    }
                }
                least = least.min(distance);
            }
        }
        least / (2.0 * energy).max(f32::MIN_POSITIVE)
    }
}
