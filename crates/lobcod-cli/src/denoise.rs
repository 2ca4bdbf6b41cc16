//! `lobcod denoise`: a clean picture from a noisy one.

use crate::Outcome;
use crate::args::DenoiseArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::engine;
use crate::output::paths::{check_answer, check_page};
use crate::output::table::{Table, number};
use crate::output::{json, summary, tell, warnings};
use crate::params::time_limit;
use crate::progress::Watcher;
use crate::report::{BeforeAfter, DenoisedPage, Fact, PursuitPage};
use crate::score::{Score, read_reference};
use crate::trial::{self, Trial, part_of};
use crate::values::Precision;
use crate::{interrupt, machine};
use anyhow::{Result, ensure};
use lobcod::tasks::denoise::{DenoiseParams, Denoised, Denoiser, Noise};
use lobcod::{Answer, Dictionary, Signal, Status, memory, metrics};
use lobcod_image::{FileKind, ReadOptions, WriteOptions, read_picture, write_picture};
use serde_json::{Value, json};

/// Takes the noise off the picture.
pub fn run(args: &DenoiseArgs) -> Result<Outcome> {
    interrupt::listen();
    engine::check(&args.run)?;
    ensure!(matches!(args.run.precision, Precision::F32), "denoising works in single precision; leave out --precision f64");
    let denoiser = denoiser(args)?;
    check_answer(&args.output)?;
    args.scoring.report.as_deref().map(check_page).transpose()?;
    let options = ReadOptions { axes: None, scale: args.scale, max_bytes: args.run.max_memory.map(|bytes| bytes.0) };
    let picture = read_picture::<f32>(&args.image, &options)?;
    ensure!(picture.known.is_none(), "{} has missing pixels; fill them first", args.image.display());
    let noisy = &picture.signal;
    ensure!(
        noisy.extent().rank() == 2,
        "{} is no picture with two axes ({}); denoise its slices one by one",
        args.image.display(),
        noisy.extent()
    );
    let chosen = Chosen::of(&args.dictionary, noisy.extent().rank())?;
    chosen.check_fits(noisy.extent())?;
    chosen.check_grey("denoising takes one channel at a time")?;
    let reference = read_reference::<f32>(&args.scoring, &options, (noisy.extent(), noisy.channels()))?;
    let budget = Budget::now(&args.run).with_page(args.scoring.report.as_ref(), noisy.data());
    let shape = (noisy.extent(), noisy.channels());
    let budget = if reference.is_some() { budget.with_moment(Score::memory::<f32>(shape)) } else { budget };
    let denoiser = DenoiseParams { max_memory: budget.room(), ..denoiser.params().clone() }.check()?;
    if args.scoring.dry_run {
        return dry_run(args, noisy, &chosen, &denoiser, budget).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of(&args.telling, "denoise", 1);
    let denoised =
        denoiser.run_on(&*engine::open(&args.run)?, noisy, &chosen.dictionary, &mut watcher).map_err(budget.refuse())?;
    drop(watcher);
    let depth = FileKind::from_path(&args.output)?.nearest_depth(picture.depth);
    write_picture(
        &args.output,
        &denoised.picture,
        &WriteOptions { axes: picture.axes, depth, scale: args.scale, sample_rate: None, notes: picture.notes.clone() },
    )?;
    let peak = args.scoring.peak.unwrap_or(args.scale);
    let scores = match &reference {
        None => None,
        Some(truth) => {
            let written = read_picture::<f32>(&args.output, &options)?.signal;
            Some((
                Score::of(&denoised.picture, truth, peak)?,
                metrics::psnr(&written, truth, peak)?,
                metrics::psnr(noisy, truth, peak)?,
            ))
        }
    };
    let shown = show(args, noisy, &chosen.dictionary, &denoised, scores.map(|s| s.0));
    told(args, &chosen, &denoised, scores)?;
    denoised.report.iter().for_each(|report| warnings::tell(report, &args.telling));
    shown?;
    Ok(if denoised.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

fn denoiser(args: &DenoiseArgs) -> Result<Denoiser> {
    let params = DenoiseParams {
        method: args.method.into(),
        fit_atoms: !args.keep_atoms,
        scale: args.scale,
        penalty: args.penalty,
        tolerance: args.run.tolerance,
        time_limit: time_limit(&args.run)?,
        threads: args.run.threads,
        max_memory: args.run.max_memory.map(|bytes| bytes.0),
        ..DenoiseParams::new(args.noise.0)
    };
    Ok(params.check()?)
}

fn dry_run(args: &DenoiseArgs, noisy: &Signal<f32>, chosen: &Chosen<f32>, denoiser: &Denoiser, budget: Budget) -> Result<()> {
    let work = denoiser.estimate_memory(noisy.extent(), noisy.channels(), &chosen.dictionary)?;
    let (needed, limit, fits) = (budget.with(work), budget.limit(), budget.fits(work));
    let trial = trial(noisy, &chosen.dictionary, denoiser)?;
    if args.telling.json {
        let plan = json!({
            "dry_run": true,
            "images": [{ "file": args.image.display().to_string(), "shape": noisy.extent().axes(), "channels": noisy.channels(), "pixels": noisy.extent().volume() }],
            "dictionary": chosen.name,
            "atoms": chosen.dictionary.len(),
            "atom_shape": chosen.dictionary.extent().axes(),
            "noise": words(args.noise.0),
            "working_memory_bytes": work,
            "memory_bytes": needed,
            "estimated_seconds": trial.seconds,
            "max_memory_bytes": limit,
            "fits": fits,
        });
        return tell(&format!("{plan:#}"));
    }
    let memory = if fits {
        format!("about {}", memory::words(needed))
    } else {
        format!("about {}, which is more than is allowed: it would be refused", memory::words(needed))
    };
    let mut table = Table::default();
    table
        .row("picture", format!("{}, {}", args.image.display(), summary::shape(noisy.extent(), noisy.channels())))
        .row("dictionary", chosen.words())
        .row("noise", words(args.noise.0))
        .row("memory", memory)
        .row("time", trial.words())
        .row("clean picture", args.output.display())
        .row("", "nothing was done (--dry-run)");
    tell(&table.render())
}

/// Takes the noise off a part of the picture.
fn trial(noisy: &Signal<f32>, dictionary: &Dictionary<f32>, denoiser: &Denoiser) -> Result<Trial> {
    let part = part_of(noisy)?;
    let denoiser = DenoiseParams { time_limit: Some(trial::LIMIT), max_memory: None, ..denoiser.params().clone() }.check()?;
    Trial::run(part.extent(), trial::parts(part.extent(), &[(noisy.extent(), 1)]), || {
        Ok(denoiser.run(&part, dictionary, &mut ())?.status != Status::TimeLimit)
    })
}

/// Writes the page, if it was asked for.
fn show(
    args: &DenoiseArgs,
    noisy: &Signal<f32>,
    first: &Dictionary<f32>,
    denoised: &Denoised,
    score: Option<Score>,
) -> Result<()> {
    let Some(path) = &args.scoring.report else { return Ok(()) };
    let view = BeforeAfter {
        name: &args.image.display().to_string(),
        before: ("noisy", noisy),
        after: ("clean", &denoised.picture),
        maps: Vec::new(),
        white: args.scale,
    };
    let title = format!("lobcod denoise: {}", args.image.display());
    let mut facts = vec![Fact::new("noise", words(args.noise.0), format!("level {}", number(denoised.level)))];
    facts.extend(score.iter().flat_map(|score| Fact::scores(score, "against the reference")));
    let Some(report) = &denoised.report else {
        facts.push(Fact::new("time", format!("{:.2} s", denoised.seconds), "fitting the atoms included"));
        let atoms = [first, &denoised.dictionary];
        return DenoisedPage { title, view: view.section()?, atoms, status: denoised.status, facts }.write(path);
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

/// Tells the outcome on standard output, the way it was asked for.
fn told(args: &DenoiseArgs, chosen: &Chosen<f32>, denoised: &Denoised, scores: Option<(Score, f64, f64)>) -> Result<()> {
    if args.telling.json {
        let mut fields =
            denoised.report.as_ref().map_or_else(Default::default, |report| json::report(report, machine::peak_memory()));
        fields.extend(json::object(json!({
            "status": denoised.status.to_string(),
            "noise": words(args.noise.0),
            "noise_level": denoised.level,
            "seconds": denoised.seconds,
            "peak_memory_bytes": machine::peak_memory(),
            "penalty": denoised.report.as_ref().map(|report| report.penalty),
            "pixels": denoised.picture.extent().volume(),
            "dictionary": chosen.name,
            "scale": args.scale,
            "output": args.output.display().to_string(),
            "report": args.scoring.report.as_ref().map(|path| path.display().to_string()),
        })));
        if let Some((score, written, before)) = scores {
            score.tell(&mut fields);
            fields.insert("psnr_output_db".into(), json!(written));
            fields.insert("psnr_noisy_db".into(), json!(before));
        }
        return tell(&format!("{:#}", Value::Object(fields)));
    }
    if args.telling.quiet {
        return Ok(());
    }
    let mut table = Table::default();
    let shape = summary::shape(denoised.picture.extent(), denoised.picture.channels());
    table
        .row("picture", format!("{}, {shape}", args.image.display()))
        .row("dictionary", chosen.words())
        .row("noise", format!("{}, level {}", words(args.noise.0), number(denoised.level)));
    match &denoised.report {
        Some(report) => summary::pursuit(&mut table, report),
        None => {
            if denoised.status == Status::Interrupted {
                table.row("status", "interrupted; what it did not come to is as it was");
            }
            table.row("work", format!("{:.2} s", denoised.seconds));
        }
    }
    if let Some((score, _, before)) = scores {
        table.row("PSNR", format!("{} (noisy {before:.2} dB)", score.words()));
    }
    table.row("clean picture", args.output.display());
    if let Some(page) = &args.scoring.report {
        table.row("report", page.display());
    }
    tell(&table.render())
}

/// The kind of noise.
fn words(noise: Noise) -> &'static str {
    match noise {
        Noise::Gaussian { .. } => "gaussian noise",
        Noise::Poisson { .. } => "poisson noise",
        Noise::Mixed { .. } => "mixed noise",
        Noise::Impulse { .. } => "impulse noise",
    }
}
