//! `lobcod separate`: splits an image into a smooth layer and texture.

use crate::Outcome;
use crate::args::{ConsoleArgs, RunArgs, SeparateArgs};
use crate::batch::{self, OnImages, Parts};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, until};
use crate::engine;
use crate::output::paths::{check_image, check_page, same_file};
use crate::output::table::{Table, number};
use crate::output::{json, print, summary, warnings};
use crate::params::{penalty, time_limit};
use crate::progress::Watcher;
use crate::report::{BeforeAfter, Fact, PursuitPage};
use crate::trial::{self, Trial, part_of};
use crate::values::Precision;
use crate::white::White;
use crate::{interrupt, machine};
use anyhow::{Result, ensure};
use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Answer, Dictionary, PursuitParams, Real, Signal, Status};
use lobcod_io::{Depth, FileKind, ReadOptions, WriteOptions, read_image, write_image};
use lobcod_tasks::separate::{Layers, SeparateParams, Separator};
use serde_json::{Value, json};
use std::path::Path;

impl Command for SeparateArgs {
    fn run(&self) -> Result<Outcome> {
        batch::run(self)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn resources(&mut self) -> Option<&mut RunArgs> {
        Some(&mut self.run)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.smooth_out)
    }

    fn refuses_ranks(&self) -> Option<&'static str> {
        Some("separate")
    }
}

impl OnImages for SeparateArgs {
    fn parts(&mut self) -> Parts<'_> {
        Parts {
            images: &mut self.files,
            outputs: vec![&mut self.smooth_out, &mut self.texture_out],
            companions: Vec::new(),
            report: &mut self.page.report,
        }
    }

    fn run_on_one(&self) -> Result<Outcome> {
        match self.run.precision {
            Precision::F32 => run_in::<f32>(self),
            Precision::F64 => run_in::<f64>(self),
        }
    }
}

fn run_in<T: Real>(args: &SeparateArgs) -> Result<Outcome> {
    interrupt::listen();
    engine::check(&args.run)?;
    let separator = separator(args)?;
    [&args.smooth_out, &args.texture_out].into_iter().try_for_each(|file| check_image(file))?;
    args.page.report.as_deref().map(check_page).transpose()?;
    ensure!(
        !same_file(&args.smooth_out, &args.texture_out),
        "both layers would be written to the same file; choose two different files"
    );
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
            size_of::<T>(),
            |extent, channels| {
                let chosen = Chosen::<T>::of(&args.dictionary, extent.rank())?;
                Ok(separator.estimate_memory(
                    &engine::cpu(&args.run)?,
                    extent,
                    channels,
                    &chosen.dictionary,
                )?)
            },
        )?;
    }
    let image = read_image::<T>(&args.files.image, &options)?;
    ensure!(
        image.known.is_none(),
        "{} has missing pixels; fill them first",
        args.files.image.display()
    );
    let chosen = Chosen::of(&args.dictionary, image.signal.extent().rank())?;
    chosen.check_fits(image.signal.extent())?;
    let white = White::of(&image.signal, None, image.depth, args.scale.given);
    let budget = Budget::now(&args.run).with_page(args.page.report.as_ref(), image.signal.data());
    let separator = separator.params().clone().with(|p| p.max_memory = budget.room()).check()?;
    if args.plan.dry_run {
        return dry_run(args, &image.signal, &chosen, &separator, budget).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of(&args.console, "separate");
    let layers =
        separator.run(&*engine::open(&args.run)?, &image.signal, &chosen.dictionary, &mut watcher);
    let layers = layers.map_err(budget.refuse())?;
    drop(watcher);
    let write = |file, layer: &Signal<T>| -> Result<()> {
        let depth = FileKind::from_path(file)?.nearest_depth(image.depth);
        Ok(write_image(
            file,
            layer,
            &WriteOptions {
                axes: image.axes,
                depth,
                scale: white.value,
                sample_rate: image.sample_rate,
                metadata: image.metadata.clone(),
            },
        )?)
    };
    write(&args.smooth_out, &layers.base)?;
    write(&args.texture_out, &shown(&layers.texture, args, white, image.depth)?)?;
    white.warn(&args.files.image, false, Some(&args.smooth_out));

    let page = args
        .page
        .report
        .as_deref()
        .map(|path| show(args, path, (&image.signal, white), &chosen, &layers));
    if args.console.json {
        let mut fields = json::report(&layers.report, machine::peak_memory());
        fields.extend(json::object(json!({
            "dictionary": chosen.name,
            "smooth": args.smooth.smooth,
            "alternations": layers.alternations,
            "output": [args.smooth_out.display().to_string(), args.texture_out.display().to_string()],
        })));
        print(&format!("{:#}", Value::Object(fields)))?;
    } else if !args.console.quiet {
        let mut table = Table::default();
        table
            .row(
                "image",
                format!(
                    "{}, {}",
                    args.files.image.display(),
                    summary::shape(image.signal.extent(), image.signal.channels())
                ),
            )
            .row("dictionary", chosen.words());
        summary::pursuit(&mut table, &layers.report);
        table
            .row("alternations", layers.alternations)
            .row("smooth layer", args.smooth_out.display())
            .row("texture", args.texture_out.display());
        if let Some(path) = &args.page.report {
            table.row("report", path.display());
        }
        print(&table.render())?;
    }
    warnings::print(&layers.report, &args.console);
    page.unwrap_or(Ok(()))?;
    Ok(if layers.report.status == Status::Interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}

/// Writes the HTML report.
fn show<T: Real>(
    args: &SeparateArgs,
    path: &Path,
    (signal, white): (&Signal<T>, White),
    chosen: &Chosen<T>,
    layers: &Layers<T>,
) -> Result<()> {
    let (image, smooth, texture) = (signal.cast(), layers.base.cast(), layers.texture.cast());
    let reach = white.value / 4.0;
    let view = BeforeAfter {
        name: &args.files.image.display().to_string(),
        before: ("image", &image),
        after: ("smooth layer", &smooth),
        maps: vec![("Texture, from dark to bright (first channel).", &texture, [-reach, reach])],
        white: white.value,
    };
    let page = PursuitPage {
        title: format!("lobcod separate: {}", args.files.image.display()),
        sections: if signal.extent().rank() > 1 { vec![view.section()?] } else { Vec::new() },
        dictionary: &chosen.dictionary,
        answer: &Answer { needles: vec![layers.needles.clone()], report: layers.report.clone() },
        tolerance: args.run.tolerance,
        facts: Fact::layers(chosen, Base::Smooth { mu: args.smooth.smooth }),
    };
    page.write(path)
}

fn separator(args: &SeparateArgs) -> Result<Separator> {
    let mut params = SeparateParams::new(penalty(&args.penalty));
    params.mu = args.smooth.smooth;
    params.tolerance = args.run.tolerance;
    params.alternations = args.alternations;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}

fn dry_run<T: Real>(
    args: &SeparateArgs,
    signal: &Signal<T>,
    chosen: &Chosen<T>,
    separator: &Separator,
    budget: Budget,
) -> Result<()> {
    let SeparateParams { penalty, tolerance, alternations, .. } = *separator.params();
    let params = PursuitParams::new(penalty).with(|p| p.tolerance = tolerance);
    let engine = engine::cpu(&args.run)?;
    let plan = Plan {
        images: std::slice::from_ref(&args.files.image),
        shapes: &[(signal.extent(), signal.channels())],
        dictionary: ("dictionary", chosen),
        base: Base::Smooth { mu: args.smooth.smooth },
        until: until(&format!("relative gap at most {}", number(tolerance)), alternations),
        output: ("smooth layer", Some(&args.smooth_out)),
        needed: separator.estimate_memory(
            &engine,
            signal.extent(),
            signal.channels(),
            &chosen.dictionary,
        )?,
        budget,
        bands: None,
        trial: trial(&engine, separator, signal, &chosen.dictionary)?,
    };
    plan.print(&params, &args.console)
}

/// Separates a crop of the image, to estimate the run time.
fn trial<T: Real>(
    engine: &CpuEngine,
    separator: &Separator,
    signal: &Signal<T>,
    dictionary: &Dictionary<T>,
) -> Result<Trial> {
    let part = part_of(signal)?;
    let separator = separator
        .params()
        .clone()
        .with(|p| {
            p.time_limit = Some(trial::LIMIT);
            p.max_memory = None;
        })
        .check()?;
    Trial::run(part.extent(), trial::parts(part.extent(), &[(signal.extent(), 1)]), || {
        Ok(separator.run(engine, &part, dictionary, &mut ())?.report.status != Status::TimeLimit)
    })
}

/// Texture is signed, which integer files cannot represent: there, 0 maps to mid-grey.
fn shown<T: Real>(
    texture: &Signal<T>,
    args: &SeparateArgs,
    white: White,
    depth: Depth,
) -> Result<Signal<T>> {
    let kind = FileKind::from_path(&args.texture_out)?;
    let whole = matches!(kind.nearest_depth(depth), Depth::U8 | Depth::U16)
        && !matches!(kind, FileKind::Npy | FileKind::Npz);
    let mut shown = texture.clone();
    if whole {
        shown.data_mut().iter_mut().for_each(|x| *x += T::from_f64(white.value / 2.0));
    }
    Ok(shown)
}
