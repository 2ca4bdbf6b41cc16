//! The atom-wise method.

use super::LearnPoint;
use super::params::LearnParams;
use super::recentre::recentre;
use super::replace::replace_unused;
use crate::border::Border;
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, Engine, Measure, Problem, Session, State, Support, Visit};
use crate::error::{Error, Result};
use crate::needles::Needles;
use crate::observe::{Control, Observer, Progress};
use crate::pursuit::{Observed, Penalty, gather_needles};
use crate::real::Real;
use crate::report::Status;
use std::time::Instant;

/// Codes whose correlation exceeds the threshold by less than this share are left for later: the dictionary will have moved by then.
const LOCAL_TOLERANCE: f64 = 0.02;
/// Support sweeps before each pass over the atoms, and the change (in shares of the threshold) that ends them.
const SUPPORT_ROUNDS: usize = 2;
const SUPPORT_TOLERANCE: f64 = 0.01;
/// How far the dictionary is carried on along its last move: at first, at most, and the growth from pass to pass.
const FIRST_CARRY: f64 = 0.5;
const MOST_CARRY: f64 = 3.0;
const CARRY_GROWTH: f64 = 1.15;

/// Passes between two looks at whether atoms sit well in their boxes.
const RECENTRE_EVERY: usize = 8;

/// Where the learning ended.
pub(super) struct Outcome<T> {
    pub(super) status: Status,
    pub(super) penalty: f64,
    pub(super) passes: usize,
    pub(super) dictionary: Dictionary<T>,
    pub(super) history: Vec<LearnPoint>,
    state: State<T>,
}

impl<T: Real> Outcome<T> {
    pub(super) fn needles(&self, signals: &[Observed<T>], dictionary_channels: usize, border: Border) -> Vec<Needles<T>> {
        gather_needles(signals, dictionary_channels, border, self.state.codes.clone())
    }
}

pub(super) fn learn<T: Real>(
    params: &LearnParams,
    engine: &dyn Engine<T>,
    problem: Problem<T>,
    observer: &mut dyn Observer,
) -> Result<Outcome<T>> {
    let clock = Instant::now();
    let planes = problem.planes.clone();
    let mut session = engine.open(problem)?;
    let penalty = match params.penalty {
        Penalty::Absolute(penalty) => penalty,
        Penalty::Relative(share) => {
            let zero = session.measure(Measure::Certificate { penalty: f64::INFINITY, slack: 0.0 });
            share * zero.iter().map(|m| m.largest_correlation).fold(0.0, f64::max)
        }
    };
    if penalty == 0.0 {
        return Err(Error::Data("the signals are zero everywhere, so there is nothing to learn".into()));
    }
    let mut best =
        Standing { objective: f64::INFINITY, nonzeros: 0, dictionary: session.dictionary().clone(), state: session.fetch() };
    let mut before = best.dictionary.clone();
    let (mut carry, mut most_carry) = (0.0, MOST_CARRY);
    let mut recentred = false;
    let mut history: Vec<LearnPoint> = Vec::new();
    let mut status = Status::MaxSweeps;
    for pass in 1..=params.passes {
        let began = recentred.then(|| session.dictionary().clone());
        recentred = false;
        one_pass(&mut *session, penalty, params.rounds);
        let (objective, nonzeros) = measure(&mut *session, penalty);
        if objective <= best.objective {
            let last = std::mem::replace(&mut best.dictionary, session.dictionary().clone());
            // Being shifted in its box is not a move of the atom to be carried on.
            before = began.unwrap_or(last);
            (best.objective, best.nonzeros, best.state) = (objective, nonzeros, session.fetch());
            carry = (CARRY_GROWTH * carry).clamp(FIRST_CARRY, most_carry);
        } else {
            // Carried too far: back to the best, and more slowly.
            session.set_dictionary(best.dictionary.clone());
            session.restore(&best.state);
            session.refresh();
            before.clone_from(&best.dictionary);
            most_carry = (0.8 * most_carry).max(FIRST_CARRY);
            carry = FIRST_CARRY;
        }
        let seconds = clock.elapsed().as_secs_f64();
        let mut point = LearnPoint { seconds, pass, objective: best.objective, nonzeros: best.nonzeros, replaced_atoms: 0 };
        let ended = end_of(params, &point, observer);
        if ended.is_none() && pass < params.passes {
            point.replaced_atoms = replace_unused(&mut *session, &planes, params.border, params.seed.wrapping_add(pass as u64));
            if point.replaced_atoms > 0 {
                // A new atom changes the problem: no comparison with what was, no carrying on.
                best = Standing { objective: f64::INFINITY, dictionary: session.dictionary().clone(), ..best };
                carry = 0.0;
            } else if pass.is_multiple_of(RECENTRE_EVERY) && recentre(&mut *session, &planes, params.border) > 0 {
                // Judged by the next pass like everything else, and taken back if it raised the objective.
                carry = 0.0;
                recentred = true;
            } else if carry > 0.0 {
                carry_on(&mut *session, &before, carry);
            }
        }
        history.push(point);
        if let Some(ended) = ended {
            status = ended;
            break;
        }
    }
    Ok(Outcome { status, penalty, passes: history.len(), dictionary: best.dictionary, history, state: best.state })
}

/// The best so far.
struct Standing<T> {
    objective: f64,
    nonzeros: usize,
    dictionary: Dictionary<T>,
    state: State<T>,
}

fn one_pass<T: Real>(session: &mut dyn Session<T>, penalty: f64, rounds: usize) {
    session.discover(&Discovery { penalty, visit: Visit::All, local_tolerance: LOCAL_TOLERANCE, layer_seed: None });
    for _ in 0..rounds {
        session.support(&Support { penalty, rounds: SUPPORT_ROUNDS, tolerance: SUPPORT_TOLERANCE });
        session.improve_atoms();
    }
}

/// Objective from a residual synthesised anew, and the number of non-zeros.
fn measure<T: Real>(session: &mut dyn Session<T>, penalty: f64) -> (f64, usize) {
    session.refresh();
    let planes = session.measure(Measure::Objective);
    let objective = planes.iter().map(|m| 0.5 * m.residual_energy + penalty * m.weighted_l1).sum();
    (objective, planes.iter().map(|m| m.nonzeros).sum())
}

/// Carries the dictionary on along its last move.
fn carry_on<T: Real>(session: &mut dyn Session<T>, before: &Dictionary<T>, carry: f64) {
    let (now, carry) = (session.dictionary(), T::from_f64(carry));
    let data = now.data().iter().zip(before.data()).map(|(&d, &b)| d + carry * (d - b)).collect();
    // An atom that turned round may vanish on the way; then nothing is carried.
    if let Ok(carried) = Dictionary::new(now.extent(), now.channels(), data) {
        session.set_dictionary(carried);
        session.refresh();
    }
}

/// `Some` when the learning ends here.
fn end_of(params: &LearnParams, point: &LearnPoint, observer: &mut dyn Observer) -> Option<Status> {
    let progress = Progress {
        seconds: point.seconds,
        objective: point.objective,
        relative_gap: None,
        tolerance: params.tolerance,
        nonzeros: point.nonzeros,
        discovery_sweeps: point.pass,
        support_sweeps: point.pass * params.rounds * SUPPORT_ROUNDS,
        stage_penalty: 0.0,
    };
    if observer.progress(&progress) == Control::Stop {
        return Some(Status::Interrupted);
    }
    if params.target_objective.is_some_and(|target| point.objective <= target) {
        return Some(Status::Converged);
    }
    let over = params.time_limit.is_some_and(|limit| point.seconds >= limit.as_secs_f64());
    over.then_some(Status::TimeLimit)
}
