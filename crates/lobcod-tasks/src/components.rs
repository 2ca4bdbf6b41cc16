//! Connected parts of a set of pixels.

/// The pixels of a part, with its bounding box.
pub struct Part {
    pub pixels: Vec<usize>,
    /// First row and column.
    pub start: [usize; 2],
    /// Height and width.
    pub size: [usize; 2],
}

impl Part {
    /// Length of the diagonal of the bounding box.
    pub fn diagonal(&self) -> f32 {
        (self.size[0] as f32).hypot(self.size[1] as f32)
    }
}

/// The parts of a set, in which pixels are connected to their eight neighbours; in the order of
/// their first pixels.
pub fn parts(set: &[bool], [height, width]: [usize; 2]) -> Vec<Part> {
    let mut left = set.to_vec();
    let mut parts = Vec::new();
    for first in 0..set.len() {
        if !left[first] {
            continue;
        }
        left[first] = false;
        let mut pixels = vec![first];
        let (mut low, mut high) = ([height, width], [0, 0]);
        let mut next = 0;
        while let Some(&i) = pixels.get(next) {
            next += 1;
            let at = [i / width, i % width];
            low = [0, 1].map(|a| low[a].min(at[a]));
            high = [0, 1].map(|a| high[a].max(at[a] + 1));
            for y in at[0].saturating_sub(1)..(at[0] + 2).min(height) {
                for x in at[1].saturating_sub(1)..(at[1] + 2).min(width) {
                    if std::mem::take(&mut left[y * width + x]) {
                        pixels.push(y * width + x);
                    }
                }
            }
        }
        parts.push(Part { pixels, start: low, size: [0, 1].map(|a| high[a] - low[a]) });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonal_neighbours_belong_together() {
        let rows = ["x..xx.", "..x.x.", "....x."].concat();
        let set: Vec<bool> = rows.chars().map(|c| c == 'x').collect();
        let found = parts(&set, [3, 6]);
        assert_eq!(found.iter().map(|p| p.pixels.len()).collect::<Vec<_>>(), [1, 5]);
        assert_eq!((found[1].start, found[1].size), ([0, 2], [3, 3]));
    }
}
