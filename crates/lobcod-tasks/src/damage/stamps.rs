//! Printed dates: a row of glowing orange or red glyphs near the lower or upper edge.

use crate::components::{Component, components};
use crate::morphology::{dilate, erode};
use lobcod::Signal;

/// Parts of the height that are searched, from the lower and the upper edge.
const LOWER: f32 = 0.25;
const UPPER: f32 = 0.12;
/// Least brightness of a glyph, and least difference from its surroundings, as fractions of white.
const BRIGHT: f32 = 0.67;
const GLOW: f32 = 0.16;
/// Least saturation, and the range of hues in degrees from red.
const SATURATION: f32 = 0.5;
const HUES: [f32; 2] = [-16.0, 56.0];
/// Fewest glyphs of a date.
const GLYPHS: usize = 3;
/// Largest height of a row, as a fraction of the height of the image.
const TALLEST: f32 = 0.1;
/// Least ratio of the width of a row to its height, and the range of the fraction that glyphs
/// cover.
const LONG: f32 = 2.5;
const COVERED: [f32; 2] = [0.05, 0.6];

/// The pixels of every date; none in grey images.
pub fn find(image: &Signal<f32>, white: f32, radius: usize, threads: usize) -> Vec<Vec<usize>> {
    if image.channels() != 3 {
        return Vec::new();
    }
    let [_, height, width] = image.extent().padded();
    let size = [height, width];
    let [red, green, blue] = [0, 1, 2].map(|c| image.channel(c));
    let wide = 2 * radius + 1;
    let opened = dilate(&erode(red, size, wide, threads), size, wide, threads);
    let glows = |i: usize| {
        let row = (i / width) as f32 / height as f32;
        let (r, low) = (red[i], green[i].min(blue[i]));
        let hue = 60.0 * (green[i] - blue[i]) / (r - low).max(f32::MIN_POSITIVE);
        !(UPPER..=1.0 - LOWER).contains(&row)
            && r > BRIGHT * white
            && r - opened[i] > GLOW * white
            && r - low > SATURATION * r
            && (HUES[0]..=HUES[1]).contains(&hue)
    };
    let glyphs: Vec<bool> = (0..height * width).map(glows).collect();
    // Glyphs of one row are close to each other.
    let spread: Vec<f32> = glyphs.iter().map(|&g| f32::from(u8::from(g))).collect();
    let joined = dilate(&spread, size, (width / 80).max(4), threads);
    let joined: Vec<bool> = joined.iter().map(|&x| x > 0.0).collect();
    let date = |row: Component| -> Option<Vec<usize>> {
        let pixels: Vec<usize> = row.pixels.into_iter().filter(|&i| glyphs[i]).collect();
        is_date(&pixels, size).then_some(pixels)
    };
    components(&joined, size).into_iter().filter_map(date).collect()
}

/// Whether glyphs form a row.
fn is_date(pixels: &[usize], [height, width]: [usize; 2]) -> bool {
    let rows = || pixels.iter().map(|i| i / width);
    let columns = || pixels.iter().map(|i| i % width);
    let (Some(top), Some(bottom)) = (rows().min(), rows().max()) else { return false };
    let (Some(left), Some(right)) = (columns().min(), columns().max()) else { return false };
    let size = [bottom + 1 - top, right + 1 - left];
    let mut set = vec![false; size[0] * size[1]];
    pixels.iter().for_each(|i| set[(i / width - top) * size[1] + i % width - left] = true);
    let [tall, wide] = size.map(|n| n as f32);
    let covered = pixels.len() as f32 / (tall * wide);
    tall <= TALLEST * height as f32
        && wide >= LONG * tall
        && (COVERED[0]..=COVERED[1]).contains(&covered)
        && components(&set, size).len() >= GLYPHS
}
