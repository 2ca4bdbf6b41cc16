//! Tests the gradient of a session in the dictionary against the oracle.
//!
//! The data term is a quadratic of the dictionary. Moving every atom along a direction `E` is the
//! same as appending one-sample atoms to the dictionary with the codes `a_ik E_k[p]`; so
//! differences of the oracle's data term over one step each way are exactly slope and curvature, up
//! to rounding.

use crate::oracle::Oracle;
use crate::problems::Problem;
use crate::suite::Precision;
use lobcod::engine::{
    Context, Discovery, Engine, Measure, Plane, PlaneLayer, Problem as EngineProblem, Session,
    Share, Support, Visit,
};
use lobcod::geometry::Point;
use lobcod::grid::{Grid, Grouping, Layers};
use lobcod::pursuit::Local;
use lobcod::{Code, Dictionary, Needles, Penalty, PursuitParams, Real};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

/// The gradient over all codes and over single layers, and the energy along a direction, agree with
/// the oracle; a visit to a layer changes only its needles.
pub fn gradient_is_that_of_the_data_term<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    for grouping in [Grouping::WholeLayers, Grouping::Tiles(problem.shape.tile)] {
        check(engine, problem, grouping);
    }
}

fn check<T: Real>(engine: &dyn Engine<T>, problem: &Problem, grouping: Grouping) {
    let dictionary = problem.dictionary.cast::<T>();
    let (m, n) = (dictionary.len(), dictionary.atom_len());
    let mut session = open(engine, problem, &dictionary, grouping);
    let (works, context) = ("the engine works", Context::default());
    let discovery = |penalty: f64, visit: Visit| Discovery {
        penalty,
        visit,
        local_tolerance: 1e-3,
        layer_seed: None,
    };
    session.discover(&discovery(0.5, Visit::All), &context).expect(works);
    session
        .support(&Support { penalty: 0.5, sweeps: 1, rounds: 2, tolerance: 0.0 }, &context)
        .expect(works);
    session.measure(Measure::Objective, &context).expect(works);
    let state = session.state(Share::All).expect(works);
    let planes = state.codes.len();
    let mut rng = ChaCha8Rng::seed_from_u64(problem.seed);
    let direction: Vec<f64> = (0..m * n).map(|_| rng.random_range(-0.3..0.3)).collect();
    let line = Line::new(problem, &dictionary, &state.codes, &direction);
    let along = |gradient: &[f64]| gradient.iter().zip(&direction).map(|(g, e)| g * e).sum::<f64>();
    let near = |what: &str, ours: f64, theirs: f64| {
        let allowed = 50.0 * Precision::of::<T>().rounding * (line.at_rest + theirs.abs());
        assert!(
            (ours - theirs).abs() <= allowed,
            "{what} is {ours}, the oracle says {theirs} ({grouping:?}, {problem})"
        );
    };
    let whole = session.learning().gradient(None).expect(works);
    near("the slope along a direction", along(&whole), line.slope(&|_| true));
    let grid = Grid::new(
        problem.observed.signal.extent(),
        dictionary.extent(),
        problem.params.border,
        grouping,
    )
    .expect("it fits");
    let mut sum = vec![0.0; m * n];
    for plane in 0..planes {
        let layers = session.learning().layers(plane);
        for layer in 0..layers {
            let gradient =
                session.learning().gradient(Some(PlaneLayer { plane, layer })).expect(works);
            sum.iter_mut().zip(&gradient).for_each(|(s, g)| *s += g);
            // A few layers suffice.
            if grouping == Grouping::WholeLayers && layer % 5 == plane {
                let slope = line.slope(&|code| {
                    code.channel as usize == plane && layer_of(&grid, code.position) == layer
                });
                near("the slope of a layer", along(&gradient), slope);
            }
        }
    }
    near("the slope of all layers", along(&sum), along(&whole));
    if grouping == Grouping::WholeLayers {
        let of = PlaneLayer { plane: planes - 1, layer: session.learning().layers(planes - 1) / 2 };
        let outside = |session: &mut dyn Session<T>| -> Vec<Vec<Code<T>>> {
            let other = |p: usize, code: &Code<T>| {
                p != of.plane || layer_of(&grid, code.position) != of.layer
            };
            let planes = session.state(Share::All).expect(works).codes.into_iter().enumerate();
            planes
                .map(|(p, codes)| codes.into_iter().filter(|code| other(p, code)).collect())
                .collect()
        };
        let others = outside(&mut *session);
        session.discover(&discovery(0.1, Visit::Layer(of)), &context).expect(works);
        assert_eq!(
            others,
            outside(&mut *session),
            "a visit to one layer changed another ({problem})"
        );
        session.restore(&state).expect(works);
    }
    let energy = session.learning().energy_along(&direction).expect(works);
    near("the energy along a direction", energy, line.curvature());
}

fn open<T: Real>(
    engine: &dyn Engine<T>,
    problem: &Problem,
    dictionary: &Dictionary<T>,
    grouping: Grouping,
) -> Box<dyn Session<T>> {
    let observed = problem.observed::<T>();
    let signal = &observed.signal;
    let groups = if dictionary.channels() == 1 { signal.channels() } else { 1 };
    let plane = |group: usize| {
        let channels = group..group + dictionary.channels();
        let weights = observed
            .mask
            .as_ref()
            .map(|m| channels.clone().flat_map(|c| m.channel(c).to_vec()).collect::<Vec<T>>());
        let mut target: Vec<T> = channels.flat_map(|c| signal.channel(c).to_vec()).collect();
        for (x, w) in target.iter_mut().zip(weights.iter().flatten()) {
            *x = if *w == T::ZERO { T::ZERO } else { *x };
        }
        Plane { target, weights, ..Plane::empty(signal.extent()) }
    };
    let opened = EngineProblem {
        planes: (0..groups).map(plane).collect(),
        dictionary: dictionary.clone(),
        border: problem.params.border,
        grouping,
        atom_weights: vec![T::ONE; dictionary.len()],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: true,
    };
    engine.open(opened, None).unwrap_or_else(|error| panic!("{error} ({problem})"))
}

/// Layer of a position when the whole plane is one tile.
fn layer_of(grid: &Grid, position: [i32; 3]) -> usize {
    let at = grid.to_domain(Point::from(position)) - grid.positions.first();
    Layers::of(grid, &grid.tiles[0]).layer_of(at.map(|x| x as usize))
}

/// The oracle's data term along a line of dictionaries.
struct Line {
    oracle: Oracle,
    needles: Needles<f64>,
    direction: Vec<f64>,
    atoms: usize,
    at_rest: f64,
}

impl Line {
    fn new<T: Real>(
        problem: &Problem,
        dictionary: &Dictionary<T>,
        planes: &[Vec<Code<T>>],
        direction: &[f64],
    ) -> Self {
        let n = dictionary.atom_len();
        let mut data: Vec<f64> = dictionary.data().iter().map(|x| x.to_f64()).collect();
        data.extend((0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 }));
        let with_samples =
            Dictionary::new(dictionary.extent(), dictionary.channels(), data).expect("unit atoms");
        let params =
            PursuitParams::new(Penalty::Absolute(1.0)).with(|p| p.border = problem.params.border);
        let observed = lobcod::Observed { penalty_map: None, ..problem.observed::<f64>() };
        let code = |(p, c): (usize, &Code<T>)| Code {
            position: c.position,
            atom: c.atom,
            channel: p as u32,
            value: c.value.to_f64(),
        };
        let codes = planes
            .iter()
            .enumerate()
            .flat_map(|(p, codes)| codes.iter().map(move |c| code((p, c))))
            .collect();
        let needles = Needles::new(
            observed.signal.extent(),
            observed.signal.channels(),
            params.border,
            codes,
        );
        let oracle = Oracle::new(&params, &observed, &with_samples);
        let at_rest = oracle.data_term(&oracle.codes(&needles));
        Self { oracle, needles, direction: direction.to_vec(), atoms: dictionary.len(), at_rest }
    }

    /// The data term when the atoms of some of the codes have moved `step` along the direction.
    fn data_term(&self, step: f64, moved: &dyn Fn(&Code<f64>) -> bool) -> f64 {
        let n = self.direction.len() / self.atoms;
        let mut extra: BTreeMap<([i32; 3], u32, u32), f64> = BTreeMap::new();
        for code in self.needles.codes().iter().filter(|c| moved(c)) {
            for p in 0..n {
                let value = step * code.value * self.direction[code.atom as usize * n + p];
                *extra
                    .entry((code.position, (self.atoms + p) as u32, code.channel))
                    .or_default() += value;
            }
        }
        let needles = &self.needles;
        let extra = extra.into_iter().map(|((position, atom, channel), value)| Code {
            position,
            atom,
            channel,
            value,
        });
        let codes = needles.codes().iter().copied().chain(extra).collect();
        let moved = Needles::new(needles.extent(), needles.channels(), needles.border(), codes);
        self.oracle.data_term(&self.oracle.codes(&moved))
    }

    fn slope(&self, moved: &dyn Fn(&Code<f64>) -> bool) -> f64 {
        (self.data_term(1.0, moved) - self.data_term(-1.0, moved)) / 2.0
    }

    fn curvature(&self) -> f64 {
        self.data_term(1.0, &|_| true) + self.data_term(-1.0, &|_| true) - 2.0 * self.at_rest
    }
}
