//! Connected components of a set of pixels.

use crate::rectangle::Rectangle;

/// Connected pixels and their bounding box.
pub struct Component {
    pub pixels: Vec<usize>,
    pub bounds: Rectangle,
}

/// The components of a set, in which pixels are connected to their eight neighbours; in the order
/// of their first pixels.
pub fn components(set: &[bool], [height, width]: [usize; 2]) -> Vec<Component> {
    let mut left = set.to_vec();
    let mut components = Vec::new();
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
        components.push(Component { pixels, bounds: Rectangle::between(low, high) });
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonal_neighbours_belong_together() {
        let rows = ["x..xx.", "..x.x.", "....x."].concat();
        let set: Vec<bool> = rows.chars().map(|c| c == 'x').collect();
        let found = components(&set, [3, 6]);
        assert_eq!(found.iter().map(|p| p.pixels.len()).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(found[1].bounds, Rectangle { start: [0, 2], size: [3, 3] });
    }
}
