//! Inpainting: missing samples from the known ones.

mod answers;
mod background;
mod blend;
mod colour;
mod fit;
mod held_out;
mod member;
mod pace;
mod params;
mod path;
mod report;
mod scene;
mod smooth;
mod specific;
mod turned;

pub use params::InpaintParams;
pub use path::PathPoint;
pub use report::{AnswerReport, InpaintReport};

use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine, Problem};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::memory;
use crate::observe::Observer;
use crate::parallel;
use crate::pursuit::checked;
use crate::real::Real;
use crate::signal::Signal;
use answers::Answers;
use pace::Pace;
use scene::{Scene, Use};

/// Non-zeros a sample that memory estimates count with, where dense first codes begin at a penalty of one standard deviation of the
/// details; a textured photograph has about as many.
const EXPECTED_DENSITY: f64 = 2.5;
/// Pictures held at once beside a session and the answers: the scene with its weights and plates, the base layer, what is fitted.
const PLANES: usize = 12;

/// Inpainting whose parameters were checked.
///
/// The signal is its base layer (the local mean, re-estimated from the filled picture) plus `sum_i P_i^T D a_i`, fitted to the known
/// samples alone:
///
/// ```text
/// min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  penalty sum_ik |a_ik|        (eq. 15)
/// ```
///
/// Codes start dense (every needle codes its share of its patch, section III-B) and follow the penalty from high to low. A few
/// known samples are held out; they choose the penalty, and the weights where several answers are averaged (given and learnt atoms,
/// mirrored copies, windows of the base layer). At the end they are known again. Cost: a dense sweep, 5 to 10 sparse ones and their
/// support sweeps for every answer. Hidden samples are never read.
#[derive(Clone, Debug, PartialEq)]
pub struct Inpaint {
    params: InpaintParams,
}

/// A filled signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Inpainted<T> {
    /// Known samples as they were given, the others filled in.
    pub picture: Signal<T>,
    /// The fit everywhere, known samples included.
    pub fit: Signal<T>,
    /// The learnt dictionary with the largest share, if one was learnt.
    pub learnt: Option<Dictionary<T>>,
    /// What inpainting says of its work.
    pub report: InpaintReport,
}

impl Inpaint {
    /// The parameters.
    pub fn params(&self) -> &InpaintParams {
        &self.params
    }

    /// Fills what is missing, on the threads of this machine. A signal without holes comes back unchanged.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Mask, Signal, tasks::inpaint::InpaintParams};
    /// let extent = Extent::new(&[32, 32])?;
    /// let picture = Signal::from_planar(extent, 1, (0..1024).map(|i| (100 + 5 * (i % 32)) as f32).collect())?;
    /// let known: Vec<bool> = (0..1024).map(|i| i % 3 != 1).collect();
    /// let inpaint = InpaintParams::default().check()?;
    /// let filled = inpaint.run(&picture, &Mask::from_known(extent, &known)?, &[Dictionary::natural()], &mut ())?;
    /// assert!((filled.picture.data()[16 * 32 + 16] - 180.0).abs() < 4.0);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
        observer: &mut dyn Observer,
    ) -> Result<Inpainted<T>> {
        self.run_on(&CpuEngine::new(self.params.threads)?, signal, known, dictionaries, observer)
    }

    /// Fills what is missing on a given engine.
    pub fn run_on<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
        observer: &mut dyn Observer,
    ) -> Result<Inpainted<T>> {
        check_dictionaries(signal, dictionaries)?;
        memory::check(self.needed(engine, signal.extent(), signal.channels(), dictionaries)?, self.params.max_memory)?;
        let mut pace = Pace::new(self.params.time_limit, engine.ranks(), observer);
        let scene = Scene::new(&self.params, signal, known, dictionaries, pace.asked.clone())?;
        if scene.weights(Use::Known).iter().all(|&w| w != T::ZERO) {
            let report = self.report(engine, &pace, &scene, Vec::new());
            return Ok(Inpainted { picture: signal.clone(), fit: signal.clone(), learnt: None, report });
        }
        let mut answers = std::thread::scope(|scope| -> Result<Answers<T>> {
            if parallel::count(self.params.threads) > 1 && !scene.held_out.is_empty() {
                // Asked for only after the first half of the work.
                scope.spawn(|| scene.make_plate_of_known());
            }
            let mut answers = Answers::default();
            for (number, dictionary) in dictionaries.iter().enumerate() {
                answers.add(&self.params, engine, &scene, (number, dictionary), &mut pace)?;
            }
            Ok(answers)
        })?;
        answers.add_plate(&scene);
        let fit = checked(answers.average(&scene)?)?;
        let mut picture = fit.clone();
        for (i, (sample, w)) in picture.data_mut().iter_mut().zip(scene.weights(Use::Known)).enumerate() {
            if *w != T::ZERO {
                *sample = signal.data()[i];
            }
        }
        let learnt = answers.best_learnt();
        let report = self.report(engine, &pace, &scene, answers.reports);
        Ok(Inpainted { picture, fit, learnt, report })
    }

    /// Bytes that the work is expected to need on the CPU beside what it is given.
    pub fn estimate_memory<T: Real>(&self, extent: Extent, channels: usize, dictionaries: &[Dictionary<T>]) -> Result<u64> {
        self.needed(&CpuEngine::new(self.params.threads)?, extent, channels, dictionaries)
    }

    fn needed<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        extent: Extent,
        channels: usize,
        dictionaries: &[Dictionary<T>],
    ) -> Result<u64> {
        let sessions = dictionaries.iter().map(|dictionary| {
            let problem = fit::outline(extent, channels, dictionary);
            engine.estimate_memory(&Problem { learning: self.params.learn, ..problem }, EXPECTED_DENSITY / self.params.density)
        });
        let session = sessions.collect::<Result<Vec<u64>>>()?.into_iter().max().unwrap_or(0);
        let answers = dictionaries.len() * self.params.windows.len() * (self.params.variants + usize::from(self.params.learn));
        Ok(session + ((PLANES + answers) * channels * extent.volume() * size_of::<T>()) as u64)
    }

    fn report<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        pace: &Pace,
        scene: &Scene<T>,
        answers: Vec<AnswerReport>,
    ) -> InpaintReport {
        let (discovery_sweeps, support_sweeps) = pace.sweeps();
        let coded = || answers.iter().filter(|a| a.dictionary.is_some());
        let most = coded().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let share: f64 = coded().map(|a| a.weight).sum();
        let penalty = if share > 0.0 {
            coded().map(|a| a.weight * a.penalty).sum::<f64>() / share
        } else {
            most.map_or(0.0, |a| a.penalty)
        };
        InpaintReport {
            status: pace.status(),
            penalty,
            path: most.map_or(Vec::new(), |a| a.path.clone()),
            answers,
            held_out: scene.held_out.len(),
            discovery_sweeps,
            support_sweeps,
            seconds: pace.seconds(),
            working_memory_bytes: pace.peak_memory,
            threads: engine.threads(),
            engine: engine.name(),
            precision: T::NAME,
        }
    }
}

fn check_dictionaries<T: Real>(signal: &Signal<T>, dictionaries: &[Dictionary<T>]) -> Result<()> {
    if dictionaries.is_empty() {
        return Err(Error::Data("there is no dictionary to fill the holes with".into()));
    }
    for d in dictionaries {
        if d.extent().rank() != signal.extent().rank() {
            return Err(Error::Shape(format!(
                "atoms of {} do not fit a {} signal; they need as many axes",
                d.extent(),
                signal.extent()
            )));
        }
        if d.channels() != 1 && d.channels() != signal.channels() {
            return Err(Error::Shape(format!(
                "the atoms have {} channels but the signal has {}; use a dictionary of one channel or of as many as the signal",
                d.channels(),
                signal.channels()
            )));
        }
    }
    Ok(())
}
