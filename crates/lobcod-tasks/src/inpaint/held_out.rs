//! Selects the known samples to hold out: in the shapes of the holes if holes are rare, otherwise
//! individually.
//!
//! A fit that predicts single samples well may fill scratches badly. If much is missing at random,
//! copied shapes would leave too little, and single samples are a better test.

use super::params::InpaintParams;
use lobcod::geometry::{InSignal, Region, cell, index};
use lobcod::{Extent, Real};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Minimum number of held-out samples.
const LEAST: usize = 16;
/// Held-out samples next to rare holes that suffice to weight answers; if the fraction gives fewer,
/// up to a larger fraction is held out.
const ENOUGH: f64 = 600.0;
const LARGER: f64 = 0.06;
/// Holes are rare up to this fraction of the samples.
const RARE: f64 = 0.3;
/// Half the side of the window in which the shape of a hole is copied.
const RADIUS: usize = 6;

/// Indices of the samples to hold out: whole pixels, in all known channels; those near
/// holes if holes are rare.
pub fn choose<T: Real>(
    params: &InpaintParams,
    weights: &[T],
    extent: Extent,
    near: &[bool],
) -> Vec<usize> {
    let volume = extent.volume();
    let channels = weights.len() / volume;
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let hidden: Vec<usize> = (0..volume).filter(|i| weights[*i] == T::ZERO).collect();
    let drawn = if !hidden.is_empty() && hidden.len() as f64 <= RARE * volume as f64 {
        let places: Vec<usize> = (0..volume).filter(|i| near[*i]).collect();
        let known = (places.len() - hidden.len()) as f64;
        let fraction = if params.held_out > 0.0 {
            params.held_out.max(LARGER.min(ENOUGH / known))
        } else {
            0.0
        };
        let wanted = fraction * known;
        shapes(&mut rng, &hidden, &places, extent, wanted as usize)
    } else {
        (0..volume).map(|_| rng.random::<f64>() < params.held_out).collect()
    };
    let held: Vec<usize> =
        (0..weights.len()).filter(|i| drawn[i % volume] && weights[*i] != T::ZERO).collect();
    let left =
        |channel: usize| (0..volume).any(|i| weights[channel * volume + i] != T::ZERO && !drawn[i]);
    let enough = held.len() >= LEAST && (0..channels).all(left);
    if enough { held } else { Vec::new() }
}

/// Copies of holes, moved to some of the places until they cover about as many samples as wanted.
fn shapes(
    rng: &mut ChaCha8Rng,
    hidden: &[usize],
    places: &[usize],
    extent: Extent,
    wanted: usize,
) -> Vec<bool> {
    let place = |i: usize| cell(i, extent.padded());
    let mut holes = vec![false; extent.volume()];
    hidden.iter().for_each(|&i| holes[i] = true);
    let mut drawn = vec![false; holes.len()];
    let mut covered = 0;
    // A copy covers at least one sample unless it falls on a hole, so this many suffice.
    for _ in 0..8 * wanted {
        if covered >= wanted {
            break;
        }
        let from = place(hidden[rng.random_range(0..hidden.len())]);
        let to = place(places[rng.random_range(0..places.len())]);
        for [a, b] in pairs(from, to, extent.padded()) {
            if holes[a] && !holes[b] && !drawn[b] {
                drawn[b] = true;
                covered += 1;
            }
        }
    }
    drawn
}

/// Pairs of corresponding samples around two positions, where both are inside.
fn pairs(from: [usize; 3], to: [usize; 3], size: [usize; 3]) -> impl Iterator<Item = [usize; 2]> {
    let steps = Region::<InSignal>::of(|a| {
        let (least, most) = (from[a].min(to[a]), from[a].max(to[a]));
        -(least.min(RADIUS) as i64)..(size[a] - most).min(RADIUS + 1) as i64
    });
    let near = move |at: [usize; 3], step: [i64; 3]| {
        index(std::array::from_fn(|a| at[a].wrapping_add_signed(step[a] as isize)), size)
    };
    steps.points().map(move |step| [from, to].map(|at| near(at, step.at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(extent: &[usize], known: impl Fn(usize) -> bool) -> Vec<usize> {
        let extent = Extent::new(extent).unwrap();
        let weights: Vec<f32> =
            (0..extent.volume()).map(|i| f32::from(u8::from(known(i)))).collect();
        let near = vec![true; extent.volume()];
        let held = choose(&InpaintParams::default(), &weights, extent, &near);
        assert!(held.iter().all(|&i| known(i)), "a missing sample is held out");
        held
    }

    #[test]
    fn held_out_shapes_match_the_shapes_of_the_holes() {
        // Every fortieth column and the three after it are missing.
        let scratched = held(&[200, 200], |i| i % 40 >= 4);
        let adjacent =
            scratched.iter().filter(|&&i| scratched.binary_search(&(i + 1)).is_ok()).count();
        assert!(
            2 * adjacent > scratched.len(),
            "{adjacent} of {} have a neighbour",
            scratched.len()
        );
        assert!((600..1100).contains(&scratched.len()), "{}", scratched.len());
        let lone = held(&[200, 200], |i| (i * 7919) % 10_007 < 5_000);
        let adjacent = lone.iter().filter(|&&i| lone.binary_search(&(i + 1)).is_ok()).count();
        assert!(10 * adjacent < lone.len(), "{adjacent} of {} have a neighbour", lone.len());
    }

    #[test]
    fn more_is_held_out_where_holes_are_few() {
        let near = |count: usize| {
            let mut near = vec![false; 40_000];
            near[..count].fill(true);
            near
        };
        let weights: Vec<f32> = (0..40_000).map(|i| f32::from(u8::from(i % 200 != 100))).collect();
        let extent = Extent::new(&[200, 200]).unwrap();
        let count = |held_out: f64, places: usize| {
            let params = InpaintParams::default().with(|p| p.held_out = held_out);
            choose(&params, &weights, extent, &near(places)).len()
        };
        assert!((600..700).contains(&count(0.02, 20_000)), "{}", count(0.02, 20_000));
        assert!((285..310).contains(&count(0.02, 5000)), "{}", count(0.02, 5000));
        assert!((1980..2000).contains(&count(0.1, 20_000)), "{}", count(0.1, 20_000));
        assert_eq!(count(0.0, 20_000), 0);
    }

    #[test]
    fn nothing_is_held_out_if_little_is_known() {
        assert!(held(&[20, 20], |i| i % 20 == 0).is_empty());
        assert!(held(&[200], |i| i != 7).is_empty());
    }
}
