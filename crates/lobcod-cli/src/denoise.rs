//! `lobcod denoise`: removes noise from an image.

use crate::Outcome;
use crate::args::{ConsoleArgs, DenoiseArgs, RunArgs, ScoringArgs};
use crate::batch::{self, OnImages, PerImage};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::{Finished, Job, flow};
use crate::json;
use crate::machine;
use crate::output::paths::{check_answer, keep_inputs};
use crate::output::table::{Table, number};
use crate::output::{summary, warnings};
use crate::params::time_limit;
use crate::progress::Watcher;
use crate::report::{BeforeAfter, DenoisedPage, Fact, PursuitPage};
use crate::score::{Score, read_reference};
use crate::slices::{Slices, read_image};
use crate::trial::{self, Trial, part_of, trial_params};
use crate::values::{EngineChoice, Preset};
use crate::white::White;
use anyhow::{Result, bail, ensure};
use lobcod::engine::CpuEngine;
use lobcod::{Answer, Dictionary, Extent, Signal, Status};
use lobcod_io::{Axes, FileKind, Image, ReadOptions, WriteOptions, write_image};
use lobcod_tasks::denoise::{
    DenoiseParams, Denoised, Denoiser, DetectedNoise, Effort, Method, Noise, detect_noise,
};
use lobcod_tasks::metrics;
use std::path::Path;

flow!(DenoiseArgs, "denoise");

impl Command for DenoiseArgs {
    fn run(&self) -> Result<Outcome> {
        let is_stack = Slices::of(&self.files.image, &options(self))?.is_some();
        if is_stack && self.files.more.is_empty() { run(self) } else { batch::run(self) }
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn resources(&mut self) -> Option<&mut RunArgs> {
        Some(&mut self.run)
    }

    fn scoring(&self) -> Option<&ScoringArgs> {
        Some(&self.scoring)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }

    fn refuses_ranks(&self) -> Option<&'static str> {
        Some("denoise")
    }

    fn axes(&self) -> Option<Axes> {
        self.axes.map(|axes| match axes {
            // A sequence of images is one stack.
            Axes::Thw => Axes::Dhw,
            Axes::Thwc => Axes::Dhwc,
            axes => axes,
        })
    }
}

impl OnImages for DenoiseArgs {
    fn per_image(&mut self) -> PerImage<'_> {
        PerImage {
            images: &mut self.files,
            outputs: vec![&mut self.output],
            companions: vec![&mut self.scoring.reference],
            report: &mut self.page.report,
        }
    }

    fn run_on_one(&self) -> Result<Outcome> {
        run(self)
    }
}

fn options(args: &DenoiseArgs) -> ReadOptions {
    ReadOptions {
        axes: args.axes(),
        scale: args.scale.value(),
        max_bytes: args.run.max_memory.map(|bytes| bytes.0),
    }
}

/// Removes the noise from the image.
fn run(args: &DenoiseArgs) -> Result<Outcome> {
    let denoiser = denoiser(args)?;
    let groups = matches!(denoiser.params().method, Method::Groups(_));
    let elsewhere = match args.noise {
        Noise::Correlated { .. } => Some(""),
        Noise::Gaussian { .. } | Noise::Poisson { .. } | Noise::Mixed { .. } if groups => {
            Some(", or --method convolutional")
        }
        _ => None,
    };
    if let (EngineChoice::Cuda, Some(elsewhere)) = (args.run.engine, elsewhere) {
        bail!(
            "groups of similar patches are processed on the CPU; use --engine cpu or auto{elsewhere}"
        );
    }
    let flow = args.flow();
    flow.begin()?;
    let options = options(args);
    let slices = Slices::of(&args.files.image, &options)?;
    match slices {
        Some(_) => Slices::check_output(&args.output)?,
        None => check_answer(&args.output)?,
    }
    let dictionary = args.dictionary.file();
    keep_inputs(
        [&args.files.image]
            .into_iter()
            .chain(slices.iter().flat_map(Slices::files))
            .chain(&args.scoring.reference)
            .chain(dictionary),
        [&args.output],
    )?;
    let file = &args.files.image;
    Budget::check_task(
        &flow,
        (std::slice::from_ref(file), &options),
        &args.dictionary,
        size_of::<f32>(),
        |engine, extent, channels, dictionary| {
            denoiser.estimate_memory(engine, extent, channels, dictionary)
        },
    )?;
    let image = read_image::<f32>(file, &options)?;
    ensure!(image.known.is_none(), "{} has missing pixels; fill them first", file.display());
    let shape = (image.signal.extent(), image.signal.channels());
    ensure!(shape.0.rank() > 1, "{} is a sequence, not an image", file.display());
    let chosen = Chosen::of(&args.dictionary, 2)?;
    chosen.check_fits(Extent::new(&shape.0.padded()[1..])?)?;
    chosen.check_grey("denoising processes each channel separately")?;
    let white = White::of(&image.signal, None, image.depth, args.scale.given);
    let reference = read_reference::<f32>(&args.scoring, &options, shape, &white)?;
    let budget = Budget::now(&args.run).with_page(args.page.report.as_ref(), image.signal.data());
    let budget = if reference.is_some() {
        budget.with_temporary(Score::memory::<f32>(shape))
    } else {
        budget
    };
    let denoiser = denoiser.params().clone().with(|p| {
        p.max_memory = budget.room();
        p.scale = white.value;
    });
    let denoiser = denoiser.check()?;
    flow.finish(Denoising {
        args,
        denoiser,
        options,
        slices,
        image,
        chosen,
        white,
        reference,
        budget,
    })
}

/// An image to denoise.
struct Denoising<'a> {
    args: &'a DenoiseArgs,
    denoiser: Denoiser,
    options: ReadOptions,
    /// The files of the image, if it is a stack of them.
    slices: Option<Slices>,
    image: Image<f32>,
    chosen: Chosen<f32>,
    white: White,
    reference: Option<Signal<f32>>,
    budget: Budget,
}

impl<'a> Job for Denoising<'a> {
    type Done = Clean<'a>;

    fn plan(&mut self) -> Result<Plan> {
        let (args, noisy) = (self.args, &self.image.signal);
        let detected = match args.noise {
            Noise::Auto => Some(detect_noise(noisy, self.white.value)?),
            _ => None,
        };
        let denoiser = match detected.and_then(DetectedNoise::to_noise) {
            None => self.denoiser.clone(),
            Some(noise) => self.denoiser.params().clone().with(|p| p.noise = noise).check()?,
        };
        let engine = engine::cpu(&args.run)?;
        let shape = (noisy.extent(), noisy.channels());
        let work = Work {
            images: std::slice::from_ref(&args.files.image),
            shapes: &[shape],
            dictionaries: ("dictionary", std::slice::from_ref(&self.chosen)),
            output: ("clean image", Some(&args.output)),
            needed: denoiser.estimate_memory(&engine, shape.0, shape.1, &self.chosen.dictionary)?,
            budget: self.budget,
            trial: trial(&engine, noisy, &self.chosen.dictionary, &denoiser)?,
        };
        let noise =
            detected.map_or_else(|| words(args.noise, None).into(), |noise| noise.to_string());
        let settings = json::Settings::Denoise {
            noise: words(args.noise, detected),
            detected: detected.map(|noise| noise.to_string()),
        };
        Ok(work.with(vec![("noise", noise)], settings))
    }

    fn run(self) -> Result<Clean<'a>> {
        let mut watcher = Watcher::of(&self.args.console, "denoise");
        let shape = (self.image.signal.extent(), self.image.signal.channels());
        let engine = engine::open(&self.args.run, &[shape])?;
        let denoised = self
            .denoiser
            .run(&*engine, &self.image.signal, &self.chosen.dictionary, &mut watcher)
            .map_err(self.budget.refuse())?;
        let of_pursuit = denoised.report.iter().flat_map(warnings::of);
        let warnings = of_pursuit.chain(warning(&self, &denoised)).collect();
        let (threads, engine) = (engine.threads(), engine.name().to_string());
        Ok(Clean { job: self, denoised, threads, engine, warnings, scores: None })
    }
}

/// Denoises a crop of the image, to estimate the run time.
fn trial(
    engine: &CpuEngine,
    noisy: &Signal<f32>,
    dictionary: &Dictionary<f32>,
    denoiser: &Denoiser,
) -> Result<Trial> {
    let part = part_of(noisy)?;
    let denoiser = trial_params!(denoiser.params()).check()?;
    Trial::run(part.extent(), trial::parts(part.extent(), &[(noisy.extent(), 1)]), || {
        Ok(denoiser.run(engine, &part, dictionary, &mut ())?.status)
    })
}

/// A denoised image.
struct Clean<'a> {
    job: Denoising<'a>,
    denoised: Denoised,
    threads: usize,
    engine: String,
    warnings: Vec<String>,
    scores: Option<Scores>,
}

/// Scores against the reference.
struct Scores {
    peak: f64,
    /// The clean image before rounding.
    clean: Score,
    /// PSNR of the written file.
    written: f64,
    /// PSNR of the noisy image.
    noisy: f64,
}

impl Finished for Clean<'_> {
    type Report = json::Denoise;

    fn status(&self) -> Status {
        self.denoised.status
    }

    fn save(&mut self) -> Result<()> {
        let Denoising { args, image, white, reference, options, slices, .. } = &self.job;
        let kind = FileKind::from_path(&args.output);
        let writing = WriteOptions {
            axes: image.axes,
            depth: kind.map_or(image.depth, |kind| kind.nearest_depth(image.depth)),
            scale: white.value,
            sample_rate: None,
            metadata: image.metadata.clone(),
        };
        match slices {
            Some(slices) => slices.write(&args.output, &self.denoised.image, &writing)?,
            None => write_image(&args.output, &self.denoised.image, &writing)?,
        }
        let given = args.scoring.score.peak;
        white.warn(&args.files.image, reference.is_some() && given.is_none(), Some(&args.output));
        if let Some(truth) = reference {
            let peak = white.peak(given);
            let written = read_image::<f32>(&args.output, options)?.signal;
            self.scores = Some(Scores {
                peak,
                clean: Score::of(&self.denoised.image, truth, peak)?,
                written: metrics::psnr(&written, truth, peak)?,
                noisy: metrics::psnr(&image.signal, truth, peak)?,
            });
        }
        Ok(())
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        let Denoising { args, image, white, chosen, .. } = &self.job;
        let denoised = &self.denoised;
        let view = BeforeAfter {
            name: &json::file(&args.files.image),
            before: ("noisy", &image.signal),
            more: Vec::new(),
            after: ("clean", &denoised.image),
            maps: Vec::new(),
            white: white.value,
        };
        let title = format!("lobcod denoise: {}", args.files.image.display());
        let mut facts = vec![Fact::new("noise", found(args, denoised), "")];
        let scored = self.scores.as_ref().map_or(String::new(), |scores| {
            format!(" PSNR {:.2} dB against the reference.", scores.clean.psnr_db)
        });
        let lead = format!("Noise: {}.{scored}", found(args, denoised));
        let score = self.scores.iter();
        facts.extend(score.flat_map(|s| Fact::scores(&s.clean, "against the reference")));
        let Some(report) = &denoised.report else {
            facts.push(Fact::new("time", format!("{:.2} s", denoised.seconds), "wall time"));
            let adapted = denoised.dictionary.as_ref().filter(|_| !args.keep_atoms);
            let atoms = adapted.map(|adapted| [&chosen.dictionary, adapted]);
            let (view, status) = (view.section()?, denoised.status);
            return DenoisedPage { title, view, atoms, status, lead, facts }.write(path);
        };
        let page = PursuitPage {
            title,
            sections: vec![view.section()?],
            dictionary: denoised.dictionary.as_ref().unwrap_or(&chosen.dictionary),
            answer: &Answer { needles: Vec::new(), layers: Vec::new(), report: report.clone() },
            tolerance: args.run.tolerance,
            lead,
            facts,
        };
        page.write(path)
    }

    fn json(&self) -> json::Denoise {
        let Denoising { args, image, chosen, .. } = &self.job;
        let (denoised, report) = (&self.denoised, self.denoised.report.as_ref());
        let shape = (image.signal.extent(), image.signal.channels());
        json::Denoise {
            status: denoised.status.to_string(),
            noise: words(args.noise, denoised.detected),
            detected: denoised.detected.map(|noise| noise.to_string()),
            strength: args.strength,
            noise_level: denoised.level,
            certificate: report.map(|report| (&report.total).into()),
            penalty: report.map(|report| report.penalty),
            sweeps: report.map(Into::into),
            run: json::Run {
                seconds: denoised.seconds,
                working_memory_bytes: report.map(|report| report.working_memory_bytes),
                peak_memory_bytes: machine::peak_memory(),
                threads: self.threads,
                engine: self.engine.clone(),
                precision: "f32",
                warnings: self.warnings(),
            },
            history: report.map(|report| report.history.iter().map(Into::into).collect()),
            pixels: denoised.image.extent().volume(),
            dictionary: denoised.dictionary.as_ref().map_or("none", |_| &chosen.name).into(),
            scale: args.scale.value(),
            output: json::file(&args.output),
            report: json::optional_file(&args.page.report),
            scores: self.scores.as_ref().map(|scores| json::TaskScores {
                psnr_output_db: json::finite(scores.written),
                psnr_noisy_db: json::finite(scores.noisy),
                ..json::TaskScores::new(scores.peak, &scores.clean)
            }),
            images: vec![json::Image::new(&args.files.image, shape)],
        }
    }

    fn summary(&self) -> String {
        let Denoising { args, chosen, .. } = &self.job;
        let denoised = &self.denoised;
        let mut table = Table::default();
        let shape = summary::shape(denoised.image.extent(), denoised.image.channels());
        table
            .row("image", format!("{}, {shape}", args.files.image.display()))
            .row("noise", found(args, denoised));
        if denoised.dictionary.is_some() {
            table.row("dictionary", chosen.words());
        }
        match &denoised.report {
            Some(report) => summary::pursuit(&mut table, report),
            None => {
                if denoised.status == Status::Interrupted {
                    table.row("status", "interrupted; unprocessed parts are unchanged");
                }
                table.row("run", format!("{:.2} s", denoised.seconds));
            }
        }
        if let Some(Scores { clean, noisy, peak, .. }) = &self.scores {
            let words = clean.words();
            table.row("PSNR", format!("{words} (noisy {noisy:.2} dB, peak {})", number(*peak)));
        }
        table.row("clean image", args.output.display());
        if let Some(page) = &args.page.report {
            table.row("report", page.display());
        }
        table.render()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// Whether options ask for atoms.
fn with_atoms(args: &DenoiseArgs) -> bool {
    args.keep_atoms || args.dictionary.dictionary.is_some()
}

/// The method of the preset, unless the method is given or an option of `--preset fast`.
fn method(args: &DenoiseArgs) -> Result<Method> {
    let with_atoms = with_atoms(args);
    if with_atoms && matches!(args.noise, Noise::Correlated { .. }) {
        bail!("correlated noise is removed without atoms; remove --dictionary and --keep-atoms");
    }
    match (args.method, args.preset) {
        (Some(method), _) => Ok(method.into()),
        (None, Some(Preset::Fast)) => Ok(Method::Local),
        (None, None) if with_atoms => Ok(Method::Local),
        (None, Some(Preset::Best)) if !with_atoms => Ok(Method::Groups(Effort::Best)),
        (None, _) if !with_atoms => Ok(Method::Groups(Effort::Standard)),
        (None, _) => bail!(
            "--dictionary and --keep-atoms are for methods with atoms; use --preset fast, or \
             remove them"
        ),
    }
}

/// The denoiser for these options.
pub fn denoiser(args: &DenoiseArgs) -> Result<Denoiser> {
    let mut params = DenoiseParams::new(args.noise);
    params.method = method(args)?;
    params.strength = args.strength;
    params.fit_atoms = !args.keep_atoms;
    params.scale = args.scale.value();
    params.penalty = args.penalty;
    params.tolerance = args.run.tolerance;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}

/// A warning if the noise does not match the options.
fn warning(job: &Denoising<'_>, denoised: &Denoised) -> Option<String> {
    let args = job.args;
    let impulses = matches!(args.noise, Noise::Impulse { .. })
        || matches!(denoised.detected, Some(DetectedNoise::Impulses { .. }));
    if impulses && args.strength != 1.0 {
        return Some("--strength has no effect on impulse noise, which is removed entirely".into());
    }
    if with_atoms(args) && matches!(denoised.detected, Some(DetectedNoise::Correlated { .. })) {
        return Some(
            "correlated noise is removed without atoms: --dictionary and --keep-atoms have no \
             effect"
                .into(),
        );
    }
    if args.noise != (Noise::Gaussian { sigma: None }) {
        return None;
    }
    match detect_noise(&job.image.signal, job.white.value).ok()? {
        found @ (DetectedNoise::Correlated { .. } | DetectedNoise::Impulses { .. }) => {
            Some(format!(
                "the noise does not look white but like {found}; remove --noise to treat it as \
                 such"
            ))
        }
        _ => None,
    }
}

/// Describes the noise that was estimated or given.
fn found(args: &DenoiseArgs, denoised: &Denoised) -> String {
    match denoised.detected {
        Some(DetectedNoise::None) => "none found; the image is unchanged".into(),
        Some(noise) => format!("estimated {noise}"),
        None => format!("{}, level {}", words(args.noise, None), number(denoised.level)),
    }
}

/// Name of the noise model.
fn words(noise: Noise, detected: Option<DetectedNoise>) -> &'static str {
    match detected.map_or(Some(noise), DetectedNoise::to_noise) {
        None => "no noise",
        Some(Noise::Auto) => "noise of any kind",
        Some(Noise::Gaussian { .. }) => "gaussian noise",
        Some(Noise::Correlated { .. }) => "correlated noise",
        Some(Noise::Poisson { .. }) => "poisson noise",
        Some(Noise::Mixed { .. }) => "mixed noise",
        Some(Noise::Impulse { .. }) => "impulse noise",
    }
}
