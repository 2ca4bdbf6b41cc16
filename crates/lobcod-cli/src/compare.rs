//! `lobcod compare`: PSNR, SSIM and difference of two images.

use crate::Outcome;
use crate::args::{CompareArgs, ConsoleArgs};
use crate::budget::Budget;
use crate::command::Command;
use crate::input::about;
use crate::json;
use crate::output::paths::{check_answer, check_page, keep_inputs};
use crate::output::table::{Table, number};
use crate::output::{print, summary};
use crate::report::{BeforeAfter, Fact, write_comparison};
use crate::score::{Score, check_peak};
use crate::white::White;
use anyhow::{Result, ensure};
use lobcod::Extent;
use lobcod_io::{Depth, FileKind, ReadOptions, WriteOptions, read_image, read_shape, write_image};
use std::path::Path;

impl Command for CompareArgs {
    fn run(&self) -> Result<Outcome> {
        run(self).map(|()| Outcome::Done)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }
}

/// Scores the second image against the first.
fn run(args: &CompareArgs) -> Result<()> {
    args.output.as_deref().map(check_answer).transpose()?;
    args.page.report.as_deref().map(check_page).transpose()?;
    keep_inputs([&args.first, &args.second], &args.output)?;
    check_peak(args.score.peak)?;
    let options = ReadOptions { scale: args.scale.value(), ..ReadOptions::default() };
    let shapes = [read_shape(&args.first, &options)?, read_shape(&args.second, &options)?];
    if let [Some(first), Some(second)] = shapes {
        check_shapes(args, [first, second])?;
        // Both images and their difference.
        let images = 3 * first.0.volume() * first.1 * size_of::<f64>();
        Budget::usual()
            .with_held(images as u64)
            .check(Score::memory::<f64>(first))
            .map_err(about(&args.first))?;
    }
    let (a, b) =
        (read_image::<f64>(&args.first, &options)?, read_image::<f64>(&args.second, &options)?);
    for (path, image) in [(&args.first, &a), (&args.second, &b)] {
        ensure!(
            image.known.is_none(),
            "{} has missing pixels and cannot be compared; fill them first",
            path.display()
        );
    }
    check_shapes(args, [&a.signal, &b.signal].map(|signal| (signal.extent(), signal.channels())))?;
    let white = White::of(&a.signal, None, a.depth, args.scale.given);
    white.warn_of_other_units(&args.second, &White::of(&b.signal, None, b.depth, args.scale.given));
    white.warn(&args.first, args.score.peak.is_none(), args.output.as_deref());
    let peak = white.peak(args.score.peak);
    let score = Score::of(&b.signal, &a.signal, peak)?;
    let mut difference = a.signal.minus(&b.signal)?;
    difference.data_mut().iter_mut().for_each(|x| *x = x.abs());
    let largest = difference.data().iter().copied().fold(0.0, f64::max);
    let mean = difference.data().iter().sum::<f64>() / difference.data().len() as f64;
    if let Some(output) = &args.output {
        let depth = FileKind::from_path(output)?.nearest_depth(Depth::U8);
        write_image(
            output,
            &difference,
            &WriteOptions { axes: a.axes, depth, scale: white.value, ..WriteOptions::default() },
        )?;
    }

    if let Some(path) = &args.page.report {
        let names = [&args.first, &args.second].map(|path| path.display().to_string());
        let view = BeforeAfter {
            name: "Both",
            before: (&names[0], &a.signal.cast()),
            more: Vec::new(),
            after: (&names[1], &b.signal.cast()),
            maps: Vec::new(),
            white: white.value,
        };
        let mut facts = Fact::scores(&score, "of the second image against the first");
        facts.push(Fact::new("largest difference", number(largest), ""));
        facts.push(Fact::new("mean difference", number(mean), ""));
        write_comparison(
            path,
            &format!("lobcod compare: {} and {}", names[0], names[1]),
            view.section()?,
            &facts,
        )?;
    }

    let output = args.output.as_ref().map(|path| path.display().to_string());
    if args.console.json {
        let report = json::Compare {
            score: (&score).into(),
            peak,
            largest_difference: largest,
            mean_difference: mean,
            equal: largest == 0.0,
            output,
            report: json::optional_file(&args.page.report),
        };
        return json::print("compare", report);
    }
    if args.console.quiet {
        return Ok(());
    }
    let mut table = Table::default();
    table
        .row("PSNR", if largest == 0.0 { "the images are equal".into() } else { score.words() })
        .row("difference", format!("{} at most, {} on average", number(largest), number(mean)));
    if let Some(output) = output {
        table.row("difference image", output);
    }
    if let Some(path) = &args.page.report {
        table.row("report", path.display());
    }
    print(&table.render())
}

/// Error unless both images have the same shape.
fn check_shapes(args: &CompareArgs, shapes: [(Extent, usize); 2]) -> Result<()> {
    let [first, second] = shapes.map(|(extent, channels)| summary::shape(extent, channels));
    ensure!(
        shapes[0] == shapes[1],
        "{} is {first} but {} is {second}; only images of the same shape can be compared",
        args.first.display(),
        args.second.display()
    );
    Ok(())
}
