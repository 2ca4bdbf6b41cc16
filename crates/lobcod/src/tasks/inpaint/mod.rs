//! Inpainting: missing samples from the known ones.

mod background;
mod blend;
mod colour;
mod fit;
mod member;
mod pace;
mod params;
mod path;
mod scene;
mod specific;
mod turned;

pub use params::InpaintParams;
pub use path::PathPoint;

use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::observe::Observer;
use crate::real::Real;
use crate::report::Status;
use crate::signal::Signal;
use background::Background;
use member::{Member, Start};
use pace::Pace;
use scene::{Scene, Use};

/// Non-zeros a sample that memory estimates count with: dense first codes have many.
const EXPECTED_DENSITY: f64 = 10.0;

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

/// One of the answers that were averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerReport {
    /// Which of the given dictionaries it was made with.
    pub dictionary: usize,
    /// Which mirrored copy of it, 0 = itself.
    pub variant: usize,
    /// Window of the base layer, in lengths of an atom.
    pub window: f64,
    /// Were the atoms learnt on the damaged signal?
    pub learnt: bool,
    /// Its share of the average.
    pub weight: f64,
    /// Penalty it ended at.
    pub penalty: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Its penalty path.
    pub path: Vec<PathPoint>,
}

/// What inpainting says of its work.
#[derive(Clone, Debug, PartialEq)]
pub struct InpaintReport {
    /// Converged, or what ended the run early.
    pub status: Status,
    /// Penalty the answers ended at: their mean, weighted; 0 where there was nothing to code.
    pub penalty: f64,
    /// Penalty path of the answer with the largest share, from the pursuit that filled its base layer to its end.
    pub path: Vec<PathPoint>,
    /// The answers.
    pub answers: Vec<AnswerReport>,
    /// Samples held out.
    pub held_out: usize,
    /// Sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes.
    pub support_sweeps: usize,
    /// Seconds of work.
    pub seconds: f64,
    /// Memory of the largest session, in bytes.
    pub working_memory_bytes: u64,
    /// Threads used.
    pub threads: usize,
    /// Name of the engine.
    pub engine: &'static str,
    /// `"f32"` or `"f64"`.
    pub precision: &'static str,
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
        let scene = Scene::new(&self.params, signal, known, dictionaries)?;
        let mut pace = Pace::new(self.params.time_limit, observer);
        if scene.weights(Use::Known).iter().all(|&w| w != T::ZERO) {
            let report = self.report(engine, &pace, &scene, Vec::new());
            return Ok(Inpainted { picture: signal.clone(), fit: signal.clone(), learnt: None, report });
        }
        let mut found = Found { pictures: Vec::new(), errors: Vec::new(), answers: Vec::new(), learnt: Vec::new() };
        for (number, dictionary) in dictionaries.iter().enumerate() {
            for &window in &self.params.windows {
                self.answer(engine, &scene, (number, dictionary), window, &mut found, &mut pace)?;
            }
        }
        let weights = blend::weights(&found.errors.iter().map(Vec::as_slice).collect::<Vec<_>>());
        found.answers.iter_mut().zip(&weights).for_each(|(answer, &weight)| answer.weight = weight);
        let mut sum = vec![0.0; signal.data().len()];
        for (picture, weight) in found.pictures.iter().zip(&weights) {
            sum.iter_mut().zip(picture.data()).for_each(|(s, x)| *s += weight * x.to_f64());
        }
        let fit = Signal::from_planar(signal.extent(), signal.channels(), sum.into_iter().map(T::from_f64).collect())?;
        let fit = scene.as_given(&fit);
        let mut picture = fit.clone();
        for (i, (sample, w)) in picture.data_mut().iter_mut().zip(scene.weights(Use::Known)).enumerate() {
            if *w != T::ZERO {
                *sample = signal.data()[i];
            }
        }
        let share = |a: &AnswerReport, b: &AnswerReport| a.weight.total_cmp(&b.weight);
        let best = found.answers.iter().filter(|a| a.learnt).max_by(|a, b| share(a, b));
        let learnt =
            best.map(|best| found.learnt[found.answers.iter().filter(|a| a.learnt).position(|a| a == best).unwrap_or(0)].clone());
        let report = self.report(engine, &pace, &scene, found.answers);
        Ok(Inpainted { picture, fit, learnt, report })
    }

    /// Bytes the largest session is expected to need on the CPU.
    pub fn estimate_memory<T: Real>(&self, signal: &Signal<T>, known: &Mask<T>, dictionaries: &[Dictionary<T>]) -> Result<u64> {
        check_dictionaries(signal, dictionaries)?;
        let scene = Scene::new(&self.params, signal, known, dictionaries)?;
        let engine = CpuEngine::new(self.params.threads)?;
        let base = Signal::zeros(signal.extent(), signal.channels());
        let needs = dictionaries.iter().map(|d| {
            let problem = fit::problem(&scene, Use::Known, &base, d);
            engine.estimate_memory(&problem, EXPECTED_DENSITY)
        });
        needs.collect::<Result<Vec<u64>>>().map(|needs| needs.into_iter().max().unwrap_or(0))
    }

    /// The answers of one dictionary and one window of the base layer.
    fn answer<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        scene: &Scene<T>,
        (number, dictionary): (usize, &Dictionary<T>),
        window: f64,
        found: &mut Found<T>,
        pace: &mut Pace,
    ) -> Result<()> {
        if pace.is_over() && !found.pictures.is_empty() {
            return Ok(());
        }
        let (params, limit) = (&self.params, self.params.max_memory);
        let size = scaled(dictionary.extent(), window);
        let background = Background::find(engine, scene, dictionary, size, limit, pace)?;
        let mut atoms: Vec<(usize, bool, Dictionary<T>)> =
            (0..params.variants).map(|variant| (variant, false, turned::turned(dictionary, variant))).collect();
        if params.learn {
            let learnt = specific::learn(engine, scene, dictionary, &background.base, limit, pace)?;
            found.learnt.push(learnt.clone());
            atoms.push((0, true, learnt));
        }
        for (variant, learnt, dictionary) in atoms {
            if pace.is_over() && !found.pictures.is_empty() {
                break;
            }
            let floor = background.best_penalty();
            let start = Start { dictionary: &dictionary, base: &background.base, window: size, floor };
            let member = Member::find(params, engine, scene, &start, pace)?;
            let path = background.path.iter().chain(&member.path).copied().collect();
            let (penalty, nonzeros) = (member.penalty, member.nonzeros);
            found.answers.push(AnswerReport {
                dictionary: number,
                variant,
                window,
                learnt,
                weight: 0.0,
                penalty,
                nonzeros,
                path,
            });
            found.pictures.push(member.picture);
            found.errors.push(member.errors);
        }
        Ok(())
    }

    fn report<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        pace: &Pace,
        scene: &Scene<T>,
        answers: Vec<AnswerReport>,
    ) -> InpaintReport {
        let (discovery_sweeps, support_sweeps) = pace.sweeps();
        let most = answers.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        InpaintReport {
            status: pace.status(),
            penalty: answers.iter().map(|a| a.weight * a.penalty).sum(),
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

/// Answers found so far.
struct Found<T> {
    pictures: Vec<Signal<T>>,
    errors: Vec<Vec<f64>>,
    answers: Vec<AnswerReport>,
    /// Dictionaries of the learnt ones, in their order.
    learnt: Vec<Dictionary<T>>,
}

/// The box of an atom, stretched.
fn scaled(atom: Extent, by: f64) -> Extent {
    let axes = atom.padded().map(|n| if n == 1 { 1 } else { ((n as f64 * by).round() as usize).max(2) });
    atom.with_padded(axes)
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
