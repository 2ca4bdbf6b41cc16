//! Path openings: the length of the longest nearly straight path through every pixel of a set.

/// Length of the longest path of pixels of the set through every pixel, 0 outside the set. A path
/// advances by one column (or one row) per step and moves sideways by at most one pixel.
pub fn path_lengths(set: &[bool], size: [usize; 2]) -> Vec<u32> {
    let across = along_rows(set, size);
    let turned = along_rows(&transpose(set, size), [size[1], size[0]]);
    let down = transpose(&turned, [size[1], size[0]]);
    across.iter().zip(down).map(|(&a, d)| a.max(d)).collect()
}

/// Paths from the left to the right edge.
fn along_rows(set: &[bool], [height, width]: [usize; 2]) -> Vec<u32> {
    let sweep = |columns: &mut dyn Iterator<Item = usize>| {
        let mut lengths = vec![0u32; set.len()];
        let mut before = vec![0u32; height];
        for x in columns {
            let longest = |y: usize| {
                let near = y.saturating_sub(1)..(y + 2).min(height);
                before[near].iter().copied().max().unwrap_or(0)
            };
            let now: Vec<u32> =
                (0..height).map(|y| if set[y * width + x] { longest(y) + 1 } else { 0 }).collect();
            now.iter().enumerate().for_each(|(y, &n)| lengths[y * width + x] = n);
            before = now;
        }
        lengths
    };
    let (forwards, backwards) = (sweep(&mut (0..width)), sweep(&mut (0..width).rev()));
    forwards.iter().zip(backwards).map(|(&f, b)| (f + b).saturating_sub(1)).collect()
}

fn transpose<T: Copy>(data: &[T], [height, width]: [usize; 2]) -> Vec<T> {
    (0..width).flat_map(|x| (0..height).map(move |y| data[y * width + x])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bent_line_is_one_path_and_a_block_is_as_long_as_its_side() {
        let size = [12, 30];
        let line = |y: usize, x: usize| y == 2 + x / 5;
        let block = |y: usize, x: usize| y >= 9 && x < 3;
        let set: Vec<bool> =
            (0..360).map(|i| line(i / 30, i % 30) || block(i / 30, i % 30)).collect();
        for (i, length) in path_lengths(&set, size).into_iter().enumerate() {
            let expected = if line(i / 30, i % 30) {
                30
            } else if block(i / 30, i % 30) {
                3
            } else {
                0
            };
            assert_eq!(length, expected, "{i}");
        }
    }
}
