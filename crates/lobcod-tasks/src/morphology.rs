//! Morphology of planes: the largest and the smallest value near every sample.

use lobcod::parallel;

/// The largest value in a box of `2 radius + 1` samples around every sample.
pub(crate) fn dilate(plane: &[f32], size: [usize; 2], radius: usize, threads: usize) -> Vec<f32> {
    extremes(plane, size, radius, threads, f32::max)
}

/// The smallest value in a box of `2 radius + 1` samples around every sample.
pub(crate) fn erode(plane: &[f32], size: [usize; 2], radius: usize, threads: usize) -> Vec<f32> {
    extremes(plane, size, radius, threads, f32::min)
}

fn extremes(
    plane: &[f32],
    [height, width]: [usize; 2],
    radius: usize,
    threads: usize,
    better: impl Fn(f32, f32) -> f32 + Sync,
) -> Vec<f32> {
    let near = |k: usize, n: usize| k.saturating_sub(radius)..(k + radius + 1).min(n);
    let mut across = plane.to_vec();
    parallel::chunks(
        &mut across,
        width,
        threads,
        || (),
        |y, line, ()| {
            let from = &plane[y * width..(y + 1) * width];
            for (x, value) in line.iter_mut().enumerate() {
                *value = from[near(x, width)].iter().fold(*value, |a, &b| better(a, b));
            }
        },
    );
    let mut both = across.clone();
    parallel::chunks(
        &mut both,
        width,
        threads,
        || (),
        |y, line, ()| {
            for row in near(y, height) {
                let from = &across[row * width..(row + 1) * width];
                line.iter_mut().zip(from).for_each(|(a, &b)| *a = better(*a, b));
            }
        },
    );
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_grows_to_a_box_and_a_box_shrinks_to_a_point() {
        let size = [7, 9];
        let mut point = vec![0.0; 63];
        point[3 * 9 + 1] = 5.0;
        let grown = dilate(&point, size, 2, 2);
        let inside = |i: usize| (1..=5).contains(&(i / 9)) && i % 9 <= 3;
        assert!((0..63).all(|i| grown[i] == if inside(i) { 5.0 } else { 0.0 }));
        // At the border, only samples inside count.
        let shrunk = erode(&grown, size, 2, 1);
        assert!((0..63).all(|i| shrunk[i] == if i / 9 == 3 && i % 9 <= 1 { 5.0 } else { 0.0 }));
    }
}
