//! Inpainting: estimates missing samples from the known ones.

mod answers;
mod background;
mod blend;
mod copy;
mod fit;
mod groups;
mod held_out;
mod member;
mod near;
mod params;
mod path;
mod report;
mod scene;
mod smooth;
mod specific;
mod turned;
mod windows;

pub use params::{Fill, InpaintParams, Preset};
pub use path::PathPoint;
pub use report::{AnswerReport, InpaintReport};

use answers::Answers;
use groups::Improvement;
use lobcod::engine::{Engine, Problem};
use lobcod::memory;
use lobcod::run::{Limits, Run};
use lobcod::{Dictionary, Error, Extent, Mask, Observer, Real, Result, Signal, Status};
use near::Near;
use scene::{Scene, Use, Whole};
use std::ops::Range;
use windows::Mosaic;

/// Known samples around a hole that decide how it is filled, in lengths of an atom.
const MARGIN: usize = 2;
/// Fraction of the memory limit that a mosaic may take; estimates are not exact.
const FRACTION_OF_LIMIT: f64 = 0.8;
/// Non-zeros per sample assumed by memory estimates, for a first penalty of one standard deviation
/// of the details.
const EXPECTED_DENSITY: f64 = 2.5;
/// Images in memory besides a session and the answers.
const PLANES: usize = 12;

/// Inpainting with validated parameters.
///
/// The signal is its base layer (the local mean, re-estimated from the filled image) plus `sum_i
/// P_i^T D a_i`, fitted only to the known samples:
///
/// ```text
/// min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  penalty sum_ik |a_ik|        (eq. 15)
/// ```
///
/// Codes start dense (every needle codes an equal part of its patch, section III-B) while the
/// penalty is lowered. A few known samples are held out to choose the penalty, and the weights if
/// several answers are averaged (given and learnt atoms, mirrored copies, windows of the base
/// layer). In the end they are included again. If the parameters ask for it, groups of similar
/// patches improve the average of a 2-D image, which gives one more answer. Cost: a dense sweep, 5
/// to 10 sparse ones and their support sweeps for every answer. Missing samples are never read.
#[derive(Clone, Debug, PartialEq)]
pub struct Inpainter {
    params: InpaintParams,
}

/// A filled signal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inpainted<T> {
    /// Known samples as given, the others filled in.
    pub image: Signal<T>,
    /// The fit, known samples included; outside windows around the holes the signal itself, unless
    /// the parameters ask for a fit everywhere.
    pub fit: Signal<T>,
    /// The learnt dictionary with the largest weight, if one was learnt.
    pub learnt: Option<Dictionary<T>>,
    /// Which pixels were copied from elsewhere in the image, if any; see [`Fill`].
    pub copied: Option<Vec<bool>>,
    /// Report of the run.
    pub report: InpaintReport,
}

impl Inpainter {
    /// The parameters.
    pub fn params(&self) -> &InpaintParams {
        &self.params
    }

    /// Fills the missing samples. A signal without holes is returned unchanged.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, Mask, Signal};
    /// use lobcod_tasks::inpaint::InpaintParams;
    /// let extent = Extent::new(&[32, 32])?;
    /// let image = Signal::from_planar(
    ///     extent,
    ///     1,
    ///     (0..1024).map(|i| (100 + 5 * (i % 32)) as f32).collect(),
    /// )?;
    /// let known: Vec<bool> = (0..1024).map(|i| i % 3 != 1).collect();
    /// let inpaint = InpaintParams::default().check()?;
    /// let filled = inpaint.run(
    ///     &CpuEngine::new(0)?,
    ///     &image,
    ///     &Mask::from_known(extent, &known)?,
    ///     &[Dictionary::natural()],
    ///     &mut (),
    /// )?;
    /// assert!((filled.image.data()[16 * 32 + 16] - 180.0).abs() < 4.0);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
        observer: &mut dyn Observer,
    ) -> Result<Inpainted<T>> {
        check_dictionaries(signal, dictionaries)?;
        known.check_fits(signal)?;
        let limits = Limits { time: self.params.time_limit, memory: None };
        let mut run = Run::begin(limits, engine.agreement(), observer);
        let stop = run.untimed_context().stop;
        let copied = copy::copy(self.params.fill, signal, known, self.params.seed, &stop)?;
        let (signal, known) = copied.as_ref().map_or((signal, known), |c| (&c.image, &c.known));
        let filled = self.run_model(engine, signal, known, dictionaries, &mut run)?;
        Ok(Inpainted { copied: copied.map(|c| c.pixels), ..filled })
    }

    /// Fills the missing samples by the sparse model.
    fn run_model<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
        run: &mut Run,
    ) -> Result<Inpainted<T>> {
        let mosaics = self.mosaics(engine, known, signal.channels(), dictionaries)?;
        memory::check(
            self.memory_of(engine, &mosaics, signal, dictionaries)?,
            self.params.max_memory,
        )?;
        let Some(mosaics) = mosaics else {
            return self.fill(engine, (signal, known, None), dictionaries, 0.0..1.0, run);
        };
        let mut filled: Option<Inpainted<T>> = None;
        let mut image = signal.clone();
        for (number, mosaic) in mosaics.iter().enumerate() {
            let at = |i: usize| i as f64 / mosaics.len() as f64;
            let (part, mask) =
                (mosaic.gather(signal)?, Mask::new(mosaic.gather(known.weights())?)?);
            let range = at(number)..at(number + 1);
            let whole = Whole { image: &image, known, mosaic };
            let answer =
                self.fill(engine, (&part, &mask, Some(whole)), dictionaries, range, run)?;
            mosaic.paste(&answer.image, known, &mut image);
            filled = Some(match filled {
                Some(earlier) => earlier.and(answer),
                None => answer,
            });
        }
        let filled = filled.expect("there is at least one mosaic");
        Ok(Inpainted { fit: image.clone(), image, ..filled })
    }

    /// The mosaics of windows that hold the holes; `None` if the signal is filled as a whole.
    fn mosaics<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        known: &Mask<T>,
        channels: usize,
        dictionaries: &[Dictionary<T>],
    ) -> Result<Option<Vec<Mosaic>>> {
        let extent = known.weights().extent();
        if self.params.everywhere || extent.rank() != 2 {
            return Ok(None);
        }
        let whole = self.estimate_memory(engine, extent, channels, dictionaries)?;
        let per_sample = (whole as f64 / extent.volume() as f64).max(1.0);
        let limit = self.params.max_memory.map_or(f64::INFINITY, |bytes| bytes as f64);
        let longest = |d: &Dictionary<T>| d.extent().axes().iter().copied().max().unwrap_or(1);
        let margin = MARGIN * dictionaries.iter().map(longest).max().unwrap_or(1);
        let most_samples = (FRACTION_OF_LIMIT * limit / per_sample) as usize;
        Ok(Mosaic::around_holes(known, channels, margin, most_samples.max(4 * margin * margin)))
    }

    /// Samples of a channel near the holes, which are coded: the run time follows their number.
    pub fn coded_samples<T: Real>(&self, known: &Mask<T>, dictionaries: &[Dictionary<T>]) -> usize {
        let weights = known.weights();
        let near = Near::new(&self.params, weights.extent(), dictionaries).of(weights.data());
        near.into_iter().filter(|near| *near).count()
    }

    /// Bytes that filling a signal with these holes is expected to need, without what it is given.
    pub fn estimate_memory_of<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        signal: &Signal<T>,
        known: &Mask<T>,
        dictionaries: &[Dictionary<T>],
    ) -> Result<u64> {
        let mosaics = self.mosaics(engine, known, signal.channels(), dictionaries)?;
        self.memory_of(engine, &mosaics, signal, dictionaries)
    }

    fn memory_of<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        mosaics: &Option<Vec<Mosaic>>,
        signal: &Signal<T>,
        dictionaries: &[Dictionary<T>],
    ) -> Result<u64> {
        let of =
            |extent: Extent| self.estimate_memory(engine, extent, signal.channels(), dictionaries);
        let Some(mosaics) = mosaics else { return of(signal.extent()) };
        let parts = mosaics.iter().map(|mosaic| of(mosaic.extent()?));
        let largest = parts.collect::<Result<Vec<u64>>>()?.into_iter().max().unwrap_or(0);
        Ok(largest + (2 * signal.data().len() * size_of::<T>()) as u64)
    }

    /// Fills a signal, or a mosaic of its windows, as a whole.
    fn fill<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        (signal, known, whole): (&Signal<T>, &Mask<T>, Option<Whole<T>>),
        dictionaries: &[Dictionary<T>],
        range: Range<f64>,
        run: &mut Run,
    ) -> Result<Inpainted<T>> {
        let scene = Scene::new(
            &self.params,
            engine.threads(),
            signal,
            known,
            dictionaries,
            whole,
            run.untimed_context().stop,
        )?;
        if scene.weights(Use::Known).iter().all(|&w| w != T::ZERO) {
            let report = self.report(engine, run, &scene, Vec::new());
            return Ok(Inpainted {
                image: signal.clone(),
                fit: signal.clone(),
                learnt: None,
                copied: None,
                report,
            });
        }
        let params = self.params.clone().with(|p| p.variants = self.variants(&scene));
        let coded = params.variants > 0;
        let mut answers = std::thread::scope(|scope| -> Result<Answers<T>> {
            if engine.threads() > 1 && !scene.held_out.is_empty() {
                // Needed only in the second half of the run.
                scope.spawn(|| scene.make_plate_of_known());
            }
            let mut answers = Answers(Vec::new());
            let range = if self.groups(signal.extent()) {
                range.start..range.start + 0.5 * (range.end - range.start)
            } else {
                range.clone()
            };
            for (number, dictionary) in dictionaries.iter().enumerate().filter(|_| coded) {
                let length = (range.end - range.start) / dictionaries.len() as f64;
                let start = range.start + length * number as f64;
                let part = start..start + length;
                answers.add(&params, engine, &scene, (number, dictionary), part, run)?;
            }
            Ok(answers)
        })?;
        answers.add_plate(&scene);
        if self.groups(signal.extent()) && !scene.held_out.is_empty() && !run.is_over() {
            let middle = 0.5 * (range.start + range.end);
            run.begin_part(if coded { middle } else { range.start }..range.end);
            let improvement = (self.improvement(), self.params.groups);
            answers.add_groups(improvement, engine.threads(), &scene, run)?;
        }
        let fit = answers.average(&scene)?.finite()?;
        let mut image = fit.clone();
        for (i, (sample, w)) in
            image.data_mut().iter_mut().zip(scene.weights(Use::Known)).enumerate()
        {
            if *w != T::ZERO {
                *sample = signal.data()[i];
            }
        }
        let learnt = answers.best_learnt();
        let report = self.report(
            engine,
            run,
            &scene,
            answers.0.into_iter().map(|answer| answer.report).collect(),
        );
        Ok(Inpainted { image, fit, learnt, copied: None, report })
    }

    /// Bytes that filling a signal of this shape as a whole is expected to need, without what it is
    /// given.
    pub fn estimate_memory<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        extent: Extent,
        channels: usize,
        dictionaries: &[Dictionary<T>],
    ) -> Result<u64> {
        let sessions = dictionaries.iter().map(|dictionary| {
            let problem = fit::outline(extent, channels, dictionary);
            engine.estimate_memory(
                &Problem { learning: self.params.learn, ..problem },
                EXPECTED_DENSITY / self.params.density,
            )
        });
        let session = sessions.collect::<Result<Vec<u64>>>()?.into_iter().max().unwrap_or(0);
        let groups = if self.groups(extent) {
            groups::memory(self.improvement(), extent, channels, engine.threads())
        } else {
            0
        };
        let answers = dictionaries.len()
            * self.params.windows.len()
            * (self.params.variants.max(1) + usize::from(self.params.learn));
        Ok(session.max(groups)
            + ((PLANES + answers) * channels * extent.volume() * size_of::<T>()) as u64)
    }

    /// Whether groups of similar patches improve the average of the answers.
    fn groups(&self, extent: Extent) -> bool {
        self.params.groups > 0 && extent.rank() == 2
    }

    /// How groups improve the average.
    fn improvement(&self) -> Improvement {
        if self.params.variants == 0 { groups::QUICK } else { groups::THOROUGH }
    }

    /// Copies of every dictionary that are coded. Without any, the thin plate is improved by
    /// groups, which takes held-out samples.
    fn variants<T: Real>(&self, scene: &Scene<T>) -> usize {
        let coded = !self.is_without_codes(scene.signal.extent()) || scene.held_out.is_empty();
        self.params.variants.max(usize::from(coded))
    }

    /// Whether groups of similar patches alone fill a signal of this shape, unless so little is
    /// known that no samples can be held out.
    pub fn is_without_codes(&self, extent: Extent) -> bool {
        let p = &self.params;
        let coded = p.variants > 0 || p.penalty.is_some() || p.learn || p.everywhere;
        !coded && self.groups(extent)
    }

    fn report<T: Real>(
        &self,
        engine: &dyn Engine<T>,
        run: &Run,
        scene: &Scene<T>,
        answers: Vec<AnswerReport>,
    ) -> InpaintReport {
        let coded = || answers.iter().filter(|a| a.dictionary.is_some());
        let most = coded().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let total: f64 = coded().map(|a| a.weight).sum();
        let penalty = if total > 0.0 {
            coded().map(|a| a.weight * a.penalty).sum::<f64>() / total
        } else {
            most.map_or(0.0, |a| a.penalty)
        };
        InpaintReport {
            status: run.ending().unwrap_or(Status::Converged),
            penalty,
            path: most.map_or(Vec::new(), |a| a.path.clone()),
            answers,
            held_out: scene.held_out.len(),
            discovery_sweeps: run.progress.discovery_sweeps,
            support_sweeps: run.progress.support_sweeps,
            seconds: run.seconds(),
            working_memory_bytes: run.peak_memory(),
            threads: engine.threads(),
            engine: engine.name(),
            precision: T::NAME,
        }
    }
}

impl<T> Inpainted<T> {
    /// Two parts of one work: the image and the answers of the later, sums of both.
    fn and(self, later: Self) -> Self {
        let (a, b) = (self.report, later.report);
        let report = InpaintReport {
            status: a.status.max(b.status),
            held_out: a.held_out + b.held_out,
            working_memory_bytes: a.working_memory_bytes.max(b.working_memory_bytes),
            ..b
        };
        Self { learnt: later.learnt.or(self.learnt), report, ..later }
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
        d.check_channels(signal.channels())?;
    }
    Ok(())
}
