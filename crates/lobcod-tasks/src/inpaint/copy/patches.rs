//! Distances of patches.

/// Half the side of a patch without its centre, and its side.
pub const RADIUS: usize = 3;
pub const SIDE: usize = 2 * RADIUS + 1;

/// Sum of squared differences of the patches around two pixels; ends early above `limit`.
pub fn distance(
    data: &[f32],
    width: usize,
    channels: usize,
    a: usize,
    b: usize,
    limit: f32,
) -> f32 {
    let length = SIDE * channels;
    let first = |i: usize| (i - RADIUS * width - RADIUS) * channels;
    let (a, b) = (first(a), first(b));
    let mut sum = 0.0;
    for row in 0..SIDE {
        let start = row * width * channels;
        let (x, y) = (&data[a + start..][..length], &data[b + start..][..length]);
        sum += x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f32>();
        if sum > limit {
            break;
        }
    }
    sum
}
