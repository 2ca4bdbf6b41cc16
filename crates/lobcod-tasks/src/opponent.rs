//! Opponent colours: brightness and two differences, which are weakly correlated.

use lobcod::{Real, Signal};

/// Orthonormal: the transpose is the inverse.
fn matrix() -> [[f64; 3]; 3] {
    let a = 1.0 / 3f64.sqrt();
    let b = 1.0 / 2f64.sqrt();
    let c = 1.0 / 6f64.sqrt();
    [[a, a, a], [b, 0.0, -b], [c, -2.0 * c, c]]
}

/// Converts red, green and blue to brightness and two differences, by an orthonormal transform,
/// which preserves noise.
///
/// Edges are mostly in the brightness; the differences are smooth and need few codes.
pub fn opponent_of_rgb<T: Real>(image: &Signal<T>) -> Signal<T> {
    transformed(image, |to, from| matrix()[to][from])
}

/// Converts brightness and differences back to red, green and blue.
pub fn rgb_of_opponent<T: Real>(opponent: &Signal<T>) -> Signal<T> {
    transformed(opponent, |to, from| matrix()[from][to])
}

fn transformed<T: Real>(image: &Signal<T>, entry: impl Fn(usize, usize) -> f64) -> Signal<T> {
    let volume = image.extent().volume();
    let mut out = Signal::zeros(image.extent(), 3);
    for (to, channel) in out.data_mut().chunks_exact_mut(volume).enumerate() {
        for (i, sample) in channel.iter_mut().enumerate() {
            *sample = T::from_f64(
                (0..3).map(|from| entry(to, from) * image.channel(from)[i].to_f64()).sum(),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::Extent;

    #[test]
    fn colours_round_trip_and_grey_has_only_brightness() {
        let extent = Extent::new(&[2]).unwrap();
        let image = Signal::from_planar(extent, 3, vec![1.0f64, 7.0, 2.0, 7.0, 4.0, 7.0]).unwrap();
        let transformed = opponent_of_rgb(&image);
        assert!((transformed.channel(0)[1] - 7.0 * 3f64.sqrt()).abs() < 1e-12);
        assert!(transformed.channel(1)[1].abs() < 1e-12 && transformed.channel(2)[1].abs() < 1e-12);
        let back = rgb_of_opponent(&transformed);
        assert!(back.data().iter().zip(image.data()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
