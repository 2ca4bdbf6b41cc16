//! One fit of the scene: a session, its base layer, and what they make of the picture.

use super::pace::Pace;
use super::scene::{Scene, Use};
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, Engine, Plane, Problem, Session, State, Support, Visit};
use crate::error::Result;
use crate::extent::Extent;
use crate::grid::Grouping;
use crate::pursuit::Local;
use crate::real::Real;
use crate::signal::Signal;

/// Changes that end the work on a needle or on the support, in shares of the threshold.
const TOLERANCE: f64 = 0.05;
/// Support rounds inside a tile before its neighbours follow.
const ROUNDS: usize = 2;

/// A session on the scene less a base layer.
pub(super) struct Fit<T> {
    pub(super) session: Box<dyn Session<T>>,
    /// What the session codes and its base layer, and one over the squared weight of every sample.
    target: Signal<T>,
    inverse: Vec<T>,
}

impl<T: Real> Fit<T> {
    /// Opens a session with zero codes on the problem that `base` leaves.
    pub(super) fn open(engine: &dyn Engine<T>, problem: Problem<T>, base: &Signal<T>, pace: &Pace) -> Result<Self> {
        let (mut target, mut inverse) = (base.clone(), Vec::with_capacity(base.data().len()));
        for plane in &problem.planes {
            let whole = &mut target.data_mut()[inverse.len()..];
            whole.iter_mut().zip(&plane.target).for_each(|(x, &detail)| *x += detail);
            inverse.extend(plane.weights.as_deref().unwrap_or_default().iter().map(|&w| T::ONE / (w * w)));
        }
        let mut session = engine.open(problem)?;
        session.heed(pace.stop.clone());
        Ok(Self { session, target, inverse })
    }

    /// Dense first codes: every needle codes its share of its patch, none seeing the others.
    pub(super) fn spread(&mut self, penalty: f64, pace: &mut Pace) {
        if pace.is_over() {
            return;
        }
        let share = self.session.dictionary().extent().volume() as f64;
        let sweep = Discovery { penalty: penalty / share, visit: Visit::Spread, local_tolerance: TOLERANCE, layer_seed: None };
        self.session.discover(&sweep);
        self.session.refresh();
        pace.note(&mut *self.session, penalty, 0);
    }

    /// A sweep over all needles, then a few over the non-zero codes.
    pub(super) fn step(&mut self, penalty: f64, supports: usize, pace: &mut Pace) {
        if pace.is_over() {
            return;
        }
        self.session.discover(&Discovery { penalty, visit: Visit::All, local_tolerance: TOLERANCE, layer_seed: None });
        pace.note(&mut *self.session, penalty, 0);
        for _ in 0..supports {
            if pace.is_over() || self.support(penalty, pace) < TOLERANCE {
                break;
            }
        }
    }

    /// Sweeps over the non-zero codes; gives the largest change.
    pub(super) fn support(&mut self, penalty: f64, pace: &mut Pace) -> f64 {
        let change = self.session.support(&Support { penalty, sweeps: 1, rounds: ROUNDS, tolerance: TOLERANCE }).largest_change;
        pace.note(&mut *self.session, penalty, ROUNDS);
        change
    }

    /// Takes codes over.
    pub(super) fn resume(&mut self, state: &State<T>) {
        self.session.restore(state);
        self.session.refresh();
    }

    /// The picture the codes stand for, base layer included: what the residual leaves of the target. All weights must be above 0.
    pub(super) fn picture(&mut self) -> Signal<T> {
        self.session.refresh();
        let mut picture = self.target.clone();
        let length = self.session.dictionary().channels() * picture.extent().volume();
        let planes = picture.data_mut().chunks_exact_mut(length).zip(self.inverse.chunks_exact(length));
        for (plane, (samples, inverse)) in planes.enumerate() {
            // The residual carries the squared weight.
            let residual = self.session.residual(plane);
            samples.iter_mut().zip(&residual).zip(inverse).for_each(|((x, &r), &inverse)| *x -= r * inverse);
        }
        picture
    }
}

/// The problem of one fit, the atoms held still. Samples that may not be used stand on the thin plate through the others, with a small
/// weight, the trust in it: where few samples are known, atoms fitted to them alone swing freely in between.
pub(super) fn problem<T: Real>(
    scene: &Scene<T>,
    samples: Use,
    base: &Signal<T>,
    dictionary: &Dictionary<T>,
    trust: f64,
) -> Problem<T> {
    let extent = scene.signal.extent();
    let trusted = |&w: &T| if w == T::ZERO { T::from_f64(trust) } else { w };
    let weights: Vec<T> = scene.weights(samples).iter().map(trusted).collect();
    let target: Vec<T> = scene.plate(samples).data().iter().zip(base.data()).map(|(&x, &b)| x - b).collect();
    let length = dictionary.channels() * extent.volume();
    let plane =
        |(target, weights): (&[T], &[T])| Plane { target: target.to_vec(), weights: Some(weights.to_vec()), ..empty(extent) };
    let planes = target.chunks_exact(length).zip(weights.chunks_exact(length)).map(plane).collect();
    Problem { planes, ..outline(extent, 0, dictionary) }
}

/// The problem of a fit without its samples.
pub(super) fn outline<T: Real>(extent: Extent, channels: usize, dictionary: &Dictionary<T>) -> Problem<T> {
    Problem {
        planes: vec![empty(extent); channels / dictionary.channels()],
        dictionary: dictionary.clone(),
        border: Border::Free,
        grouping: Grouping::default_tiles(extent.rank()),
        atom_weights: vec![T::ONE; dictionary.len()],
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    }
}

fn empty<T>(extent: Extent) -> Plane<T> {
    Plane { extent, target: Vec::new(), weights: Some(Vec::new()), position_weights: None, position_caps: None, held: None }
}
