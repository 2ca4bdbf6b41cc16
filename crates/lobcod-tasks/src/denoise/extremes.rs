//! Salt and pepper noise: extreme samples that their neighbours do not explain.

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
/// Weight of the mean over all patterns with equally many supporting neighbours.
const PRIOR: f64 = 12.0;
const PATTERNS: usize = 256;

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
    /// come again at one offset, are no impulses.
    pub(super) fn extremes(&self) -> [Extreme; 2] {
        let [low, high] = self.range();
        let least = ISOLATED * (high - low);
        let mut seen = [0usize; 2];
        let mut hits: [Vec<usize>; 2] = Default::default();
        for (i, x) in self.samples.iter().enumerate() {
            let neighbours = self.neighbours(i);
            let [darkest, brightest] =
                neighbours.iter().fold([high, low], |[l, h], &n| [l.min(n), h.max(n)]);
            let margin = least + 0.5 * (brightest - darkest);
            for (extreme, gap) in [(0, darkest - low), (1, high - brightest)] {
                if gap > margin {
                    seen[extreme] += 1;
                    if *x == [low, high][extreme] {
                        hits[extreme].push(i);
                    }
                }
            }
        }
        let enough = FEWEST.max((FEWEST_FRACTION * self.samples.len() as f64) as usize);
        let measured = [0, 1].map(|extreme| {
            let (all, hits) = (seen[extreme], &hits[extreme]);
            let of_noise = hits.len() >= FEWEST_HITS && !self.form_screen(hits);
            (all >= enough).then(|| if of_noise { hits.len() as f64 / all as f64 } else { 0.0 })
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
    /// Neighbourhoods are classified by which neighbours are close to the extreme value. The image
    /// gives the frequency of that value in each class: with probability `f` (the fraction of
    /// impulses) the sample is an impulse, and the excess over `f` belongs to the image. A black
    /// stroke of a letter is therefore expected where it is; a black sample surrounded by white is
    /// not.
    pub(super) fn impulses(&self, extreme: Extreme) -> Vec<(f64, usize)> {
        let [low, high] = self.range();
        let close = SUPPORTING * (high - low);
        let pattern = |i: usize| -> usize {
            let bits = self.neighbours(i).map(|n| usize::from((n - extreme.value).abs() <= close));
            bits.iter().fold(0, |pattern, bit| 2 * pattern + bit)
        };
        let mut counts = [[0.0f64; 2]; PATTERNS];
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

/// Probability of an impulse for each pattern of neighbours, from the counts of all samples and of
/// those with the extreme value.
///
/// Rare patterns are regularised by all patterns with equally many supporting neighbours.
fn posterior(counts: &[[f64; 2]; PATTERNS], fraction: f64) -> [f64; PATTERNS] {
    let mut by_support = [[0.0f64; 2]; 9];
    for (pattern, count) in counts.iter().enumerate() {
        let sums = &mut by_support[pattern.count_ones() as usize];
        sums[0] += count[0];
        sums[1] += count[1];
    }
    std::array::from_fn(|pattern| {
        let [all, hit] = counts[pattern];
        let [all_like, hit_like] = by_support[pattern.count_ones() as usize];
        let rate = (hit + PRIOR * hit_like / all_like.max(1.0)) / (all + PRIOR);
        let of_image = ((rate - fraction) / (1.0 - fraction)).clamp(0.0, 1.0);
        let of_noise = fraction * (1.0 - of_image);
        of_noise / (of_noise + of_image).max(f64::MIN_POSITIVE)
    })
}

/// An index and its neighbours, mirrored at the ends.
fn around(i: usize, length: usize) -> [usize; 3] {
    let before = if i == 0 { 1.min(length - 1) } else { i - 1 };
    let after = if i + 1 == length { length.saturating_sub(2) } else { i + 1 };
    [before, i, after]
}
