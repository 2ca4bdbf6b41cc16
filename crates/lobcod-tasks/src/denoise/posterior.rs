//! How likely a sample of an extreme value is an impulse, from how often its neighbourhood has that
//! value.
//!
//! Impulses set a known fraction of the samples to the value, and the image itself an unknown
//! fraction of the others, which depends on the neighbours: none in most photographs, nearly all in
//! a stroke of a letter. The unknown fraction is measured in the whole image, in neighbourhoods
//! with equally many supporting neighbours, and in those with the same ones; each measurement is
//! the prior of the next, so that a chance hit in a rare neighbourhood is not attributed to the
//! image.

/// Patterns of eight neighbours, each supporting the extreme value or not.
pub(super) const PATTERNS: usize = 256;
/// Fractions that are considered: this many between the smallest and the largest.
const STEPS: usize = 60;
const SMALLEST: f64 = 1e-4;
const LARGEST: f64 = 0.999;
/// Weight of the mean over all patterns with equally many supporting neighbours, in samples.
const PRIOR: f64 = 12.0;

/// How many samples there are, and how many of them have the extreme value.
pub(super) type Count = [f64; 2];

/// Probabilities of the fraction of samples that the image itself sets to the extreme value.
#[derive(Clone, Copy)]
struct Belief {
    none: f64,
    some: [f64; STEPS],
}

fn fraction_of(step: usize) -> f64 {
    SMALLEST * (LARGEST / SMALLEST).powf(step as f64 / (STEPS - 1) as f64)
}

impl Belief {
    /// Every magnitude is equally likely, if the image sets any samples to the value.
    fn open(any: f64) -> Self {
        Self { none: 1.0 - any, some: [any / STEPS as f64; STEPS] }
    }

    /// Probably near a mean: a beta distribution worth [`PRIOR`] samples.
    fn around(mean: f64, any: f64) -> Self {
        let [a, b] = [PRIOR * mean, PRIOR * (1.0 - mean)];
        let logarithm =
            |step| a * f64::ln(fraction_of(step)) + (b - 1.0) * f64::ln_1p(-fraction_of(step));
        let some = exponentials(std::array::from_fn::<f64, STEPS, _>(logarithm));
        let sum: f64 = some.iter().sum();
        Self { none: 1.0 - any, some: some.map(|p| any * p / sum) }
    }

    /// After counting, if impulses set this fraction of the samples.
    fn after(self, [all, hits]: Count, impulses: f64) -> Self {
        let logarithm = |own: f64| {
            let either = impulses + (1.0 - impulses) * own;
            hits * either.ln() + (all - hits) * (-either).ln_1p()
        };
        let likelihood: [f64; STEPS + 1] = exponentials(std::array::from_fn(|i| {
            logarithm(if i < STEPS { fraction_of(i) } else { 0.0 })
        }));
        let some: [f64; STEPS] = std::array::from_fn(|i| self.some[i] * likelihood[i]);
        let none = self.none * likelihood[STEPS];
        let sum = (none + some.iter().sum::<f64>()).max(f64::MIN_POSITIVE);
        Self { none: none / sum, some: some.map(|p| p / sum) }
    }

    /// Probability that the image sets any samples to the value.
    fn any(&self) -> f64 {
        1.0 - self.none
    }

    /// Mean of the fraction if there is any.
    fn mean(&self) -> f64 {
        let sum: f64 = self.some.iter().enumerate().map(|(i, p)| p * fraction_of(i)).sum();
        sum / self.some.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Probability that a sample with the extreme value is an impulse.
    fn impulse(&self, impulses: f64) -> f64 {
        let of = |own: f64| impulses * (1.0 - own) / (impulses * (1.0 - own) + own);
        self.none + self.some.iter().enumerate().map(|(i, p)| p * of(fraction_of(i))).sum::<f64>()
    }
}

/// Exponentials in units of the largest.
fn exponentials<const N: usize>(logarithms: [f64; N]) -> [f64; N] {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.map(|l| (l - largest).exp())
}

/// Probability of an impulse for each pattern of neighbours, if impulses set this fraction of the
/// samples to the extreme value.
pub(super) fn posterior(counts: &[Count; PATTERNS], impulses: f64) -> [f64; PATTERNS] {
    let mut by_support = [[0.0f64; 2]; 9];
    for (pattern, count) in counts.iter().enumerate() {
        let sums = &mut by_support[pattern.count_ones() as usize];
        sums[0] += count[0];
        sums[1] += count[1];
    }
    let whole = by_support.iter().fold([0.0; 2], |sum, c| [sum[0] + c[0], sum[1] + c[1]]);
    let any = Belief::open(0.5).after(whole, impulses).any();
    let classes = by_support.map(|count| Belief::open(0.5 * any).after(count, impulses));
    std::array::from_fn(|pattern| {
        let class = &classes[pattern.count_ones() as usize];
        Belief::around(class.mean(), class.any()).after(counts[pattern], impulses).impulse(impulses)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts in which impulses hit as often as expected, and the image sets `own` of the samples
    /// that have all neighbours supporting.
    fn counts(own: f64) -> [Count; PATTERNS] {
        std::array::from_fn(|pattern| {
            let all = 1000.0 / 8f64.powi(pattern.count_ones() as i32).min(50.0);
            let hits = if pattern == PATTERNS - 1 { all * own } else { 0.0 };
            [all, hits + 0.01 * (all - hits)]
        })
    }

    #[test]
    fn a_hit_by_chance_in_a_rare_neighbourhood_is_an_impulse() {
        let mut counts = counts(0.0);
        counts[0b1010_0000] = [5.0, 1.0];
        let probabilities = posterior(&counts, 0.01);
        assert!(probabilities.iter().all(|p| *p > 0.9), "{probabilities:?}");
    }

    #[test]
    fn what_the_image_has_often_is_no_impulse() {
        let probabilities = posterior(&counts(0.8), 0.01);
        assert!(probabilities[PATTERNS - 1] < 0.05, "{}", probabilities[PATTERNS - 1]);
        assert!(probabilities[0] > 0.9, "{}", probabilities[0]);
    }

    #[test]
    fn any_counts_have_probabilities() {
        for counts in [[[0.0; 2]; PATTERNS], [[1e8, 1e8]; PATTERNS], [[1e8, 0.0]; PATTERNS]] {
            for p in posterior(&counts, 0.3) {
                assert!((0.0..=1.0 + 1e-9).contains(&p), "{p}");
            }
        }
    }
}
