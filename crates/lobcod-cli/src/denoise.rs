//! `lobcod denoise`: removes noise from an image.

use crate::Outcome;
use crate::args::{ConsoleArgs, DenoiseArgs, RunArgs, ScoringArgs};
use crate::batch::{self, OnImages, Parts};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::engine;
use crate::output::paths::{check_answer, check_page};
use crate::output::table::{Table, number};
use crate::output::{json, print, summary, warn, warnings};
use crate::params::time_limit;
use crate::progress::Watcher;
use crate::report::{BeforeAfter, DenoisedPage, Fact, PursuitPage};
use crate::score::{Score, read_reference};
use crate::trial::{self, Trial, part_of};
use crate::white::White;
use crate::{interrupt, machine};
use anyhow::{Result, ensure};
use lobcod::engine::CpuEngine;
use lobcod::{Answer, Dictionary, Signal, Status, memory};
use lobcod_io::{FileKind, ReadOptions, WriteOptions, read_image, write_image};
use lobcod_tasks::denoise::{
    DenoiseParams, Denoised, Denoiser, DetectedNoise, Noise, detect_noise,
};
use lobcod_tasks::metrics;
use serde_json::{Value, json};
use std::path::Path;

impl Command for DenoiseArgs {
    fn run(&self) -> Result<Outcome> {
        batch::run(self)
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
}

impl OnImages for DenoiseArgs {
    fn parts(&mut self) -> Parts<'_> {
        Parts {
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

/// Removes the noise from the image.
fn run(args: &DenoiseArgs) -> Result<Outcome> {
    interrupt::listen();
    engine::check(&args.run)?;
    let denoiser = denoiser(args)?;
    check_answer(&args.output)?;
    args.page.report.as_deref().map(check_page).transpose()?;
    let options = ReadOptions {
        axes: None,
        scale: args.scale.value(),
        max_bytes: args.run.max_memory.map(|bytes| bytes.0),
    };
    if !args.plan.dry_run {
        Budget::check_headers(
            &args.run,
            std::slice::from_ref(&args.files.image),
            &options,
            size_of::<f32>(),
            |extent, channels| {
                let chosen = Chosen::of(&args.dictionary, extent.rank())?;
                Ok(denoiser.estimate_memory(
                    &engine::cpu(&args.run)?,
                    extent,
                    channels,
                    &chosen.dictionary,
                )?)
            },
        )?;
    }
    let image = read_image::<f32>(&args.files.image, &options)?;
    ensure!(
        image.known.is_none(),
        "{} has missing pixels; fill them first",
        args.files.image.display()
    );
    let noisy = &image.signal;
    ensure!(
        noisy.extent().rank() == 2,
        "{} is not a 2-D image ({}); denoise its slices one by one",
        args.files.image.display(),
        noisy.extent()
    );
    let chosen = Chosen::of(&args.dictionary, noisy.extent().rank())?;
    chosen.check_fits(noisy.extent())?;
    chosen.check_grey("denoising processes each channel separately")?;
    let white = White::of(noisy, None, image.depth, args.scale.given);
    let reference =
        read_reference::<f32>(&args.scoring, &options, (noisy.extent(), noisy.channels()), &white)?;
    let budget = Budget::now(&args.run).with_page(args.page.report.as_ref(), noisy.data());
    let shape = (noisy.extent(), noisy.channels());
    let budget =
        if reference.is_some() { budget.with_moment(Score::memory::<f32>(shape)) } else { budget };
    let denoiser = denoiser.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    if args.plan.dry_run {
        return dry_run(args, noisy, &chosen, &denoiser, budget).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of(&args.console, "denoise");
    let denoised = denoiser
        .run(&*engine::open(&args.run)?, noisy, &chosen.dictionary, &mut watcher)
        .map_err(budget.refuse())?;
    drop(watcher);
    let depth = FileKind::from_path(&args.output)?.nearest_depth(image.depth);
    write_image(
        &args.output,
        &denoised.image,
        &WriteOptions {
            axes: image.axes,
            depth,
            scale: white.value,
            sample_rate: None,
            metadata: image.metadata.clone(),
        },
    )?;
    let peak = white.peak(args.scoring.score.peak);
    white.warn(
        &args.files.image,
        reference.is_some() && args.scoring.score.peak.is_none(),
        Some(&args.output),
    );
    let scores = match &reference {
        None => None,
        Some(truth) => {
            let written = read_image::<f32>(&args.output, &options)?.signal;
            Some((
                Score::of(&denoised.image, truth, peak)?,
                metrics::psnr(&written, truth, peak)?,
                metrics::psnr(noisy, truth, peak)?,
            ))
        }
    };
    let shown = show(args, noisy, white, &chosen.dictionary, &denoised, scores.map(|s| s.0));
    print_result(args, &chosen, &denoised, scores, peak)?;
    denoised.report.iter().for_each(|report| warnings::print(report, &args.console));
    if let Some(warning) = warning(args, noisy, &denoised).filter(|_| !args.console.quiet) {
        warn(&warning);
    }
    shown?;
    Ok(if denoised.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

fn denoiser(args: &DenoiseArgs) -> Result<Denoiser> {
    let mut params = DenoiseParams::new(args.noise.0);
    params.method = args.method.into();
    params.strength = args.strength;
    params.fit_atoms = !args.keep_atoms;
    params.scale = args.scale.value();
    params.penalty = args.penalty;
    params.tolerance = args.run.tolerance;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}

fn dry_run(
    args: &DenoiseArgs,
    noisy: &Signal<f32>,
    chosen: &Chosen<f32>,
    denoiser: &Denoiser,
    budget: Budget,
) -> Result<()> {
    let detected = match args.noise.0 {
        Noise::Auto => Some(detect_noise(noisy, args.scale.value())?),
        _ => None,
    };
    let denoiser = match detected.and_then(DetectedNoise::to_noise) {
        None => denoiser.clone(),
        Some(noise) => denoiser.params().clone().with(|p| p.noise = noise).check()?,
    };
    let engine = engine::cpu(&args.run)?;
    let work =
        denoiser.estimate_memory(&engine, noisy.extent(), noisy.channels(), &chosen.dictionary)?;
    let (needed, limit, fits) = (budget.with(work), budget.limit(), budget.fits(work));
    let trial = trial(&engine, noisy, &chosen.dictionary, &denoiser)?;
    if args.console.json {
        let plan = json!({
            "dry_run": true,
            "images": [{ "file": args.files.image.display().to_string(), "shape": noisy.extent().axes(), "channels": noisy.channels(), "pixels": noisy.extent().volume() }],
            "dictionary": chosen.name,
            "atoms": chosen.dictionary.len(),
            "atom_shape": chosen.dictionary.extent().axes(),
            "noise": words(args.noise.0, detected),
            "detected": detected.map(|noise| noise.to_string()),
            "working_memory_bytes": work,
            "memory_bytes": needed,
            "estimated_seconds": trial.seconds,
            "max_memory_bytes": limit,
            "fits": fits,
        });
        return print(&format!("{plan:#}"));
    }
    let memory = if fits {
        format!("about {}", memory::words(needed))
    } else {
        format!("about {}, more than the limit: it would be refused", memory::words(needed))
    };
    let mut table = Table::default();
    table
        .row(
            "image",
            format!(
                "{}, {}",
                args.files.image.display(),
                summary::shape(noisy.extent(), noisy.channels())
            ),
        )
        .row("dictionary", chosen.words())
        .row(
            "noise",
            detected.map_or_else(|| words(args.noise.0, None).into(), |noise| noise.to_string()),
        )
        .row("memory", memory)
        .row("time", trial.words())
        .row("clean image", args.output.display())
        .row("", "dry run: nothing was done");
    print(&table.render())
}

/// A warning if the noise does not match the options.
fn warning(args: &DenoiseArgs, noisy: &Signal<f32>, denoised: &Denoised) -> Option<String> {
    let impulses = matches!(args.noise.0, Noise::Impulse { .. })
        || matches!(denoised.detected, Some(DetectedNoise::Impulses { .. }));
    if impulses && args.strength != 1.0 {
        return Some("--strength has no effect on impulse noise, which is removed entirely".into());
    }
    if args.noise.0 != (Noise::Gaussian { sigma: None }) {
        return None;
    }
    match detect_noise(noisy, args.scale.value()).ok()? {
        found @ (DetectedNoise::Correlated { .. } | DetectedNoise::Impulses { .. }) => {
            Some(format!(
                "the noise does not look white but like {found}; remove --noise to treat it as such"
            ))
        }
        _ => None,
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
    let denoiser = denoiser
        .params()
        .clone()
        .with(|p| {
            p.time_limit = Some(trial::LIMIT);
            p.max_memory = None;
        })
        .check()?;
    Trial::run(part.extent(), trial::parts(part.extent(), &[(noisy.extent(), 1)]), || {
        Ok(denoiser.run(engine, &part, dictionary, &mut ())?.status != Status::TimeLimit)
    })
}

/// Writes the HTML report, if requested.
fn show(
    args: &DenoiseArgs,
    noisy: &Signal<f32>,
    white: White,
    first: &Dictionary<f32>,
    denoised: &Denoised,
    score: Option<Score>,
) -> Result<()> {
    let Some(path) = &args.page.report else { return Ok(()) };
    let view = BeforeAfter {
        name: &args.files.image.display().to_string(),
        before: ("noisy", noisy),
        after: ("clean", &denoised.image),
        maps: Vec::new(),
        white: white.value,
    };
    let title = format!("lobcod denoise: {}", args.files.image.display());
    let mut facts = vec![Fact::new("noise", found(args, denoised), "")];
    facts.extend(score.iter().flat_map(|score| Fact::scores(score, "against the reference")));
    let Some(report) = &denoised.report else {
        facts.push(Fact::new(
            "time",
            format!("{:.2} s", denoised.seconds),
            "including dictionary adaptation",
        ));
        let atoms = [first, &denoised.dictionary];
        return DenoisedPage {
            title,
            view: view.section()?,
            atoms,
            status: denoised.status,
            facts,
        }
        .write(path);
    };
    let page = PursuitPage {
        title,
        sections: vec![view.section()?],
        dictionary: &denoised.dictionary,
        answer: &Answer { needles: Vec::new(), report: report.clone() },
        tolerance: args.run.tolerance,
        facts,
    };
    page.write(path)
}

/// Prints the result on standard output, as text or JSON.
fn print_result(
    args: &DenoiseArgs,
    chosen: &Chosen<f32>,
    denoised: &Denoised,
    scores: Option<(Score, f64, f64)>,
    peak: f64,
) -> Result<()> {
    if args.console.json {
        let mut fields = denoised
            .report
            .as_ref()
            .map_or_else(Default::default, |report| json::report(report, machine::peak_memory()));
        fields.extend(json::object(json!({
            "status": denoised.status.to_string(),
            "noise": words(args.noise.0, denoised.detected),
            "detected": denoised.detected.map(|noise| noise.to_string()),
            "strength": args.strength,
            "noise_level": denoised.level,
            "seconds": denoised.seconds,
            "peak_memory_bytes": machine::peak_memory(),
            "penalty": denoised.report.as_ref().map(|report| report.penalty),
            "pixels": denoised.image.extent().volume(),
            "dictionary": chosen.name,
            "scale": args.scale.value(),
            "output": args.output.display().to_string(),
            "report": args.page.report.as_ref().map(|path| path.display().to_string()),
        })));
        if let Some((score, written, before)) = scores {
            score.add_to(&mut fields);
            fields.insert("psnr_output_db".into(), json!(written));
            fields.insert("psnr_noisy_db".into(), json!(before));
            fields.insert("peak".into(), json!(peak));
        }
        return print(&format!("{:#}", Value::Object(fields)));
    }
    if args.console.quiet {
        return Ok(());
    }
    let mut table = Table::default();
    let shape = summary::shape(denoised.image.extent(), denoised.image.channels());
    table
        .row("image", format!("{}, {shape}", args.files.image.display()))
        .row("dictionary", chosen.words())
        .row("noise", found(args, denoised));
    match &denoised.report {
        Some(report) => summary::pursuit(&mut table, report),
        None => {
            if denoised.status == Status::Interrupted {
                table.row("status", "interrupted; unprocessed parts are unchanged");
            }
            table.row("run", format!("{:.2} s", denoised.seconds));
        }
    }
    if let Some((score, _, before)) = scores {
        table.row(
            "PSNR",
            format!("{} (noisy {before:.2} dB, peak {})", score.words(), number(peak)),
        );
    }
    table.row("clean image", args.output.display());
    if let Some(page) = &args.page.report {
        table.row("report", page.display());
    }
    print(&table.render())
}

/// Describes the noise that was estimated or given.
fn found(args: &DenoiseArgs, denoised: &Denoised) -> String {
    match denoised.detected {
        Some(DetectedNoise::None) => "none found; the image is unchanged".into(),
        Some(noise) => format!("estimated {noise}"),
        None => format!("{}, level {}", words(args.noise.0, None), number(denoised.level)),
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
