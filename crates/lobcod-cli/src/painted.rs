//! Holes painted over an image in one colour, also with soft brushes or in JPEG files.

use crate::output::summary;
use crate::values::HexColour;
use anyhow::{Result, ensure};
use lobcod::{Mask, Real, Signal};
use lobcod_io::{Depth, Image};
use std::path::Path;

/// Distances from the paint colour, as fractions of white, below which a pixel is painted, is
/// painted with a soft brush or in a JPEG, or is at least half painted.
const PAINTED: f64 = 16.0 / 255.0;
const PAINTED_SOFTLY: f64 = 48.0 / 255.0;
const HALF_PAINTED: f64 = 0.5;
/// Number of pixels by which a region with soft edges may grow into half-painted pixels, and if the
/// image itself has similar colours there: the second part of the growth exceeds the paint.
const GROWTH: usize = 12;
const LEAST_GROWTH: usize = 3;
/// Number of rings examined around painted regions; those from `FAR` on are assumed free of paint.
const RINGS: usize = 8;
const FAR: usize = 5;
/// Edges are soft if the distance of the first ring is below this fraction of that of the far
/// rings; the colour then bleeds into all rings below the second fraction.
const SOFT: f64 = 0.9;
const BLEEDING: f64 = 0.99;

/// Pixels not painted in a colour.
pub struct Unpainted<T> {
    pub mask: Mask<T>,
    /// A description of the rule.
    pub rule: String,
    /// If the image itself has similar colours next to the paint.
    pub warning: Option<String>,
}

/// The pixels that are not painted in this colour.
pub fn unpainted<T: Real>(
    path: &Path,
    image: &Image<T>,
    colour: HexColour,
    scale: f64,
) -> Result<Unpainted<T>> {
    let (signal, place) = (&image.signal, path.display());
    let [red, green, blue] = colour.0;
    ensure!(
        matches!(image.depth, Depth::U8 | Depth::U16) && signal.extent().rank() == 2,
        "--holes-colour requires an 8-bit or 16-bit image, but {place} is {}, {}; mark missing \
         pixels with NaN or --holes",
        summary::shape(signal.extent(), signal.channels()),
        image.depth
    );
    let is_grey = red == green && green == blue;
    ensure!(
        signal.channels() == 3 || is_grey,
        "{place} is a greyscale image and has no pixels of colour {colour}; use --holes"
    );
    let distance = |i: usize| {
        let apart = |c: usize| {
            (signal.channel(c)[i].to_f64() / scale - f64::from(colour.0[c]) / 255.0).abs()
        };
        (0..signal.channels()).map(apart).fold(0.0, f64::max)
    };
    let [_, _, width] = signal.extent().padded();
    let distances: Vec<f64> = (0..signal.extent().volume()).map(distance).collect();
    let mut region = Region::new(distances.iter().map(|d| *d <= PAINTED).collect(), width);
    ensure!(
        !region.edge.is_empty(),
        "no pixel of {place} has the colour {colour}; check it with a colour picker (JPEG files \
         lose the colour of thin strokes: save as png)"
    );
    let is_soft = rings(&region, &distances)[0] < SOFT;
    let mut is_similar = false;
    if is_soft {
        let painted = distances.iter().filter(|d| **d <= PAINTED_SOFTLY).count();
        let near = Region::softly_painted(&distances, width, LEAST_GROWTH);
        region = Region::softly_painted(&distances, width, GROWTH);
        is_similar = region.size() - near.size() > painted;
        if is_similar {
            region = near;
        }
        region = Region::new(region.inside, width);
        let bleeding =
            rings(&region, &distances)[..FAR].iter().take_while(|ring| **ring < BLEEDING).count();
        (0..bleeding).for_each(|_| region.grow(|_| true));
    }
    let weights: Vec<T> =
        region.inside.iter().map(|inside| if *inside { T::ZERO } else { T::ONE }).collect();
    ensure!(
        weights.contains(&T::ONE),
        "all pixels of {place} have the colour {colour}; none is known"
    );
    let edge = if is_soft { ", and partly painted ones around them," } else { "" };
    let rule = format!("pixels painted {colour}{edge} are missing");
    let warning = is_similar.then(|| {
        format!(
            "{place} has colours similar to {colour} next to the paint, so traces of paint may \
             remain; paint in a colour that the image does not have"
        )
    });
    Ok(Unpainted {
        mask: Mask::new(Signal::from_planar(signal.extent(), 1, weights)?)?,
        rule,
        warning,
    })
}

/// Distance of each ring from the paint colour, relative to the far rings; soft brushes and JPEG
/// compression let paint bleed into the near ones.
fn rings(region: &Region, distances: &[f64]) -> [f64; RINGS] {
    let mut grown = region.clone();
    let rings = [(); RINGS].map(|()| {
        grown.grow(|_| true);
        grown.edge.iter().map(|&i| distances[i]).sum::<f64>() / grown.edge.len().max(1) as f64
    });
    let far = rings[FAR..].iter().sum::<f64>() / (RINGS - FAR) as f64;
    rings.map(|ring| ring / far)
}

/// A set of pixels, and those added last.
#[derive(Clone)]
struct Region {
    inside: Vec<bool>,
    edge: Vec<usize>,
    width: usize,
}

impl Region {
    fn new(inside: Vec<bool>, width: usize) -> Self {
        let edge = (0..inside.len()).filter(|&i| inside[i]).collect();
        Self { inside, edge, width }
    }

    /// The pixels painted with a soft brush, grown so often into half-painted ones.
    fn softly_painted(distances: &[f64], width: usize, growth: usize) -> Self {
        let mut region = Self::new(distances.iter().map(|d| *d <= PAINTED_SOFTLY).collect(), width);
        (0..growth).for_each(|_| region.grow(|i| distances[i] < HALF_PAINTED));
        region
    }

    /// Number of pixels.
    fn size(&self) -> usize {
        self.inside.iter().filter(|inside| **inside).count()
    }

    /// Adds the accepted neighbours of the pixels added last.
    fn grow(&mut self, accepted: impl Fn(usize) -> bool) {
        let (width, height) = (self.width, self.inside.len() / self.width);
        let near = |i: usize, length: usize| i.saturating_sub(1)..(i + 2).min(length);
        let mut added = Vec::new();
        for i in std::mem::take(&mut self.edge) {
            for y in near(i / width, height) {
                for j in near(i % width, width).map(|x| y * width + x) {
                    if !self.inside[j] && accepted(j) {
                        self.inside[j] = true;
                        added.push(j);
                    }
                }
            }
        }
        self.edge = added;
    }
}
