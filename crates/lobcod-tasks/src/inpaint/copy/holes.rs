//! The holes that content is copied into.

use crate::components::components;
use crate::inpaint::params::Fill;
use crate::rectangle::Rectangle;
use lobcod::{Real, Signal};

/// Distance from known pixels, in pixels, beyond which atoms give a smudge.
const DEEP: usize = 6;
/// Distance up to which the surroundings of a hole are judged.
const AROUND: usize = 12;
/// The surroundings must have details of at least this fraction of the standard deviation of the
/// image; smooth surroundings are continued smoothly.
const DETAILED: f64 = 0.08;
/// Largest hole, in pixels: the time is proportional to it.
const LARGEST: usize = 1 << 18;

/// A connected hole.
pub struct Hole {
    pub pixels: Vec<usize>,
    pub bounds: Rectangle,
    /// Largest distance of one of its pixels from a known one.
    pub depth: usize,
}

/// The holes to copy into: with [`Fill::Copy`] all that are deep enough for it to make a
/// difference, with [`Fill::Auto`] those of them whose surroundings have details.
pub fn find<T: Real>(
    fill: Fill,
    signal: &Signal<T>,
    hidden: &[bool],
    size: [usize; 2],
) -> Vec<Hole> {
    let depth = depths(hidden, size);
    let wanted = |hole: &Hole| match fill {
        Fill::Model => false,
        Fill::Copy => hole.depth > 1,
        Fill::Auto => {
            hole.depth > DEEP
                && hole.pixels.len() <= LARGEST
                && has_details(hole, signal, hidden, size)
        }
    };
    connected(hidden, &depth, size).into_iter().filter(wanted).collect()
}

/// Whether a pixel or one of its eight neighbours is known; pixels at the border of the image too
/// if all neighbours are missing.
pub fn touches(hidden: &[bool], i: usize, [height, width]: [usize; 2]) -> bool {
    let (y, x) = (i / width, i % width);
    (y.saturating_sub(1)..(y + 2).min(height))
        .any(|v| (x.saturating_sub(1)..(x + 2).min(width)).any(|u| !hidden[v * width + u]))
}

/// Distance of every pixel from the nearest known one, in steps to one of eight neighbours.
fn depths(hidden: &[bool], [height, width]: [usize; 2]) -> Vec<u16> {
    let mut depth: Vec<u16> = hidden.iter().map(|&h| if h { u16::MAX } else { 0 }).collect();
    let mut relax = |i: usize, steps: [[isize; 2]; 4]| {
        let (y, x) = ((i / width) as isize, (i % width) as isize);
        for [dy, dx] in steps {
            let (v, u) = (y + dy, x + dx);
            if (0..height as isize).contains(&v) && (0..width as isize).contains(&u) {
                let near = depth[v as usize * width + u as usize];
                depth[i] = depth[i].min(near.saturating_add(1));
            }
        }
    };
    for i in (0..hidden.len()).filter(|&i| hidden[i]) {
        relax(i, [[0, -1], [-1, -1], [-1, 0], [-1, 1]]);
    }
    for i in (0..hidden.len()).rev().filter(|&i| hidden[i]) {
        relax(i, [[0, 1], [1, 1], [1, 0], [1, -1]]);
    }
    depth
}

fn connected(hidden: &[bool], depth: &[u16], size: [usize; 2]) -> Vec<Hole> {
    components(hidden, size)
        .into_iter()
        .map(|hole| Hole {
            depth: hole.pixels.iter().map(|&i| depth[i]).max().unwrap_or(0).into(),
            pixels: hole.pixels,
            bounds: hole.bounds,
        })
        .collect()
}

/// Whether the known pixels around a hole have details.
fn has_details<T: Real>(
    hole: &Hole,
    signal: &Signal<T>,
    hidden: &[bool],
    [height, width]: [usize; 2],
) -> bool {
    let image = signal.channel(0);
    // Second differences are the details that a smooth continuation lacks.
    let mut sum = (0.0, 0.0);
    for i in hole.bounds.widened(AROUND, [height, width]).pixels(width) {
        let (y, x) = (i / width, i % width);
        for step in [1, width] {
            let inside = if step == 1 { x > 0 && x + 1 < width } else { y > 0 && y + 1 < height };
            if inside && !hidden[i] && !hidden[i - step] && !hidden[i + step] {
                let [a, b, c] = [i - step, i, i + step].map(|i| image[i].to_f64());
                sum = (sum.0 + (b - 0.5 * (a + c)).powi(2), sum.1 + 1.0);
            }
        }
    }
    let known = || image.iter().zip(hidden).filter(|(_, h)| !**h).map(|(x, _)| x.to_f64());
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let variance = known().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    sum.1 > 0.0 && sum.0 / sum.1 > DETAILED.powi(2) * variance
}
