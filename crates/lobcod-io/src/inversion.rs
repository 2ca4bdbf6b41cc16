//! Detection of masks that may be inverted.

use lobcod::{Mask, Real};

/// Pixels farther than this from every known one are deep inside a hole.
const DEEP: usize = 16;

impl<T: Real> crate::MaskFile<T> {
    /// Whether known and missing may be swapped: more than half of the image is missing, mostly far
    /// from anything known, and the known pixels form shapes. Random loss is never flagged,
    /// whatever its rate.
    pub fn may_be_inverted(&self) -> bool {
        may_be_inverted(&self.mask)
    }
}

fn may_be_inverted<T: Real>(mask: &Mask<T>) -> bool {
    let &[height, width] = mask.weights().extent().axes() else { return false };
    let known: Vec<bool> = mask.channel(0).iter().map(|w| *w > T::ZERO).collect();
    let missing = known.iter().filter(|k| !**k).count();
    if 2 * missing <= known.len() {
        return false;
    }
    let near = |i: usize, length: usize| i.saturating_sub(1)..(i + 2).min(length);
    let has_known_neighbour = |i: usize| {
        let (y, x) = (i / width, i % width);
        near(y, height).any(|row| {
            near(x, width).any(|column| (row, column) != (y, x) && known[row * width + column])
        })
    };
    let in_shapes = (0..known.len()).filter(|&i| known[i] && has_known_neighbour(i)).count();
    2 * in_shapes > known.len() - missing && 2 * count_deep(&known, height, width) > missing
}

/// Number of pixels whose Euclidean distance to every known pixel exceeds [`DEEP`].
fn count_deep(known: &[bool], height: usize, width: usize) -> usize {
    let columns = distances_in_columns(known, width);
    // A known pixel this many columns away is near enough if it is at most that many rows away.
    let rows: Vec<usize> = (0..=DEEP).map(|d| (DEEP * DEEP - d * d).isqrt()).collect();
    let is_deep = |y: usize, x: usize| {
        let first = x.saturating_sub(DEEP);
        let row = &columns[y * width + first..y * width + (x + DEEP + 1).min(width)];
        row.iter()
            .enumerate()
            .all(|(i, &distance)| usize::from(distance) > rows[(first + i).abs_diff(x)])
    };
    (0..height).map(|y| (0..width).filter(|&x| is_deep(y, x)).count()).sum()
}

/// Distance in rows to the nearest known pixel of the same column, at most [`DEEP`] + 1.
fn distances_in_columns(known: &[bool], width: usize) -> Vec<u8> {
    let far = DEEP as u8 + 1;
    let mut distances: Vec<u8> = known.iter().map(|k| if *k { 0 } else { far }).collect();
    for i in width..known.len() {
        distances[i] = distances[i].min(distances[i - width] + 1);
    }
    for i in (0..known.len().saturating_sub(width)).rev() {
        distances[i] = distances[i].min(distances[i + width] + 1);
    }
    distances
}
