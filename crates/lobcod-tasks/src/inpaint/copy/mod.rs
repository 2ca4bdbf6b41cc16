//! Fills large holes by copying: patches from elsewhere in the image, chosen so that they fit each
//! other and the surroundings (Wexler, Shechtman and Irani; patches are found by PatchMatch).
//!
//! Atoms cannot bridge a hole much larger than themselves: it becomes a smooth smudge. Copying
//! invents plausible texture instead. The rim of the copied content is left to the sparse model,
//! which joins it to its surroundings.

mod holes;
mod level;
mod patches;

use super::params::Fill;
use holes::Hole;
use level::Level;
use lobcod::run::Stop;
use lobcod::{Mask, Real, Result, Signal};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Rounds of matching and averaging at the coarsest and at the other levels.
const ROUNDS_COARSE: usize = 12;
const ROUNDS: usize = 4;

/// An image whose large holes are filled by copies.
pub struct Copied<T> {
    /// The image.
    pub image: Signal<T>,
    /// Which samples are known now; the rim of the copies is still missing.
    pub known: Mask<T>,
    /// Which pixels were copied, the rim included.
    pub pixels: Vec<bool>,
}

/// Copies content into the holes that need it; `None` if there are none.
pub fn copy<T: Real>(
    fill: Fill,
    signal: &Signal<T>,
    known: &Mask<T>,
    seed: u64,
    stop: &Stop,
) -> Result<Option<Copied<T>>> {
    let extent = signal.extent();
    if fill == Fill::Model || extent.rank() != 2 {
        return Ok(None);
    }
    let (volume, channels) = (extent.volume(), signal.channels());
    let hidden: Vec<bool> =
        (0..volume).map(|i| (0..channels).any(|c| known.channel(c)[i] == T::ZERO)).collect();
    let [_, height, width] = extent.padded();
    let holes = holes::find(fill, signal, &hidden, [height, width]);
    if holes.is_empty() {
        return Ok(None);
    }
    let mut image = signal.clone();
    let mut weights: Vec<T> = (0..channels).flat_map(|c| known.channel(c)).copied().collect();
    let mut pixels = vec![false; volume];
    for hole in &holes {
        if stop.is_due() {
            break;
        }
        let Some(filled) = fill_hole(hole, &image, &hidden, seed) else { continue };
        for (i, colour) in filled {
            pixels[i] = true;
            for (c, x) in colour.into_iter().enumerate() {
                // Channels that are known keep their values.
                if known.channel(c)[i] == T::ZERO {
                    image.data_mut()[c * volume + i] = T::from_f64(f64::from(x));
                }
            }
        }
        for &i in hole.pixels.iter().filter(|&&i| !holes::touches(&hidden, i, [height, width])) {
            (0..channels).for_each(|c| {
                let weight = &mut weights[c * volume + i];
                *weight = if *weight == T::ZERO { T::ONE } else { *weight };
            });
        }
    }
    if !pixels.contains(&true) {
        return Ok(None);
    }
    let known = Mask::new(Signal::from_planar(extent, channels, weights)?)?;
    Ok(Some(Copied { image, known, pixels }))
}

/// The colours of a hole, from coarse to fine; `None` if there is nothing to copy from.
fn fill_hole<T: Real>(
    hole: &Hole,
    image: &Signal<T>,
    hidden: &[bool],
    seed: u64,
) -> Option<Vec<(usize, Vec<f32>)>> {
    let mut levels = vec![Level::around(hole, image, hidden)];
    while let Some(coarser) = levels[levels.len() - 1].halved() {
        levels.push(coarser);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut coarser: Option<Level> = None;
    while let Some(mut level) = levels.pop() {
        let rounds = if coarser.is_none() { ROUNDS_COARSE } else { ROUNDS };
        level.start(coarser.as_ref(), &mut rng)?;
        for _ in 0..rounds {
            level.match_patches(&mut rng);
            level.average();
        }
        coarser = Some(level);
    }
    let finest = coarser?;
    Some(finest.colours(hole))
}
