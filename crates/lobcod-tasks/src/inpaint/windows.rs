//! Windows around the holes of an image, so that the cost follows the holes and not the image.
//!
//! Boxes around the missing samples are halved as long as that saves work. Each box gets a margin
//! of known samples, and the windows are laid side by side into one smaller image, a mosaic, which
//! is filled like any other: penalties and atoms are chosen for all windows together. Windows meet
//! in their margins, where nothing is filled.

use crate::rectangle::Rectangle;
use lobcod::{Extent, Mask, Real, Result, Signal};

/// Largest height of a box around holes, in margins.
const TALLEST: usize = 4;
/// A split must save this fraction of the samples.
const LEAST_GAIN: f64 = 0.1;
/// Mosaics larger than this fraction of the image are not worth their seams.
const WORTHWHILE: f64 = 0.5;
/// Largest number of samples of a mosaic of scattered windows: enough to choose its penalties, and
/// small in memory.
const LARGEST: usize = 1 << 19;

/// A rectangle made at least this long along an axis by more of the image around it.
fn lengthened(window: Rectangle, axis: usize, length: usize, image: [usize; 2]) -> Rectangle {
    let mut longer = window;
    longer.size[axis] = length.clamp(window.size[axis], image[axis]);
    let before = (longer.size[axis] - window.size[axis]) / 2;
    let last = image[axis] - longer.size[axis];
    longer.start[axis] = window.start[axis].saturating_sub(before).min(last);
    longer
}

/// A window, and its place in a mosaic.
#[derive(Clone, Copy, Debug)]
struct Tile {
    window: Rectangle,
    at: [usize; 2],
    /// The box whose holes are taken from this tile.
    core: Rectangle,
}

/// Windows of an image laid side by side, all parts of it.
#[derive(Clone, Debug)]
pub struct Mosaic {
    image: [usize; 2],
    size: [usize; 2],
    tiles: Vec<Tile>,
}

impl Mosaic {
    /// Mosaics of at most so many samples that hold all holes of an image; `None` if the image is
    /// better filled as a whole.
    pub fn around_holes<T: Real>(
        known: &Mask<T>,
        channels: usize,
        margin: usize,
        most_samples: usize,
    ) -> Option<Vec<Self>> {
        let extent = known.weights().extent();
        let [1, height, width] = extent.padded() else { return None };
        let (image, volume) = ([height, width], extent.volume());
        let hidden: Vec<bool> =
            (0..volume).map(|i| (0..channels).any(|c| known.channel(c)[i] == T::ZERO)).collect();
        let whole = Rectangle { start: [0, 0], size: image };
        let first = tight(&hidden, image, whole)?;
        let mut boxes = Vec::new();
        split(&hidden, image, margin, most_samples, first, &mut boxes);
        let total: usize = boxes.iter().map(|b| b.widened(margin, image).area()).sum();
        let worthwhile = total as f64 <= WORTHWHILE * volume as f64;
        if volume <= most_samples && !worthwhile {
            return None;
        }
        let most_samples = if worthwhile { most_samples.min(LARGEST) } else { most_samples };
        Some(pack(boxes, margin, image, most_samples))
    }

    /// Samples of the mosaic.
    pub fn extent(&self) -> Result<Extent> {
        Extent::new(&self.size)
    }

    /// The windows of a signal of the image's size.
    pub fn gather<T: Real>(&self, signal: &Signal<T>) -> Result<Signal<T>> {
        let volume = self.size[0] * self.size[1];
        let mut data = vec![T::ZERO; volume * signal.channels()];
        for (c, channel) in data.chunks_exact_mut(volume).enumerate() {
            self.rows(|from, to, length| {
                channel[to..to + length].copy_from_slice(&signal.channel(c)[from..from + length]);
            });
        }
        Signal::from_planar(self.extent()?, signal.channels(), data)
    }

    /// Writes the holes that belong to this mosaic into a signal of the image's size.
    pub fn paste<T: Real>(&self, filled: &Signal<T>, known: &Mask<T>, into: &mut Signal<T>) {
        let volume = self.image[0] * self.image[1];
        for c in 0..filled.channels() {
            let (source, weights) = (filled.channel(c), known.channel(c));
            for tile in &self.tiles {
                let width = self.image[1];
                for i in tile.core.pixels(width).filter(|&i| weights[i] == T::ZERO) {
                    let y = tile.at[0] + i / width - tile.window.start[0];
                    let x = tile.at[1] + i % width - tile.window.start[1];
                    into.data_mut()[c * volume + i] = source[y * self.size[1] + x];
                }
            }
        }
    }

    /// Calls `copy(from, to, length)` for every row of every window.
    fn rows(&self, mut copy: impl FnMut(usize, usize, usize)) {
        for Tile { window, at, .. } in &self.tiles {
            for row in 0..window.size[0] {
                let from = (window.start[0] + row) * self.image[1] + window.start[1];
                copy(from, (at[0] + row) * self.size[1] + at[1], window.size[1]);
            }
        }
    }
}

/// The smallest box around the holes within a window; `None` where there are none.
fn tight(hidden: &[bool], image: [usize; 2], window: Rectangle) -> Option<Rectangle> {
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for row in window.range(0) {
        let line = &hidden[row * image[1] + window.start[1]..row * image[1] + window.end(1)];
        let Some(first) = line.iter().position(|h| *h) else { continue };
        let last = line.iter().rposition(|h| *h).unwrap_or(first);
        low = [low[0].min(row), low[1].min(window.start[1] + first)];
        high = [row + 1, high[1].max(window.start[1] + last + 1)];
    }
    (low[0] != usize::MAX).then(|| Rectangle::between(low, high))
}

/// Halves a box around holes as long as that saves samples or the box is too large.
fn split(
    hidden: &[bool],
    image: [usize; 2],
    margin: usize,
    most_samples: usize,
    whole: Rectangle,
    boxes: &mut Vec<Rectangle>,
) {
    // Windows of similar height fill their shelves.
    let too_tall = whole.size[0] > TALLEST * margin;
    let axis = usize::from(whole.size[1] > whole.size[0] && !too_tall);
    let middle = whole.size[axis] / 2;
    let mut halves = Vec::new();
    if middle > 0 {
        let (mut before, mut behind) = (whole, whole);
        before.size[axis] = middle;
        behind.start[axis] += middle;
        behind.size[axis] -= middle;
        halves.extend([before, behind].into_iter().filter_map(|half| tight(hidden, image, half)));
    }
    let area = |b: &Rectangle| b.widened(margin, image).area();
    let too_large = area(&whole) > most_samples && whole.size[axis] > 2 * margin;
    let forced = too_large || too_tall;
    // Halving once may save nothing where halving twice does: a cross, for example.
    let mut parts = Vec::new();
    if forced || middle >= margin {
        for half in &halves {
            split(hidden, image, margin, most_samples, *half, &mut parts);
        }
    }
    let total: usize = parts.iter().map(area).sum();
    if !parts.is_empty() && (forced || total as f64 <= (1.0 - LEAST_GAIN) * area(&whole) as f64) {
        boxes.extend(parts);
    } else {
        boxes.push(whole);
    }
}

/// Lays windows on shelves, the tallest first. Windows are lengthened to fill their shelf.
fn pack(
    mut boxes: Vec<Rectangle>,
    margin: usize,
    image: [usize; 2],
    most_samples: usize,
) -> Vec<Mosaic> {
    let widened = |b: &Rectangle| b.widened(margin, image);
    boxes.sort_by_key(|b| std::cmp::Reverse(widened(b).size));
    let total: usize = boxes.iter().map(|b| widened(b).area()).sum();
    let widest = boxes.iter().map(|b| widened(b).size[1]).max().unwrap_or(1);
    let side = (total.min(most_samples) as f64).sqrt() as usize;
    let width = side.max(widest).min(image[1].max(widest));
    let mut mosaics = Vec::new();
    let mut shelves: Vec<Vec<Tile>> = Vec::new();
    let mut height = 0;
    let mut shelf: Vec<Tile> = Vec::new();
    for core in boxes {
        let window = widened(&core);
        let used: usize = shelf.iter().map(|tile| tile.window.size[1]).sum();
        if used + window.size[1] > width && !shelf.is_empty() {
            let rows = shelf[0].window.size[0];
            if height > 0 && (height + rows) * width > most_samples {
                mosaics.push(assemble(std::mem::take(&mut shelves), width, image));
                height = 0;
            }
            height += rows;
            shelves.push(std::mem::take(&mut shelf));
        }
        shelf.push(Tile { window, at: [0, 0], core });
    }
    if !shelf.is_empty() {
        if height > 0 && (height + shelf[0].window.size[0]) * width > most_samples {
            mosaics.push(assemble(std::mem::take(&mut shelves), width, image));
        }
        shelves.push(shelf);
    }
    mosaics.push(assemble(shelves, width, image));
    mosaics
}

/// Places the windows of every shelf side by side, lengthened until they fill the width.
fn assemble(shelves: Vec<Vec<Tile>>, width: usize, image: [usize; 2]) -> Mosaic {
    // A single shelf is as wide as its windows.
    let used = |shelf: &[Tile]| shelf.iter().map(|tile| tile.window.size[1]).sum::<usize>();
    let width = if shelves.len() == 1 { used(&shelves[0]) } else { width };
    let mut tiles = Vec::new();
    let mut top = 0;
    for mut shelf in shelves {
        let height = shelf.iter().map(|tile| tile.window.size[0]).max().unwrap_or(0);
        let mut spare = width - used(&shelf);
        for tile in &mut shelf {
            let old = tile.window.size[1];
            tile.window = lengthened(tile.window, 0, height, image);
            tile.window = lengthened(tile.window, 1, old + spare, image);
            spare -= tile.window.size[1] - old;
        }
        let mut left = 0;
        // Where even whole rows of the image do not fill the shelf, its last window comes again.
        while spare > 0 {
            let mut again = shelf[shelf.len() - 1];
            again.window.size[1] = again.window.size[1].min(spare);
            again.core.size = [0, 0];
            spare -= again.window.size[1];
            shelf.push(again);
        }
        for mut tile in shelf {
            tile.at = [top, left];
            left += tile.window.size[1];
            tiles.push(tile);
        }
        top += height;
    }
    debug_assert!(tiles.iter().all(|t| t.core.area() == 0 || t.window.contains(t.core.start)));
    Mosaic { image, size: [top, width], tiles }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: usize = 16;

    fn mask(size: [usize; 2], hole: impl Fn(usize, usize) -> bool) -> Mask<f32> {
        let known: Vec<bool> =
            (0..size[0] * size[1]).map(|i| !hole(i / size[1], i % size[1])).collect();
        Mask::from_known(Extent::new(&size).unwrap(), &known).unwrap()
    }

    /// Fills holes of a ramp with the ramp itself by way of mosaics, and gives their samples.
    fn round_trip(
        size: [usize; 2],
        most: usize,
        hole: impl Fn(usize, usize) -> bool,
    ) -> Option<usize> {
        let known = mask(size, &hole);
        let data: Vec<f32> = (0..size[0] * size[1]).map(|i| i as f32 + 1.0).collect();
        let truth = Signal::from_planar(Extent::new(&size).unwrap(), 1, data).unwrap();
        let mosaics = Mosaic::around_holes(&known, 1, MARGIN, most)?;
        let mut filled = Signal::zeros(truth.extent(), 1);
        let mut samples = 0;
        for mosaic in &mosaics {
            let laid = mosaic.gather(&truth).unwrap();
            assert!(
                laid.data().iter().all(|x| *x > 0.0),
                "every place of a mosaic is in the image"
            );
            assert!(mosaics.len() == 1 || laid.data().len() <= 2 * most, "{}", laid.data().len());
            samples += laid.data().len();
            mosaic.paste(&laid, &known, &mut filled);
        }
        for (i, (x, y)) in filled.data().iter().zip(truth.data()).enumerate() {
            let expected = if hole(i / size[1], i % size[1]) { *y } else { 0.0 };
            assert_eq!(*x, expected, "sample {i}");
        }
        Some(samples)
    }

    #[test]
    fn every_hole_comes_back_and_scratches_cost_little() {
        let size = [600, 800];
        let all = usize::MAX;
        let diagonal = round_trip(size, all, |y, x| x.abs_diff(y) < 2).unwrap();
        assert!(diagonal < 150_000, "{diagonal}");
        let spots = round_trip(size, all, |y, x| y % 300 == 7 && x % 390 == 3).unwrap();
        assert!(spots < 15_000, "{spots}");
        let cross = round_trip(size, all, |y, x| y / 2 == 100 || x / 2 == 200).unwrap();
        assert!(cross < 110_000, "{cross}");
        let corner = round_trip(size, all, |y, x| y + x < 5 || y + x > 1393).unwrap();
        assert!(corner < 6000, "{corner}");
    }

    #[test]
    fn loss_everywhere_is_filled_as_a_whole_within_the_limit() {
        let random = |y: usize, x: usize| (y * 7919 + x * 104_729) % 10 < 4;
        assert_eq!(round_trip([200, 200], usize::MAX, random), None);
        assert!(round_trip([200, 200], 15_000, random).unwrap() < 100_000);
        assert_eq!(round_trip([50, 50], usize::MAX, |_, _| false), None);
    }
}
