//! Fitting the values of all non-zero codes together.

use lobcod::engine::ranks::RankEngine;
use lobcod::engine::{
    Context, Engine, JointNorm, Measure, Plane, Problem, Session, Share, State, Support, SupportFit,
};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::{Border, Code, Dictionary, Extent, Real};
use lobcod_conformance::cpu;
use lobcod_conformance::ranks::on_ranks;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const ROWS: usize = 19;
const COLUMNS: usize = 23;
const SIDE: i64 = 4;
const ATOMS: usize = 6;
const PENALTY: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Plain,
    Nonnegative,
    Elastic,
    Masked,
    Joint(f64),
}

const MODELS: [Model; 6] = [
    Model::Plain,
    Model::Nonnegative,
    Model::Elastic,
    Model::Masked,
    Model::Joint(0.4),
    Model::Joint(0.0),
];

impl Model {
    fn elastic(self) -> f64 {
        if self == Model::Elastic { 0.3 } else { 0.0 }
    }

    /// Weights of the l1 norm and of the Euclidean norm.
    fn norm(self) -> JointNorm {
        let l1 = if let Model::Joint(l1) = self { l1 } else { 1.0 };
        JointNorm { l1, l2: 1.0 - l1 }
    }

    fn channels(self) -> usize {
        if matches!(self, Model::Joint(_)) { 3 } else { 1 }
    }
}

/// A random problem, and random codes whose signs the model allows.
fn problem<T: Real>(model: Model) -> (Problem<T>, State<T>) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let extent = Extent::new(&[ROWS, COLUMNS]).unwrap();
    let channels = model.channels();
    let mut random = |n: usize, low: f64| -> Vec<T> {
        (0..n).map(|_| T::from_f64(rng.random_range(low..1.0))).collect()
    };
    let samples = channels * extent.volume();
    let plane = Plane {
        target: random(samples, -1.0),
        weights: (model == Model::Masked).then(|| random(samples, 0.1)),
        ..Plane::empty(extent)
    };
    let problem = Problem {
        planes: vec![plane],
        dictionary: Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, ATOMS, 3).unwrap(),
        border: Border::Free,
        grouping: Grouping::Tiles(5),
        atom_weights: vec![T::ONE; ATOMS],
        elastic: model.elastic(),
        joint: matches!(model, Model::Joint(_)).then(|| model.norm()),
        nonnegative: model == Model::Nonnegative,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    let mut codes = Vec::new();
    for y in 1 - SIDE as i32..ROWS as i32 {
        for x in 1 - SIDE as i32..COLUMNS as i32 {
            if rng.random_range(0..3) > 0 {
                continue;
            }
            let atom = rng.random_range(0..ATOMS as u32);
            for channel in 0..channels as u32 {
                let value: f64 = rng.random_range(0.01..0.5);
                let sign = if model != Model::Nonnegative && rng.random() { -1.0 } else { 1.0 };
                let value = T::from_f64(sign * value);
                codes.push(Code { position: [0, y, x], atom, channel, value });
            }
        }
    }
    (problem, State::of_codes(vec![codes]))
}

fn objective<T>(session: &mut dyn Session<T>) -> f64 {
    let planes = session.measure(Measure::Objective, &Context::default()).unwrap();
    planes.iter().map(|plane| plane.objective(PENALTY)).sum()
}

fn sweep<T>(session: &mut dyn Session<T>, sweeps: usize) {
    let sweep = Support { penalty: PENALTY, sweeps, rounds: 1, tolerance: 0.0 };
    session.support(&sweep, &Context::default()).unwrap();
}

/// `<atom, A^2 r>` of a code, by definition.
fn correlation(residual: &[f64], code: &Code<f64>, dictionary: &Dictionary<f64>) -> f64 {
    let inside = |at: i64, size: usize| (0..size as i64).contains(&at);
    let mut sum = 0.0;
    for i in 0..SIDE {
        for j in 0..SIDE {
            let (y, x) = (i64::from(code.position[1]) + i, i64::from(code.position[2]) + j);
            if inside(y, ROWS) && inside(x, COLUMNS) {
                let at = (code.channel as usize * ROWS + y as usize) * COLUMNS + x as usize;
                sum += dictionary.atom(code.atom as usize)[(i * SIDE + j) as usize] * residual[at];
            }
        }
    }
    sum
}

#[test]
fn fits_after_sweeps_end_at_the_minimum_over_the_support() {
    for model in MODELS {
        let (problem, start) = problem::<f64>(model);
        let mut session = cpu(1).open(problem.clone(), None).unwrap();
        session.restore(&start).unwrap();
        sweep(&mut *session, 5);
        let fit = SupportFit { penalty: PENALTY, steps: 300, enough: 1e-24 };
        let mut gained = 0.0;
        for _ in 0..20 {
            let before = objective(&mut *session);
            session.fit_support(&fit, &Context::default()).unwrap();
            let after = objective(&mut *session);
            assert!(after <= before, "{model:?}: {after} after {before}");
            gained += before - after;
            // Signs that are still to change.
            sweep(&mut *session, 1);
        }
        assert!(gained > 1e-6, "{model:?}: {gained}");
        let residual = session.residual(0).unwrap();
        let codes = session.state(Share::All).unwrap().codes.remove(0);
        assert!(codes.len() > 50, "{model:?}: {} codes are left", codes.len());
        let norm = model.norm();
        for group in codes.chunk_by(|a, b| (a.position, a.atom) == (b.position, b.atom)) {
            let size = group.iter().map(|code| code.value * code.value).sum::<f64>().sqrt();
            for code in group {
                let first = norm.l1 * code.value.signum() + norm.l2 * code.value / size;
                let slope = PENALTY * first + model.elastic() * code.value;
                let c = correlation(&residual, code, &problem.dictionary);
                assert!(
                    (c - slope).abs() < 1e-4 * PENALTY,
                    "{model:?}: {c} is not {slope} ({code:?})"
                );
                assert!(model != Model::Nonnegative || code.value > 0.0, "{code:?}");
            }
        }
    }
}

#[test]
fn fits_are_bit_identical_on_any_number_of_threads_and_ranks() {
    let fitted = |engine: &dyn Engine<f32>, model: Model| -> Vec<(Code<f32>, u32)> {
        let (problem, start) = problem::<f32>(model);
        let mut session = engine.open(problem, None).unwrap();
        session.restore(&start).unwrap();
        sweep(&mut *session, 5);
        let before = objective(&mut *session);
        let fit = SupportFit { penalty: PENALTY, steps: 12, enough: 0.0 };
        session.fit_support(&fit, &Context::default()).unwrap();
        assert!(objective(&mut *session) < before, "{model:?}");
        let codes = session.state(Share::All).unwrap().codes.remove(0);
        codes.into_iter().map(|code| (code, code.value.to_bits())).collect()
    };
    for model in MODELS {
        let one = fitted(&cpu(1), model);
        for threads in [2, 5] {
            assert!(fitted(&cpu(threads), model) == one, "{model:?}, {threads} threads");
        }
        for parts in on_ranks(3, |world| fitted(&RankEngine::new(world, 1).unwrap(), model)) {
            assert!(parts == one, "{model:?}, 3 ranks");
        }
    }
}
