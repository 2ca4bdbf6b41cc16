//! Synthetic images for examples, demonstrations and tests.
//!
//! A still life: a potted plant and an orange on a striped cloth, with smooth shading, sharp edges,
//! oriented stripes, fine weave and foliage.

mod focus;

pub use focus::focus_pair;

use lobcod::{Extent, Result, Signal};
use std::f64::consts::PI;

type Colour = [f64; 3];
type Point = [f64; 2];

/// Samples per pixel along each axis, for antialiasing.
const SUBPIXELS: usize = 3;

/// The image, `size` x `size` pixels in three channels, integers from 0 to 255.
pub fn still_life(size: usize) -> Result<Signal<f32>> {
    let leaves = foliage();
    let pixel =
        |i| averaged(size, i, |at| orange(at).unwrap_or_else(|| colour_behind(at, &leaves)));
    let pixels = whole_numbers((0..size * size).map(pixel));
    Signal::from_interleaved(Extent::new(&[size, size])?, 3, &pixels)
}

/// The mean over pixel `i`.
fn averaged<const N: usize>(size: usize, i: usize, look: impl Fn(Point) -> [f64; N]) -> [f64; N] {
    let mut sum = [0.0; N];
    for k in 0..SUBPIXELS * SUBPIXELS {
        let within = |j: usize| (j as f64 + 0.5) / SUBPIXELS as f64;
        let at = [
            ((i % size) as f64 + within(k % SUBPIXELS)) / size as f64,
            ((i / size) as f64 + within(k / SUBPIXELS)) / size as f64,
        ];
        let seen = look(at);
        sum.iter_mut().zip(seen).for_each(|(sum, part)| *sum += part);
    }
    sum.map(|part| part * (1.0 / (SUBPIXELS * SUBPIXELS) as f64))
}

/// Converts colours from 0..1 to integers from 0 to 255.
fn whole_numbers(colours: impl Iterator<Item = Colour>) -> Vec<f32> {
    colours.flat_map(|colour| colour.map(|c| (255.0 * c.clamp(0.0, 1.0)).round() as f32)).collect()
}

/// The same image in grey: the mean of its channels.
///
/// ```
/// assert_eq!(lobcod_tasks::synthetic::grey_still_life(16)?.channels(), 1);
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn grey_still_life(size: usize) -> Result<Signal<f32>> {
    let image = still_life(size)?;
    let [red, green, blue] = [0, 1, 2].map(|c| image.channel(c));
    let grey = (0..size * size).map(|i| (red[i] + green[i] + blue[i]) / 3.0).collect();
    Signal::from_planar(image.extent(), 1, grey)
}

/// The colour at a point of the unit square without the orange, nearest object first.
fn colour_behind(at: Point, leaves: &[Leaf]) -> Colour {
    let leaf = leaves.iter().find_map(|leaf| leaf.colour(at));
    leaf.or_else(|| pot(at)).or_else(|| cloth(at)).unwrap_or_else(|| wall(at))
}

/// Plaster lit through a window, with the edge of a shadow.
fn wall([x, y]: Point) -> Colour {
    let light = 0.93 - 0.28 * y - 0.12 * x;
    let shade = if x + 0.55 * y > 0.92 { 0.66 } else { 1.0 };
    scale([0.95, 0.88, 0.74], light * shade)
}

/// Striped linen with folds that run towards the viewer.
fn cloth([x, y]: Point) -> Option<Colour> {
    if !is_cloth([x, y]) {
        return None;
    }
    // Nearer to the viewer the same cloth covers more of the image.
    let depth = 1.0 / (y - 0.28);
    let across = (x - 0.45) * depth + 0.05 * (5.0 * depth).sin();
    let stripe = (2.0 * PI * 4.5 * across).sin();
    let paint = if stripe > 0.35 {
        [0.72, 0.16, 0.17]
    } else if stripe < -0.72 {
        [0.17, 0.25, 0.47]
    } else {
        [0.94, 0.90, 0.82]
    };
    let fold = 0.84 + 0.16 * (7.0 * across + 1.4 * (4.0 * y).sin()).sin();
    let weave = 1.0 + 0.05 * (2.0 * PI * 42.0 * across).sin() * (2.0 * PI * 13.0 * depth).sin();
    let shadow = |centre: Point, width: f64| {
        let d = ((x - centre[0]) / width).powi(2) + ((y - centre[1]) / (0.28 * width)).powi(2);
        1.0 - 0.6 * (-1.2 * d * d).exp()
    };
    Some(scale(paint, fold * weave * shadow([0.79, 0.81], 0.17) * shadow([0.39, 0.80], 0.17)))
}

/// Whether a point is below the hem of the cloth.
fn is_cloth([x, y]: Point) -> bool {
    y >= 0.64 + 0.012 * (9.0 * x).sin()
}

/// A fruit lit from the upper left, with fine pores.
fn orange([x, y]: Point) -> Option<Colour> {
    let (u, v) = ((x - 0.74) / 0.13, (y - 0.69) / 0.13);
    let depth = 1.0 - u * u - v * v;
    if depth < 0.0 {
        return None;
    }
    let facing = (-0.55 * u - 0.60 * v + 0.58 * depth.sqrt()).max(0.0);
    let pores = 1.0 + 0.03 * (61.0 * u + 9.0 * v).sin() * (57.0 * v - 13.0 * u).sin();
    let gleam = 0.5 * facing.powi(40);
    Some(add(scale([1.0, 0.56, 0.12], (0.22 + 0.80 * facing) * pores), [gleam; 3]))
}

/// A clay pot with a rim.
fn pot([x, y]: Point) -> Option<Colour> {
    let rim = (0.56..0.605).contains(&y);
    let half_width = if rim { 0.128 } else { 0.115 - 0.16 * (y - 0.605) };
    let bottom = 0.79 + 0.018 * (1.0 - ((x - 0.30) / 0.1).powi(2)).max(0.0);
    let u = (x - 0.30) / half_width;
    if !(0.56..bottom).contains(&y) || u.abs() > 1.0 {
        return None;
    }
    let round = (1.0 - u * u).sqrt();
    let under_rim = if (0.605..0.62).contains(&y) { 0.72 } else { 1.0 };
    Some(scale([0.80, 0.40, 0.26], under_rim * (0.30 + 0.62 * (0.75 * round - 0.42 * u).max(0.0))))
}

/// One leaf: a pointed oval with a pale midrib.
struct Leaf {
    centre: Point,
    direction: Point,
    length: f64,
    paint: Colour,
}

impl Leaf {
    fn colour(&self, at: Point) -> Option<Colour> {
        let [dx, dy] = [at[0] - self.centre[0], at[1] - self.centre[1]];
        let along = (dx * self.direction[0] + dy * self.direction[1]) / self.length;
        let aside = (dy * self.direction[0] - dx * self.direction[1]) / self.length;
        let half_width = 0.34 * (1.0 - along * along);
        if along.abs() >= 1.0 || aside.abs() > half_width {
            return None;
        }
        let rib = if aside.abs() < 0.035 { 1.35 } else { 1.0 };
        let veins = 1.0 + 0.10 * (24.0 * (along - aside.abs())).sin();
        Some(scale(self.paint, rib * veins * (1.0 + 0.55 * aside / 0.34)))
    }
}

/// Leaves of the plant, the front ones first.
fn foliage() -> Vec<Leaf> {
    let mut state = 20_u64;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut leaf = |i: usize| {
        let (turn, distance) = (2.0 * PI * draw(), draw().sqrt());
        let centre = [0.30 + 0.23 * distance * turn.cos(), 0.34 + 0.23 * distance * turn.sin()];
        // Leaves point roughly away from the pot.
        let tilt = (centre[1] - 0.62).atan2(centre[0] - 0.30) + 1.4 * (draw() - 0.5);
        let light = (0.42 + 0.75 * (1.0 - i as f64 / 150.0))
            * (1.10 - 0.55 * (centre[0] + centre[1] - 0.35));
        let paint = scale([0.30 + 0.16 * draw(), 0.56, 0.18 + 0.10 * draw()], light);
        Leaf { centre, direction: [tilt.cos(), tilt.sin()], length: 0.038 + 0.028 * draw(), paint }
    };
    (0..150).map(&mut leaf).collect()
}

fn scale(colour: Colour, by: f64) -> Colour {
    colour.map(|c| c * by)
}

fn add(a: Colour, b: Colour) -> Colour {
    std::array::from_fn(|i| a[i] + b[i])
}
