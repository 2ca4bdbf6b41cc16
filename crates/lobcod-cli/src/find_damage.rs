//! `lobcod find-damage`: proposes a mask of scratches, dust and printed dates.

use crate::Outcome;
use crate::args::{ConsoleArgs, FindDamageArgs};
use crate::budget::Budget;
use crate::command::Command;
use crate::input::about;
use crate::json;
use crate::output::paths::{check_answer, check_page, keep_inputs};
use crate::output::table::{Table, plural};
use crate::output::{print, summary};
use crate::report::write_damage;
use crate::white::White;
use anyhow::Result;
use lobcod::Mask;
use lobcod_io::{Depth, FileKind, ReadOptions, WriteOptions, read_image, read_shape, write_image};
use lobcod_tasks::damage::{Damage, find_damage};
use std::path::Path;

/// Planes in memory for the search, besides the image.
const PLANES: usize = 16;

impl Command for FindDamageArgs {
    fn run(&self) -> Result<Outcome> {
        run(self).map(|()| Outcome::Done)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }
}

/// Finds the damage and writes the mask.
fn run(args: &FindDamageArgs) -> Result<()> {
    check_answer(&args.output)?;
    args.page.report.as_deref().map(check_page).transpose()?;
    keep_inputs([&args.image], [&args.output])?;
    let options = ReadOptions::default();
    if let Some((extent, channels)) = read_shape(&args.image, &options)? {
        let image = (2 * channels * extent.volume() * size_of::<f32>()) as u64;
        let search = (PLANES * extent.volume() * size_of::<f32>()) as u64;
        Budget::usual().with_held(image).check(search).map_err(about(&args.image))?;
    }
    let image = read_image::<f32>(&args.image, &options)?;
    let white = White::of(&image.signal, image.known.as_ref(), image.depth, None);
    let damage =
        find_damage(&image.signal, white.value, args.threads.count).map_err(about(&args.image))?;
    let depth = FileKind::from_path(&args.output)?.nearest_depth(Depth::U8);
    let as_mask = WriteOptions { depth, scale: 1.0, ..WriteOptions::default() };
    write_image(&args.output, &damage.mask, &as_mask)?;
    if let Some(report) = &args.page.report {
        let known: Vec<bool> = damage.mask.data().iter().map(|&x| x == 0.0).collect();
        let known = Mask::from_known(image.signal.extent(), &known)?;
        let title = format!("lobcod find-damage: {}", args.image.display());
        write_damage(report, &title, (&image.signal, white.value), &known, &words(&damage))?;
    }
    show(args, &damage)
}

fn show(args: &FindDamageArgs, damage: &Damage) -> Result<()> {
    let extent = damage.mask.extent();
    let marked = damage.mask.data().iter().filter(|&&x| x > 0.0).count();
    let fraction = marked as f64 / extent.volume() as f64;
    if args.console.json {
        let report = json::FindDamage {
            image: json::file(&args.image),
            pixels: extent.volume(),
            scratches: damage.scratches,
            spots: damage.spots,
            dates: damage.stamps,
            marked_pixels: marked,
            fraction,
            output: json::file(&args.output),
            report: json::optional_file(&args.page.report),
        };
        return json::print("find-damage", report);
    }
    if args.console.quiet {
        return Ok(());
    }
    let mut table = Table::default();
    table
        .row("image", format!("{}, {}", args.image.display(), summary::size(extent)))
        .row("suspected", words(damage))
        .row("mask", format!("{}, {:.2} % of the pixels", args.output.display(), 100.0 * fraction));
    if let Some(report) = &args.page.report {
        table.row("report", report.display());
    }
    if marked > 0 {
        table.row(
            "next",
            format!(
                "review the mask, remove what is not damage, then: lobcod inpaint {} --holes {} \
                 -o repaired.png",
                args.image.display(),
                args.output.display()
            ),
        );
    }
    print(&table.render())
}

fn words(damage: &Damage) -> String {
    [
        plural(damage.scratches, "scratch"),
        plural(damage.spots, "spot"),
        plural(damage.stamps, "printed date"),
    ]
    .join(", ")
}
