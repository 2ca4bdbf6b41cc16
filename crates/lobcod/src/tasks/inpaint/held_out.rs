//! The known samples that are held out: in the shapes of the holes where holes are rare, else one by one.
//!
//! What predicts lone samples well may fill scratches badly, so samples are held out in the shapes that are missing. Where much is
//! missing at random, shapes laid over the holes that are there would leave far less known than there is; lone samples judge better.

use super::params::InpaintParams;
use crate::extent::Extent;
use crate::real::Real;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fewer held-out samples than this judge nothing.
const LEAST: usize = 16;
/// Holes are rare up to this share of the samples.
const RARE: f64 = 0.3;
/// Half the side of the window in which the shape of a hole is copied.
const REACH: usize = 6;

/// Places of the samples to hold out: whole pixels, all channels of them that are known.
pub(super) fn choose<T: Real>(params: &InpaintParams, weights: &[T], extent: Extent) -> Vec<usize> {
    let volume = extent.volume();
    let channels = weights.len() / volume;
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let hidden: Vec<usize> = (0..volume).filter(|i| weights[*i] == T::ZERO).collect();
    let drawn = if !hidden.is_empty() && hidden.len() as f64 <= RARE * volume as f64 {
        shapes(&mut rng, &hidden, extent, (params.held_out * (volume - hidden.len()) as f64) as usize)
    } else {
        (0..volume).map(|_| rng.random::<f64>() < params.held_out).collect()
    };
    let held: Vec<usize> = (0..weights.len()).filter(|i| drawn[i % volume] && weights[*i] != T::ZERO).collect();
    let left = |channel: usize| (0..volume).any(|i| weights[channel * volume + i] != T::ZERO && !drawn[i]);
    let enough = held.len() >= LEAST && (0..channels).all(left);
    if enough { held } else { Vec::new() }
}

/// Copies of what is hidden around a hidden sample, laid elsewhere until they cover about as many samples as wanted.
fn shapes(rng: &mut ChaCha8Rng, hidden: &[usize], extent: Extent, wanted: usize) -> Vec<bool> {
    let [_, height, width] = extent.padded();
    let place = |i: usize| [i / (height * width), i / width % height, i % width];
    let mut holes = vec![false; extent.volume()];
    hidden.iter().for_each(|&i| holes[i] = true);
    let mut drawn = vec![false; holes.len()];
    let mut covered = 0;
    // Every copy covers at least one sample unless it falls on a hole, so this many suffice.
    for _ in 0..8 * wanted {
        if covered >= wanted {
            break;
        }
        let from = place(hidden[rng.random_range(0..hidden.len())]);
        let to = place(rng.random_range(0..holes.len()));
        for (a, b) in pairs(from, to, extent.padded()) {
            if holes[a] && !holes[b] && !drawn[b] {
                drawn[b] = true;
                covered += 1;
            }
        }
    }
    drawn
}

/// Samples around one place and those around another that correspond, as far as both lie inside.
fn pairs(from: [usize; 3], to: [usize; 3], size: [usize; 3]) -> impl Iterator<Item = (usize, usize)> {
    // Steps back and forth along an axis that stay inside at both places.
    let steps = |axis: usize| {
        let (a, b, n) = (from[axis], to[axis], size[axis]);
        let back = REACH.min(a).min(b);
        let forth = REACH.min(n - 1 - a).min(n - 1 - b);
        (0..=back + forth).map(move |s| (a - back + s, b - back + s))
    };
    let (rows, columns): (Vec<_>, Vec<_>) = (steps(1).collect(), steps(2).collect());
    let index = move |z: usize, y: usize, x: usize| (z * size[1] + y) * size[2] + x;
    steps(0).collect::<Vec<_>>().into_iter().flat_map(move |(za, zb)| {
        let columns = columns.clone();
        rows.clone()
            .into_iter()
            .flat_map(move |(ya, yb)| columns.clone().into_iter().map(move |(xa, xb)| (index(za, ya, xa), index(zb, yb, xb))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(extent: &[usize], known: impl Fn(usize) -> bool) -> Vec<usize> {
        let extent = Extent::new(extent).unwrap();
        let weights: Vec<f32> = (0..extent.volume()).map(|i| f32::from(u8::from(known(i)))).collect();
        let held = choose(&InpaintParams::default(), &weights, extent);
        assert!(held.iter().all(|&i| known(i)), "a hidden sample is held out");
        held
    }

    #[test]
    fn wide_scratches_are_judged_by_wide_scratches_and_lone_holes_by_lone_samples() {
        // Every fortieth column and the three after it are missing.
        let scratched = held(&[200, 200], |i| i % 40 >= 4);
        let beside = scratched.iter().filter(|&&i| scratched.binary_search(&(i + 1)).is_ok()).count();
        assert!(2 * beside > scratched.len(), "{beside} of {} have a neighbour", scratched.len());
        assert!((600..1100).contains(&scratched.len()), "{}", scratched.len());
        let lone = held(&[200, 200], |i| (i * 7919) % 10_007 < 5_000);
        let beside = lone.iter().filter(|&&i| lone.binary_search(&(i + 1)).is_ok()).count();
        assert!(10 * beside < lone.len(), "{beside} of {} have a neighbour", lone.len());
    }

    #[test]
    fn nothing_is_held_out_where_little_is_known() {
        assert!(held(&[20, 20], |i| i % 20 == 0).is_empty());
        assert!(held(&[400], |i| i != 7).is_empty());
    }
}
