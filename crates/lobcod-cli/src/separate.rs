//! `lobcod separate`: splits an image into a smooth layer and texture.

use crate::Outcome;
use crate::args::{ConsoleArgs, RunArgs, SeparateArgs};
use crate::batch::{self, OnImages, PerImage};
use crate::budget::Budget;
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work, until};
use crate::engine;
use crate::flow::{Finished, Job, flow};
use crate::json;
use crate::output::paths::{check_image, keep_inputs, same_file};
use crate::output::table::{Table, number};
use crate::output::{summary, warnings};
use crate::params::{penalty, time_limit};
use crate::progress::Watcher;
use crate::report::{BeforeAfter, Fact, PursuitPage, percent};
use crate::trial::{self, Trial, part_of, trial_params};
use crate::values::Precision;
use crate::white::White;
use anyhow::{Result, ensure};
use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Answer, PursuitParams, Real, Signal, Status};
use lobcod_io::{Depth, FileKind, Image, ReadOptions, WriteOptions, read_image, write_image};
use lobcod_tasks::separate::{Layers, SeparateParams, Separator};
use std::path::Path;

flow!(SeparateArgs, "separate");

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
    fn per_image(&mut self) -> PerImage<'_> {
        PerImage {
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
    let flow = args.flow();
    flow.begin()?;
    let separator = separator(args)?;
    let outputs = [&args.smooth_out, &args.texture_out];
    outputs.into_iter().try_for_each(|file| check_image(file))?;
    keep_inputs([&args.files.image].into_iter().chain(args.dictionary.file()), outputs)?;
    ensure!(
        !same_file(&args.smooth_out, &args.texture_out),
        "both layers would be written to the same file; choose two different files"
    );
    let options = ReadOptions {
        axes: None,
        scale: args.scale.value(),
        max_bytes: args.run.max_memory.map(|bytes| bytes.0),
    };
    let images = std::slice::from_ref(&args.files.image);
    Budget::check_task::<T>(
        &flow,
        (images, &options),
        &args.dictionary,
        size_of::<T>(),
        |engine, extent, channels, dictionary| {
            separator.estimate_memory(engine, extent, channels, dictionary)
        },
    )?;
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
    flow.finish(Separation { args, separator, image, chosen, white, budget })
}

/// An image to separate.
struct Separation<'a, T> {
    args: &'a SeparateArgs,
    separator: Separator,
    image: Image<T>,
    chosen: Chosen<T>,
    white: White,
    budget: Budget,
}

impl<'a, T: Real> Job for Separation<'a, T> {
    type Done = Separated<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let SeparateParams { penalty, tolerance, alternations, .. } = *self.separator.params();
        let params = PursuitParams::new(penalty).with(|p| p.tolerance = tolerance);
        let engine = engine::cpu(&self.args.run)?;
        let shape = (self.image.signal.extent(), self.image.signal.channels());
        let work = Work {
            images: std::slice::from_ref(&self.args.files.image),
            shapes: &[shape],
            dictionaries: ("dictionary", std::slice::from_ref(&self.chosen)),
            output: ("smooth layer", Some(&self.args.smooth_out)),
            needed: self.separator.estimate_memory(
                &engine,
                shape.0,
                shape.1,
                &self.chosen.dictionary,
            )?,
            budget: self.budget,
            trial: self.trial(&engine)?,
        };
        let gap = format!("relative gap at most {}", number(tolerance));
        let base = Base::Smooth { mu: self.args.smooth.smooth };
        Ok(work.of_pursuit(base, &params, until(&gap, alternations)))
    }

    fn run(self) -> Result<Separated<'a, T>> {
        let mut watcher = Watcher::of(&self.args.console, "separate");
        let shape = (self.image.signal.extent(), self.image.signal.channels());
        let engine = engine::open(&self.args.run, &[shape])?;
        let atoms = &self.chosen.dictionary;
        let layers = self.separator.run(&*engine, &self.image.signal, atoms, &mut watcher);
        Ok(Separated { layers: layers.map_err(self.budget.refuse())?, job: self })
    }
}

impl<T: Real> Separation<'_, T> {
    /// Separates a crop of the image, to estimate the run time.
    fn trial(&self, engine: &CpuEngine) -> Result<Trial> {
        let signal = &self.image.signal;
        let part = part_of(signal)?;
        let separator = trial_params!(self.separator.params()).check()?;
        Trial::run(part.extent(), trial::parts(part.extent(), &[(signal.extent(), 1)]), || {
            Ok(separator.run(engine, &part, &self.chosen.dictionary, &mut ())?.report.status)
        })
    }
}

/// A separated image.
struct Separated<'a, T> {
    job: Separation<'a, T>,
    layers: Layers<T>,
}

impl<T: Real> Finished for Separated<'_, T> {
    type Report = json::Separate;

    fn status(&self) -> Status {
        self.layers.report.status
    }

    fn save(&mut self) -> Result<()> {
        let Separation { args, image, white, .. } = &self.job;
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
        write(&args.smooth_out, &self.layers.base)?;
        write(&args.texture_out, &shown(&self.layers.texture, args, *white, image.depth)?)?;
        white.warn(&args.files.image, false, Some(&args.smooth_out));
        Ok(())
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        let Separation { args, image, white, chosen, .. } = &self.job;
        let layers = &self.layers;
        let signal = image.signal.cast();
        let smooth = layers.base.cast();
        let texture = layers.texture.cast();
        let range = white.value / 4.0;
        let view = BeforeAfter {
            name: &json::file(&args.files.image),
            before: ("image", &signal),
            more: Vec::new(),
            after: ("smooth layer", &smooth),
            maps: vec![(
                "Texture, from dark to bright (first channel).",
                &texture,
                [-range, range],
            )],
            white: white.value,
        };
        let is_image = image.signal.extent().rank() > 1;
        let page = PursuitPage {
            title: format!("lobcod separate: {}", args.files.image.display()),
            sections: if is_image { vec![view.section()?] } else { Vec::new() },
            dictionary: &chosen.dictionary,
            answer: &Answer {
                layers: Vec::new(),
                needles: vec![layers.needles.clone()],
                report: layers.report.clone(),
            },
            tolerance: args.run.tolerance,
            lead: self.lead(),
            facts: Fact::layers(chosen, Base::Smooth { mu: args.smooth.smooth }),
        };
        page.write(path)
    }

    fn json(&self) -> json::Separate {
        let Separation { args, image, chosen, .. } = &self.job;
        let shape = (image.signal.extent(), image.signal.channels());
        json::Separate {
            pursuit: (&self.layers.report).into(),
            dictionary: chosen.name.clone(),
            smooth: args.smooth.smooth,
            alternations: self.layers.alternations,
            scale: args.scale.value(),
            output: [json::file(&args.smooth_out), json::file(&args.texture_out)],
            report: json::optional_file(&args.page.report),
            images: vec![json::Image::new(&args.files.image, shape)],
        }
    }

    fn summary(&self) -> String {
        let Separation { args, image, chosen, .. } = &self.job;
        let shape = summary::shape(image.signal.extent(), image.signal.channels());
        let mut table = Table::default();
        table
            .row("image", format!("{}, {shape}", args.files.image.display()))
            .row("dictionary", chosen.words());
        summary::pursuit(&mut table, &self.layers.report);
        table
            .row("alternations", self.layers.alternations)
            .row("smooth layer", args.smooth_out.display())
            .row("texture", args.texture_out.display());
        if let Some(path) = &args.page.report {
            table.row("report", path.display());
        }
        table.render()
    }

    fn warnings(&self) -> Vec<String> {
        warnings::of(&self.layers.report)
    }
}

impl<T: Real> Separated<'_, T> {
    /// How the image was split, and what is left over.
    fn lead(&self) -> String {
        let signal = &self.job.image.signal;
        let (base, texture) = (self.layers.base.data(), self.layers.texture.data());
        let count = signal.data().len() as f64;
        let mean_square = |values: &mut dyn Iterator<Item = f64>| {
            let (sum, squares) = values.fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
            (sum / count, squares / count)
        };
        let (mean, square) = mean_square(&mut signal.data().iter().map(|x| x.to_f64()));
        let (_, in_texture) = mean_square(&mut texture.iter().map(|x| x.to_f64()));
        let left = signal.data().iter().zip(base.iter().zip(texture));
        let (_, left) =
            mean_square(&mut left.map(|(x, (b, t))| x.to_f64() - b.to_f64() - t.to_f64()));
        let variance = square - mean * mean;
        let fraction = if variance > 0.0 { in_texture / variance } else { 0.0 };
        format!(
            "Split into a smooth layer and a texture, which has {} % of the variance. Together \
             they reproduce the image up to {} (root mean square).",
            percent(fraction),
            number(left.sqrt())
        )
    }
}

/// The separator for these options.
pub fn separator(args: &SeparateArgs) -> Result<Separator> {
    let mut params = SeparateParams::new(penalty(&args.penalty));
    params.mu = args.smooth.smooth;
    params.tolerance = args.run.tolerance;
    params.alternations = args.alternations;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
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
