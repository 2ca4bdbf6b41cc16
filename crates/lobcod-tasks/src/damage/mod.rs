//! Finds damage on photographs and scans: scratches and creases, dust, and printed dates.
//!
//! The result is a proposal to be reviewed. Nothing distinguishes a scratch from a wire before the
//! sky with certainty.

mod paths;
mod stamps;
mod thin;

use crate::align::halve;
use crate::colour;
use crate::morphology::dilate;
use lobcod::{Error, Result, Signal};
use thin::Thin;

/// Longer side, in pixels, up to which an image is searched at its own size.
const LONGEST: usize = 2048;

/// Damage found on an image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Damage {
    /// One channel: 1 where damage is suspected, otherwise 0.
    pub mask: Signal<f32>,
    /// Number of scratches and creases.
    pub scratches: usize,
    /// Number of spots, such as dust.
    pub spots: usize,
    /// Number of printed dates.
    pub stamps: usize,
}

/// Finds damage on an image with one channel (grey) or three (sRGB), in which `white` is white.
///
/// - *Scratches and creases* are thin, much brighter or darker than both sides, of one tone that is
///   nearly the brightest or darkest of the image, and long.
/// - *Spots* are small, compact, and far stronger than anything around them.
/// - *Dates* are a row of glowing orange or red glyphs near the lower or upper edge.
///
/// Large images are searched at a reduced size, so that their longer side has at most 2048 pixels.
///
/// ```
/// use lobcod::{Extent, Signal};
/// use lobcod_tasks::damage::find_damage;
/// let scratch = |i: usize| (i / 200).abs_diff(60) < 2 && i % 200 > 20;
/// let sample = |i: usize| if scratch(i) { 250.0 } else { 60.0 + (i % 200) as f32 * 0.4 };
/// let image =
///     Signal::from_planar(Extent::new(&[120, 200])?, 1, (0..24_000).map(sample).collect())?;
/// let damage = find_damage(&image, 255.0, 0)?;
/// assert_eq!((damage.scratches, damage.spots, damage.stamps), (1, 0, 0));
/// assert_eq!(damage.mask.data()[60 * 200 + 100], 1.0);
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn find_damage(image: &Signal<f32>, white: f64, threads: usize) -> Result<Damage> {
    let rank = image.extent().rank();
    if rank != 2 || !matches!(image.channels(), 1 | 3) {
        return Err(Error::Shape(format!(
            "damage is found on grey and colour images, not on {} with {} channels",
            image.extent(),
            image.channels()
        )));
    }
    let mut small = image.clone();
    let mut factor = 1;
    while small.extent().padded().into_iter().max() > Some(LONGEST) {
        small = halve(&small);
        factor *= 2;
    }
    let light = colour::lightness(&small, white, threads)?.finite()?;
    let [_, height, width] = light.extent().padded();
    let size = [height, width];
    let mut found = vec![0.0f32; height * width];
    let [mut scratches, mut spots] = [0, 0];
    let thin = Thin::new(&light, threads);
    for polarity in thin::POLARITIES {
        let candidates = thin.candidates(polarity, threads);
        for scratch in thin.scratches(polarity, &candidates) {
            scratch.into_iter().for_each(|i| found[i] = 1.0);
            scratches += 1;
        }
        for spot in thin.spots(polarity, &candidates) {
            spot.into_iter().for_each(|i| found[i] = 1.0);
            spots += 1;
        }
    }
    let dates = stamps::find(&small, white as f32, thin.radius(), threads);
    dates.iter().flatten().for_each(|&i| found[i] = 1.0);
    // The soft edge of a scratch belongs to it.
    let found = dilate(&found, size, 1, threads);
    let [_, rows, columns] = image.extent().padded();
    let enlarged = (0..rows * columns)
        .map(|i| found[i / columns / factor * width + i % columns / factor])
        .collect();
    Ok(Damage {
        mask: Signal::from_planar(image.extent(), 1, enlarged)?,
        scratches,
        spots,
        stamps: dates.len(),
    })
}
