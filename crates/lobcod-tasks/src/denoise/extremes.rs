//! Salt and pepper noise: extreme samples that their neighbours do not explain.

use super::posterior::{Count, PATTERNS, posterior};

/// Fraction of samples below which an extreme value is attributed to the image.
pub(super) const LEAST_FRACTION: f64 = 0.0025;
/// Minimum difference of an isolated sample from its neighbours, in units of the range.
const ISOLATED: f32 = 0.1;
/// Maximum difference of a neighbour that supports a sample, in units of the range.
const SUPPORTING: f32 = 0.2;
/// Minimum number of neighbourhoods, and minimum fraction of all, for estimating a fraction.
const FEWEST: usize = 200;
const FEWEST_FRACTION: f64 = 0.002;
/// Minimum number of isolated samples of an extreme value: an image has a few of its own.
const FEWEST_HITS: usize = 10;
/// Distance up to which isolated samples may come again, number of them that are followed, and
/// fraction that comes again at one offset above which they form a screen.
const PERIOD: usize = 12;
const FOLLOWED: usize = 4000;
const SCREEN: f64 = 0.5;

/// An extreme value of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    /// The smallest or the largest sample.
    pub(super) value: f32,
    /// Estimated fraction of samples set to it by impulses.
    pub(super) fraction: f64,
}

/// One channel of an image.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub(super) samples: &'a [f32],
    pub(super) size: [usize; 2],
}

impl Plane<'_> {
    /// The eight neighbours of a sample; the image is mirrored at its border.
    fn neighbours(&self, i: usize) -> [f32; 8] {
        let [height, width] = self.size;
        let rows = around(i / width, height);
        let columns = around(i % width, width);
        let at = |y: usize, x: usize| self.samples[rows[y] * width + columns[x]];
        [at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 2), at(2, 0), at(2, 1), at(2, 2)]
    }

    fn range(&self) -> [f32; 2] {
        self.samples
            .iter()
            .fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], &x| [l.min(x), h.max(x)])
    }

    /// The two extreme values and the estimated fractions of impulses.
    ///
    /// If all neighbours of a sample are similar and far from an extreme value, a sample of that
    /// value is an impulse: its frequency in such neighbourhoods is the fraction of impulses,
    /// independent of the rest of the image. A page of text has few such neighbourhoods for one of
    /// the values; then the fraction of the other is used. The dots of a halftone screen, which
    /// come again at one offset, are no impulses, and neither are dots of an image that has as many
    /// of other values, such as stars.
    pub(super) fn extremes(&self) -> [Extreme; 2] {
        let [low, high] = self.range();
        let least = ISOLATED * (high - low);
        let mut seen = [0usize; 2];
        let mut hits: [Vec<usize>; 2] = Default::default();
        let mut dots = [0usize; 2];
        for (i, x) in self.samples.iter().enumerate() {
            let neighbours = self.neighbours(i);
            let [darkest, brightest] =
                neighbours.iter().fold([high, low], |[l, h], &n| [l.min(n), h.max(n)]);
            let margin = least + 0.5 * (brightest - darkest);
            for (extreme, gap, beyond) in
                [(0, darkest - low, darkest - x), (1, high - brightest, x - brightest)]
            {
                if gap > margin {
                    seen[extreme] += 1;
                    if *x == [low, high][extreme] {
                        hits[extreme].push(i);
                    } else if beyond > margin {
                        dots[extreme] += 1;
                    }
                }
            }
        }
        let enough = FEWEST.max((FEWEST_FRACTION * self.samples.len() as f64) as usize);
        let measured = [0, 1].map(|extreme| {
            let all = seen[extreme];
            let impulses = hits[extreme].len().saturating_sub(dots[extreme]);
            let of_noise = impulses >= FEWEST_HITS && !self.form_screen(&hits[extreme]);
            (all >= enough).then(|| if of_noise { impulses as f64 / all as f64 } else { 0.0 })
        });
        let fraction = |extreme: usize| measured[extreme].or(measured[1 - extreme]).unwrap_or(0.0);
        [
            Extreme { value: low, fraction: fraction(0) },
            Extreme { value: high, fraction: fraction(1) },
        ]
    }

    /// Whether most of these samples, in order, have another one at the same offset.
    fn form_screen(&self, hits: &[usize]) -> bool {
        let [height, width] = self.size;
        let step = hits.len().div_ceil(FOLLOWED).max(1);
        let inside = |i: usize| {
            let [y, x] = [i / width, i % width];
            y + PERIOD < height && (PERIOD..width - PERIOD.min(width)).contains(&x)
        };
        let followed: Vec<usize> =
            hits.iter().copied().step_by(step).filter(|&i| inside(i)).collect();
        let again = |offset: usize| {
            let found = |i: &&usize| hits.binary_search(&(**i + offset)).is_ok();
            followed.iter().filter(found).count() as f64 > SCREEN * followed.len() as f64
        };
        // Downwards, and to the left or the right; neighbours cannot both be isolated.
        let across = (2..=PERIOD).chain((1..=PERIOD).flat_map(|y| {
            (y * width - PERIOD.min(width)..=y * width + PERIOD).collect::<Vec<usize>>()
        }));
        followed.len() >= FEWEST_HITS && across.into_iter().any(again)
    }

    /// Fraction of samples far from neighbours that are similar: impulses of any value in smooth
    /// regions.
    pub(super) fn isolated_fraction(&self) -> f64 {
        let [low, high] = self.range();
        let least = ISOLATED * (high - low);
        let (mut seen, mut hits) = (0usize, Vec::new());
        for (i, &x) in self.samples.iter().enumerate() {
            let neighbours = self.neighbours(i);
            let [darkest, brightest] =
                neighbours.iter().fold([high, low], |[l, h], &n| [l.min(n), h.max(n)]);
            if brightest - darkest <= least {
                seen += 1;
                if x < darkest - 2.0 * least || x > brightest + 2.0 * least {
                    hits.push(i);
                }
            }
        }
        let of_noise = seen >= FEWEST && !self.form_screen(&hits);
        if of_noise { hits.len() as f64 / seen as f64 } else { 0.0 }
    }

    /// Probability that each sample of an extreme value is an impulse, with the index of the
    /// sample; only those above one half.
    ///
    /// Neighbourhoods are classified by which neighbours are close to the extreme value. Where the
    /// image has that value more often than impulses explain, it belongs to the image. A black
    /// stroke of a letter is therefore expected where it is; a black sample surrounded by white is
    /// not.
    pub(super) fn impulses(&self, extreme: Extreme) -> Vec<(f64, usize)> {
        let [low, high] = self.range();
        let close = SUPPORTING * (high - low);
        let pattern = |i: usize| -> usize {
            let bits = self.neighbours(i).map(|n| usize::from((n - extreme.value).abs() <= close));
            bits.iter().fold(0, |pattern, bit| 2 * pattern + bit)
        };
        let mut counts: [Count; PATTERNS] = [[0.0; 2]; PATTERNS];
        for (i, x) in self.samples.iter().enumerate() {
            let count = &mut counts[pattern(i)];
            count[0] += 1.0;
            count[1] += f64::from(u8::from(*x == extreme.value));
        }
        let probabilities = posterior(&counts, extreme.fraction);
        let of = |i: usize| (probabilities[pattern(i)], i);
        let extremes = (0..self.samples.len()).filter(|&i| self.samples[i] == extreme.value);
        extremes.map(of).filter(|(probability, _)| *probability > 0.5).collect()
    }
}

/// An index and its neighbours, mirrored at the ends.
fn around(i: usize, length: usize) -> [usize; 3] {
    let before = if i == 0 { 1.min(length - 1) } else { i - 1 };
    let after = if i + 1 == length { length.saturating_sub(2) } else { i + 1 };
    [before, i, after]
}
