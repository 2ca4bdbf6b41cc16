//! Seeded small problems: every rank, border, mask and option, and edge-case sizes.

use lobcod::pursuit::Start;
use lobcod::{Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Real, Signal};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::StandardNormal;
use std::fmt;

/// Sizes of a problem; the rest is drawn from its seed.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Axes of the signal.
    pub signal: &'static [usize],
    /// Axes of an atom.
    pub atom: &'static [usize],
    /// Channels of the signal, and of the dictionary.
    pub channels: (usize, usize),
    /// Number of atoms.
    pub atoms: usize,
    /// Positions of a tile along an axis.
    pub tile: usize,
}

const fn shape(
    signal: &'static [usize],
    atom: &'static [usize],
    channels: (usize, usize),
    atoms: usize,
    tile: usize,
) -> Shape {
    Shape { signal, atom, channels, atoms, tile }
}

/// The shapes of [`all`]: fewer and more atoms than samples of one, signals smaller than an atom,
/// rows of one pixel, axes as long as an atom, sizes that are no multiple of the tile, periodic
/// axes with an odd number of tiles, atoms of one sample, one atom, and 512.
pub const SHAPES: [Shape; 23] = [
    shape(&[40], &[5], (1, 1), 4, 7),
    shape(&[21], &[3], (1, 1), 7, 7),
    shape(&[23], &[4], (3, 3), 6, 5),
    shape(&[17], &[4], (3, 1), 5, 6),
    shape(&[5], &[5], (1, 1), 3, 4),
    shape(&[3], &[7], (1, 1), 5, 4),
    shape(&[9, 11], &[3, 3], (1, 1), 5, 5),
    shape(&[7, 10], &[3, 2], (1, 1), 8, 4),
    shape(&[1, 19], &[3, 4], (1, 1), 4, 6),
    shape(&[19, 1], &[4, 1], (1, 1), 6, 6),
    shape(&[2, 3], &[4, 5], (1, 1), 3, 4),
    shape(&[6, 7], &[3, 3], (3, 3), 9, 4),
    shape(&[6, 5], &[2, 3], (3, 1), 4, 4),
    shape(&[5, 4], &[5, 4], (1, 1), 6, 5),
    shape(&[15, 15], &[4, 3], (1, 1), 5, 5),
    shape(&[4, 5, 6], &[2, 2, 3], (1, 1), 6, 4),
    shape(&[3, 3, 4], &[2, 2, 2], (3, 3), 5, 4),
    shape(&[2, 4, 5], &[3, 3, 3], (1, 1), 4, 4),
    shape(&[6, 3, 9], &[2, 1, 3], (3, 1), 2, 4),
    shape(&[24, 17], &[5, 4], (1, 1), 8, 7),
    shape(&[13], &[3], (1, 1), 1, 4),
    shape(&[7, 6], &[1, 1], (3, 3), 4, 4),
    shape(&[6], &[4], (1, 1), 512, 5),
];

/// Which samples a problem observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// All of them.
    Full,
    /// Some, by a mask of zeros and ones that applies to all channels.
    Known,
    /// By weights between 0 and 1, drawn for every channel.
    Fractional,
}

/// All of them.
const OBSERVATIONS: [Observation; 3] =
    [Observation::Full, Observation::Known, Observation::Fractional];

/// Options besides sparsity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    Plain,
    /// A penalty weight for every atom.
    AtomWeights,
    /// A penalty weight for every position.
    PositionWeights,
    /// No code below 0.
    Nonnegative,
    /// All of these.
    Everything,
    /// A weight for every coefficient, some of them infinite.
    CoefficientWeights,
    /// The same, with unpenalised coefficients.
    Unpenalised,
    /// A quadratic term.
    Elastic,
    /// Joint sparsity of the channels.
    Joint,
    /// The same with weights of atoms and positions and without codes below 0.
    JointEverything,
    /// Joint sparsity without an l1 norm.
    JointOnly,
}

/// One problem, generated in `f64`.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Seed of all its random numbers.
    pub seed: u64,
    /// Its sizes.
    pub shape: Shape,
    /// Its mask.
    pub observation: Observation,
    /// Its options.
    pub extra: Extra,
    /// Parameters; tolerance and sweeps are set by the test.
    pub params: PursuitParams,
    /// The signal.
    pub observed: Observed<f64>,
    /// The dictionary.
    pub dictionary: Dictionary<f64>,
}

impl Problem {
    /// The problem of this shape and kind; `None` if the border condition does not allow the shape.
    pub fn new(
        seed: u64,
        shape: Shape,
        border: Border,
        observation: Observation,
        extra: Extra,
    ) -> Option<Self> {
        let (signal, atom) = (
            Extent::new(shape.signal).expect("a shape"),
            Extent::new(shape.atom).expect("a shape"),
        );
        if matches!(border, Border::Periodic | Border::Inside)
            && shape.signal.iter().zip(shape.atom).any(|(l, h)| l < h)
        {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (channels, atom_channels) = shape.channels;
        let dictionary =
            Dictionary::random(atom, atom_channels, shape.atoms, seed).expect("atoms with energy");
        let noise = (0..signal.volume() * channels).map(|i| {
            let wave = ((i % shape.signal[shape.signal.len() - 1]) as f64 * 0.9).sin();
            2.0 * wave + rng.sample::<f64, _>(StandardNormal)
        });
        let mut observed = Observed::from(
            Signal::from_planar(signal, channels, noise.collect()).expect("one value per sample"),
        );
        observed.mask = match observation {
            Observation::Full => None,
            Observation::Known => Some(known(signal, 1, &mut rng)),
            Observation::Fractional => Some(fractional(signal, channels, &mut rng)),
        };
        let mut params = PursuitParams::new(Penalty::Relative(rng.random_range(0.1..0.4)));
        if matches!(extra, Extra::AtomWeights | Extra::Everything | Extra::JointEverything) {
            params.atom_weights =
                Some((0..shape.atoms).map(|_| rng.random_range(0.5..2.0)).collect());
        }
        if matches!(extra, Extra::PositionWeights | Extra::Everything | Extra::JointEverything) {
            let positions = signal.with_padded(border.positions(signal, atom).size);
            observed.penalty_map = Some(uniform(positions, 1, 0.5..2.0, &mut rng));
        }
        params.nonnegative =
            matches!(extra, Extra::Nonnegative | Extra::Everything | Extra::JointEverything);
        if matches!(extra, Extra::CoefficientWeights | Extra::Unpenalised) {
            let positions = signal.with_padded(border.positions(signal, atom).size);
            let mut weights = uniform(positions, shape.atoms, 0.5..2.0, &mut rng);
            for (i, w) in weights.data_mut().iter_mut().enumerate() {
                if extra == Extra::Unpenalised && i % 7 == 0 && i < positions.volume() {
                    *w = 0.0;
                } else if rng.random_bool(0.2) {
                    *w = f64::INFINITY;
                }
            }
            observed.coefficient_weights = Some(weights);
        }
        if let Extra::Joint | Extra::JointEverything | Extra::JointOnly = extra {
            params.joint = rng.random_range(0.2..1.0);
        }
        if extra == Extra::JointOnly {
            params.penalty = Penalty::Absolute(0.0);
        }
        if extra == Extra::Elastic {
            params.elastic = rng.random_range(0.05..1.0);
        }
        params.border = border;
        params.tile = Some(shape.tile);
        Some(Self { seed, shape, observation, extra, params, observed, dictionary })
    }

    /// The signal in another precision, from a zero start.
    pub fn observed<T: Real>(&self) -> Observed<T> {
        Observed {
            signal: self.observed.signal.cast(),
            mask: self
                .observed
                .mask
                .as_ref()
                .map(|m| Mask::new(m.weights().cast()).expect("weights stay in their range")),
            penalty_map: self.observed.penalty_map.as_ref().map(Signal::cast),
            coefficient_weights: self.observed.coefficient_weights.as_ref().map(Signal::cast),
            max_nonzeros_map: self.observed.max_nonzeros_map.as_ref().map(Signal::cast),
            start: Start::Zero,
            part: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, shape, observation, extra, params, .. } = self;
        let border = params.border;
        write!(
            f,
            "problem with seed {seed}, border {border}, {observation:?}, {extra:?}, {:?}, \
             {shape:?}",
            params.penalty
        )
    }
}

/// Every shape with every border it allows and every kind of mask; the options alternate.
pub fn all() -> Vec<Problem> {
    const EXTRAS: [Extra; 5] = [
        Extra::Plain,
        Extra::AtomWeights,
        Extra::PositionWeights,
        Extra::Nonnegative,
        Extra::Everything,
    ];
    let mut problems = Vec::new();
    for shape in SHAPES {
        for border in Border::ALL {
            for observation in OBSERVATIONS {
                let seed = problems.len() as u64;
                problems.extend(Problem::new(
                    seed,
                    shape,
                    border,
                    observation,
                    EXTRAS[seed as usize % EXTRAS.len()],
                ));
            }
        }
    }
    problems
}

/// Problems that only some engines run: every shape and border, with alternating masks.
pub fn special() -> Vec<Problem> {
    let mut problems = Vec::new();
    for extra in [Extra::CoefficientWeights, Extra::Unpenalised, Extra::Elastic] {
        for (i, shape) in SHAPES.into_iter().enumerate() {
            let border = Border::ALL[(i + problems.len()) % Border::ALL.len()];
            let observation = OBSERVATIONS[problems.len() % OBSERVATIONS.len()];
            let seed = 1000 + problems.len() as u64;
            problems.extend(Problem::new(seed, shape, border, observation, extra));
        }
    }
    for extra in [Extra::Joint, Extra::JointEverything, Extra::JointOnly] {
        for shape in SHAPES.into_iter().filter(|shape| shape.channels.1 == 1) {
            let small = shape.signal.iter().product::<usize>() < 40 && shape.atoms < 10;
            let several = shape.channels.0 > 1;
            let borders = if several { &Border::ALL[..] } else { &Border::ALL[..1] };
            for &border in borders.iter().filter(|_| several || small) {
                let observation = OBSERVATIONS[problems.len() % OBSERVATIONS.len()];
                let seed = 1000 + problems.len() as u64;
                problems.extend(Problem::new(seed, shape, border, observation, extra));
            }
        }
    }
    problems
}

/// Every `step`-th of [`all`], for checks that only need a sample.
pub fn some(step: usize) -> Vec<Problem> {
    all().into_iter().step_by(step).collect()
}

/// A mask of zeros and ones, about two thirds known, always including the first sample.
pub fn known(extent: Extent, channels: usize, rng: &mut ChaCha8Rng) -> Mask<f64> {
    let weights = (0..extent.volume() * channels)
        .map(|i| if i == 0 || rng.random_bool(0.65) { 1.0 } else { 0.0 });
    Mask::new(
        Signal::from_planar(extent, channels, weights.collect()).expect("one weight per sample"),
    )
    .expect("one known sample")
}

/// A mask of weights between 0 and 1, about one in five 0.
pub fn fractional(extent: Extent, channels: usize, rng: &mut ChaCha8Rng) -> Mask<f64> {
    let mut weights = uniform(extent, channels, 0.05..1.0, rng);
    weights.data_mut().iter_mut().skip(1).filter(|_| rng.random_bool(0.2)).for_each(|w| *w = 0.0);
    Mask::new(weights).expect("one known sample")
}

/// Independent uniform numbers.
pub fn uniform(
    extent: Extent,
    channels: usize,
    range: std::ops::Range<f64>,
    rng: &mut ChaCha8Rng,
) -> Signal<f64> {
    let numbers =
        (0..extent.volume() * channels).map(|_| rng.random_range(range.clone())).collect();
    Signal::from_planar(extent, channels, numbers).expect("one value per sample")
}
