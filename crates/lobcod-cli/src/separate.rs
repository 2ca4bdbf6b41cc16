//! `lobcod separate`: a smooth layer and texture.

use crate::Outcome;
use crate::args::SeparateArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, until};
use crate::engine;
use crate::output::paths::{check_page, check_picture, same_file};
use crate::output::table::{Table, number, plural};
use crate::output::{json, summary, tell, warnings};
use crate::params::{USUAL_PENALTY, time_limit};
use crate::progress::Watcher;
use crate::report::{BeforeAfter, Fact, PursuitPage};
use crate::trial::{self, Trial, part_of};
use crate::values::Precision;
use crate::{interrupt, machine};
use anyhow::{Result, ensure};
use lobcod::base::Base;
use lobcod::tasks::separate::{Layers, SeparateParams, Separator};
use lobcod::{Answer, Dictionary, Penalty, PursuitParams, Real, Signal, Status};
use lobcod_image::{Depth, FileKind, ReadOptions, WriteOptions, read_picture, write_picture};
use serde_json::{Value, json};
use std::path::Path;

/// Separates the picture in the precision asked for.
pub fn run(args: &SeparateArgs) -> Result<Outcome> {
    match args.run.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &SeparateArgs) -> Result<Outcome> {
    interrupt::listen();
    engine::check(&args.run)?;
    let separator = separator(args)?;
    [&args.smooth_out, &args.texture_out].into_iter().try_for_each(|file| check_picture(file))?;
    args.report.as_deref().map(check_page).transpose()?;
    ensure!(!same_file(&args.smooth_out, &args.texture_out), "both layers would go to one file; name two");
    let options = ReadOptions { axes: None, scale: args.scale, max_bytes: args.run.max_memory.map(|bytes| bytes.0) };
    let picture = read_picture::<T>(&args.image, &options)?;
    ensure!(picture.known.is_none(), "{} has missing pixels; fill them first", args.image.display());
    let chosen = Chosen::of(&args.dictionary, picture.signal.extent().rank())?;
    chosen.check_fits(picture.signal.extent())?;
    let budget = Budget::now(&args.run).with_page(args.report.as_ref(), picture.signal.data());
    let separator = SeparateParams { max_memory: budget.room(), ..separator.params().clone() }.check()?;
    if args.dry_run {
        return dry_run(args, &picture.signal, &chosen, &separator, budget).map(|()| Outcome::Done);
    }

    let mut watcher = Watcher::of(&args.telling, "separate", 1);
    let layers = separator.run_on(&*engine::open(&args.run)?, &picture.signal, &chosen.dictionary, &mut watcher);
    let layers = layers.map_err(budget.refuse())?;
    drop(watcher);
    let write = |file, layer: &Signal<T>| -> Result<()> {
        let depth = FileKind::from_path(file)?.nearest_depth(picture.depth);
        Ok(write_picture(
            file,
            layer,
            &WriteOptions {
                axes: picture.axes,
                depth,
                scale: args.scale,
                sample_rate: picture.sample_rate,
                notes: picture.notes.clone(),
            },
        )?)
    };
    write(&args.smooth_out, &layers.base)?;
    write(&args.texture_out, &shown(&layers.texture, args, picture.depth)?)?;

    let page = args.report.as_deref().map(|path| show(args, path, &picture.signal, &chosen, &layers));
    if args.telling.json {
        let mut fields = json::report(&layers.report, machine::peak_memory());
        fields.extend(json::object(json!({
            "dictionary": chosen.name,
            "smooth": args.smooth,
            "alternations": layers.alternations,
            "output": [args.smooth_out.display().to_string(), args.texture_out.display().to_string()],
        })));
        tell(&format!("{:#}", Value::Object(fields)))?;
    } else if !args.telling.quiet {
        let mut table = Table::default();
        table
            .row(
                "picture",
                format!("{}, {}", args.image.display(), summary::shape(picture.signal.extent(), picture.signal.channels())),
            )
            .row("dictionary", chosen.words());
        summary::pursuit(&mut table, &layers.report);
        table
            .row("turns", plural(layers.alternations, "turn"))
            .row("smooth layer", args.smooth_out.display())
            .row("texture", args.texture_out.display());
        if let Some(path) = &args.report {
            table.row("report", path.display());
        }
        tell(&table.render())?;
    }
    warnings::tell(&layers.report, &args.telling);
    page.unwrap_or(Ok(()))?;
    Ok(if layers.report.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Writes the page.
fn show<T: Real>(args: &SeparateArgs, path: &Path, signal: &Signal<T>, chosen: &Chosen<T>, layers: &Layers<T>) -> Result<()> {
    let (picture, smooth, texture) = (signal.cast(), layers.base.cast(), layers.texture.cast());
    let reach = args.scale / 4.0;
    let view = BeforeAfter {
        name: &args.image.display().to_string(),
        before: ("picture", &picture),
        after: ("smooth layer", &smooth),
        maps: vec![("Texture, from dark to bright (the first channel).", &texture, [-reach, reach])],
        white: args.scale,
    };
    let page = PursuitPage {
        title: format!("lobcod separate: {}", args.image.display()),
        sections: if signal.extent().rank() > 1 { vec![view.section()?] } else { Vec::new() },
        dictionary: &chosen.dictionary,
        answer: &Answer { needles: vec![layers.needles.clone()], report: layers.report.clone() },
        tolerance: args.run.tolerance,
        facts: Fact::layers(chosen, Base::Smooth { mu: args.smooth }),
    };
    page.write(path)
}

fn separator(args: &SeparateArgs) -> Result<Separator> {
    let penalty = match (args.penalty, args.relative_penalty) {
        (Some(penalty), _) => Penalty::Absolute(penalty),
        (None, share) => Penalty::Relative(share.unwrap_or(USUAL_PENALTY)),
    };
    let params = SeparateParams {
        mu: args.smooth,
        tolerance: args.run.tolerance,
        alternations: args.alternations,
        time_limit: time_limit(&args.run)?,
        threads: args.run.threads,
        max_memory: args.run.max_memory.map(|bytes| bytes.0),
        ..SeparateParams::new(penalty)
    };
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
    let params = PursuitParams { tolerance, ..PursuitParams::new(penalty) };
    let plan = Plan {
        images: std::slice::from_ref(&args.image),
        shapes: &[(signal.extent(), signal.channels())],
        dictionary: ("dictionary", chosen),
        base: Base::Smooth { mu: args.smooth },
        until: until(&format!("the gap is {} of the objective", number(tolerance)), alternations),
        output: ("smooth layer", Some(&args.smooth_out)),
        needed: separator.estimate_memory(signal.extent(), signal.channels(), &chosen.dictionary)?,
        budget,
        bands: None,
        trial: trial(separator, signal, &chosen.dictionary)?,
    };
    plan.tell(&params, &args.telling)
}

/// Separates a part of the picture.
fn trial<T: Real>(separator: &Separator, signal: &Signal<T>, dictionary: &Dictionary<T>) -> Result<Trial> {
    let part = part_of(signal)?;
    let separator = SeparateParams { time_limit: Some(trial::LIMIT), max_memory: None, ..separator.params().clone() }.check()?;
    Trial::run(part.extent(), trial::parts(part.extent(), &[(signal.extent(), 1)]), || {
        Ok(separator.run(&part, dictionary, &mut ())?.report.status != Status::TimeLimit)
    })
}

/// Texture has both signs, which whole numbers cannot show: there, 0 is drawn mid-grey.
fn shown<T: Real>(texture: &Signal<T>, args: &SeparateArgs, depth: Depth) -> Result<Signal<T>> {
    let kind = FileKind::from_path(&args.texture_out)?;
    let whole = matches!(kind.nearest_depth(depth), Depth::U8 | Depth::U16) && !matches!(kind, FileKind::Npy | FileKind::Npz);
    let mut shown = texture.clone();
    if whole {
        shown.data_mut().iter_mut().for_each(|x| *x += T::from_f64(args.scale / 2.0));
    }
    Ok(shown)
}
