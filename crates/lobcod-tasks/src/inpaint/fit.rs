//! One fit of the scene: a session, its base layer, and the resulting image.

use super::scene::{Scene, Use};
use lobcod::engine::{
    Context, Discovery, Engine, Measure, Plane, Problem, Session, Support, Visit,
};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::run::Run;
use lobcod::{Border, Dictionary, Extent, Real, Result, Signal};

/// Changes that end the work on a needle or on the support, as fractions of the threshold.
const TOLERANCE: f64 = 0.05;
/// Support rounds inside a tile before moving to its neighbours.
const ROUNDS: usize = 2;

/// A session on the scene minus a base layer.
pub struct Fit<T> {
    pub session: Box<dyn Session<T>>,
    reconstruction: Reconstruction<T>,
}

/// What makes an image of the residuals of a fit.
struct Reconstruction<T> {
    /// Target plus base layer, and the inverse squared weight of every sample, 0 for weight 0.
    target: Signal<T>,
    inverse: Vec<T>,
    /// Samples of a plane.
    length: usize,
}

impl<T: Real> Reconstruction<T> {
    /// The target minus the residual of every plane.
    fn image(&self, mut residual: impl FnMut(usize) -> Result<Vec<T>>) -> Result<Signal<T>> {
        let mut image = self.target.clone();
        let planes = image.data_mut().chunks_exact_mut(self.length);
        for (plane, (samples, inverse)) in
            planes.zip(self.inverse.chunks_exact(self.length)).enumerate()
        {
            // The residual includes the squared weight.
            let residual = residual(plane)?;
            samples
                .iter_mut()
                .zip(&residual)
                .zip(inverse)
                .for_each(|((x, &r), &inverse)| *x -= r * inverse);
        }
        Ok(image)
    }

    /// Shows the observer the image within a sweep.
    fn previews(&self, scene: &Scene<T>, run: &mut Run) -> impl FnMut(&dyn Fn(usize) -> Vec<T>) {
        let observer = run.observer();
        move |residual| {
            observer.preview(&mut || scene.preview(&self.image(|plane| Ok(residual(plane)))?));
        }
    }
}

impl<T: Real> Fit<T> {
    /// Opens a session with zero codes on the problem minus `base`.
    pub fn open(engine: &dyn Engine<T>, problem: Problem<T>, base: &Signal<T>) -> Result<Self> {
        let (mut target, mut inverse) = (base.clone(), Vec::with_capacity(base.data().len()));
        for plane in &problem.planes {
            let whole = &mut target.data_mut()[inverse.len()..];
            whole.iter_mut().zip(&plane.target).for_each(|(x, &detail)| *x += detail);
            inverse.extend(
                plane.weights.as_deref().unwrap_or_default().iter().map(|&w| inverse_square(w)),
            );
        }
        let length = problem.dictionary.channels() * target.extent().volume();
        let reconstruction = Reconstruction { target, inverse, length };
        Ok(Self { session: engine.open(problem, None)?, reconstruction })
    }

    /// Dense initial codes: every needle codes an equal part of its patch.
    pub fn spread(&mut self, scene: &Scene<T>, penalty: f64, run: &mut Run) -> Result<()> {
        if run.is_over() {
            return Ok(());
        }
        let volume = self.session.dictionary().extent().volume() as f64;
        let sweep = Discovery {
            penalty: penalty / volume,
            visit: Visit::Spread,
            local_tolerance: TOLERANCE,
            layer_seed: None,
        };
        self.session.discover(&sweep, run.context())?;
        self.report_progress(scene, penalty, 0, run)
    }

    /// A sweep over all needles, then a few over the non-zero codes.
    pub fn step(
        &mut self,
        scene: &Scene<T>,
        penalty: f64,
        supports: usize,
        run: &mut Run,
    ) -> Result<()> {
        if run.is_over() {
            return Ok(());
        }
        let sweep =
            Discovery { penalty, visit: Visit::All, local_tolerance: TOLERANCE, layer_seed: None };
        let Self { session, reconstruction } = self;
        let context = run.context().clone();
        session.discover_shown(&sweep, &context, &mut reconstruction.previews(scene, run))?;
        self.report_progress(scene, penalty, 0, run)?;
        for _ in 0..supports {
            if run.is_over() || self.support(scene, penalty, run)? < TOLERANCE {
                break;
            }
        }
        Ok(())
    }

    /// Sweeps over the non-zero codes; returns the largest change.
    pub fn support(&mut self, scene: &Scene<T>, penalty: f64, run: &mut Run) -> Result<f64> {
        let sweep = Support { penalty, sweeps: 1, rounds: ROUNDS, tolerance: TOLERANCE };
        let Self { session, reconstruction } = self;
        let context = run.context().clone();
        let sum =
            session.support_shown(&sweep, &context, &mut reconstruction.previews(scene, run))?;
        self.report_progress(scene, penalty, ROUNDS, run)?;
        Ok(sum.largest_change)
    }

    /// The image of codes and base layer: the target minus the residual. Samples of weight 0 are
    /// those of the target.
    pub fn image(&mut self) -> Result<Signal<T>> {
        // Removes rounding errors of sweeps from the residual.
        self.session.measure(Measure::Objective, &Context::default())?;
        self.image_so_far()
    }

    /// The same with the rounding errors of sweeps: it leaves the session as it is.
    fn image_so_far(&mut self) -> Result<Signal<T>> {
        let Self { session, reconstruction } = self;
        reconstruction.image(|plane| session.residual(plane))
    }

    /// Counts the sweeps of the session (support sweeps, or one over all needles), reports progress
    /// and shows the image.
    fn report_progress(
        &mut self,
        scene: &Scene<T>,
        penalty: f64,
        support_sweeps: usize,
        run: &mut Run,
    ) -> Result<()> {
        let sums = self.session.measure(Measure::Progress, run.context())?;
        run.progress.objective = sums.iter().map(|m| m.objective(penalty)).sum();
        run.progress.nonzeros = sums.iter().map(|m| m.nonzeros).sum();
        run.progress.discovery_sweeps += usize::from(support_sweeps == 0);
        run.progress.support_sweeps += support_sweeps;
        run.progress.stage_penalty = penalty;
        run.note_memory(self.session.memory());
        run.pause();
        let mut fault = Ok(());
        run.observer().preview(&mut || {
            let image = self.image_so_far().inspect_err(|e| fault = Err(e.clone()))?;
            scene.preview(&image)
        });
        fault
    }
}

fn inverse_square<T: Real>(weight: T) -> T {
    if weight == T::ZERO { T::ZERO } else { T::ONE / (weight * weight) }
}

/// The problem of one fit. Samples that may not be used take the value of the thin plate, with a
/// small weight (the trust), so that atoms do not oscillate where little is known. Samples that are
/// not coded have weight 0.
pub fn problem<T: Real>(
    scene: &Scene<T>,
    samples: Use,
    base: &Signal<T>,
    dictionary: &Dictionary<T>,
    trust: f64,
) -> Problem<T> {
    let extent = scene.signal.extent();
    let trusted = |w: T| if w == T::ZERO { T::from_f64(trust) } else { w };
    let coded = || scene.coded().iter().cycle();
    let weights: Vec<T> = scene
        .weights(samples)
        .iter()
        .zip(coded())
        .map(|(&w, &coded)| if coded { trusted(w) } else { T::ZERO })
        .collect();
    let target: Vec<T> = scene
        .plate(samples)
        .data()
        .iter()
        .zip(base.data())
        .zip(coded())
        .map(|((&x, &b), &coded)| if coded { x - b } else { T::ZERO })
        .collect();
    let length = dictionary.channels() * extent.volume();
    let plane = |(target, weights): (&[T], &[T])| Plane {
        target: target.to_vec(),
        weights: Some(weights.to_vec()),
        ..empty(extent)
    };
    let planes = target.chunks_exact(length).zip(weights.chunks_exact(length)).map(plane).collect();
    Problem { planes, ..outline(extent, 0, dictionary) }
}

/// The problem of a fit without its samples.
pub fn outline<T: Real>(extent: Extent, channels: usize, dictionary: &Dictionary<T>) -> Problem<T> {
    Problem {
        planes: vec![empty(extent); channels / dictionary.channels()],
        dictionary: dictionary.clone(),
        border: Border::Free,
        grouping: Grouping::default_tiles(extent.rank()),
        atom_weights: vec![T::ONE; dictionary.len()],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    }
}

fn empty<T>(extent: Extent) -> Plane<T> {
    Plane { weights: Some(Vec::new()), ..Plane::empty(extent) }
}
