//! Colours in which one channel tells little about another.

use crate::real::Real;
use crate::signal::Signal;

/// Red, green and blue turned into brightness and two differences, without changing distances.
///
/// Edges of natural pictures stand mostly in the brightness; the differences are smooth and cost few codes. A one-channel dictionary
/// codes each of the three by itself.
pub(super) struct Opponent;

impl Opponent {
    /// Orthonormal: its transpose turns back.
    fn matrix() -> [[f64; 3]; 3] {
        let (a, b, c) = (1.0 / 3f64.sqrt(), 1.0 / 2f64.sqrt(), 1.0 / 6f64.sqrt());
        [[a, a, a], [b, 0.0, -b], [c, -2.0 * c, c]]
    }

    /// Brightness and differences of a picture.
    pub(super) fn of_rgb<T: Real>(picture: &Signal<T>) -> Signal<T> {
        turned(picture, |to, from| Self::matrix()[to][from])
    }

    /// The picture of brightness and differences.
    pub(super) fn to_rgb<T: Real>(picture: &Signal<T>) -> Signal<T> {
        turned(picture, |to, from| Self::matrix()[from][to])
    }
}

fn turned<T: Real>(picture: &Signal<T>, share: impl Fn(usize, usize) -> f64) -> Signal<T> {
    let volume = picture.extent().volume();
    let mut out = Signal::zeros(picture.extent(), 3);
    for (to, channel) in out.data_mut().chunks_exact_mut(volume).enumerate() {
        for (i, sample) in channel.iter_mut().enumerate() {
            *sample = T::from_f64((0..3).map(|from| share(to, from) * picture.channel(from)[i].to_f64()).sum());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent::Extent;

    #[test]
    fn colours_come_back_and_grey_has_brightness_only() {
        let extent = Extent::new(&[2]).unwrap();
        let picture = Signal::from_planar(extent, 3, vec![1.0f64, 7.0, 2.0, 7.0, 4.0, 7.0]).unwrap();
        let turned = Opponent::of_rgb(&picture);
        assert!((turned.channel(0)[1] - 7.0 * 3f64.sqrt()).abs() < 1e-12);
        assert!(turned.channel(1)[1].abs() < 1e-12 && turned.channel(2)[1].abs() < 1e-12);
        let back = Opponent::to_rgb(&turned);
        assert!(back.data().iter().zip(picture.data()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
