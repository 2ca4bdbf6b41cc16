//! `lobcod decode`: reconstructs an image from codes.

use crate::Outcome;
use crate::args::{ConsoleArgs, DecodeArgs};
use crate::budget::usual_limit;
use crate::command::Command;
use crate::json;
use crate::output::paths::{check_answer, keep_inputs};
use crate::output::table::{Table, count};
use crate::output::{print, summary};
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod_io::{FileKind, WriteOptions, read_codes, write_image};
use std::path::Path;

impl Command for DecodeArgs {
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

/// Reconstructs the image: the sum of atoms plus the base layer.
fn run(args: &DecodeArgs) -> Result<()> {
    check_answer(&args.output)?;
    keep_inputs([&args.codes], [&args.output])?;
    // Double precision represents codes of either precision exactly.
    let codes = read_codes::<f64>(&args.codes, usual_limit())?;
    let image = reconstruct(&codes.needles, &codes.dictionary, codes.base.as_ref())?;
    let depth = args.depth.unwrap_or_else(|| {
        FileKind::from_path(&args.output)
            .map_or(codes.depth, |kind| kind.nearest_depth(codes.depth))
    });
    let scale = args.scale.given.unwrap_or(codes.scale);
    write_image(
        &args.output,
        &image,
        &WriteOptions {
            axes: codes.axes,
            depth,
            scale,
            sample_rate: codes.sample_rate,
            metadata: codes.metadata,
        },
    )?;

    let (extent, nonzeros) = (image.extent(), codes.needles.nonzeros());
    if args.console.json {
        let report = json::Decode {
            shape: extent.axes().to_vec(),
            channels: image.channels(),
            nonzeros,
            pixels: extent.volume(),
            atoms: codes.dictionary.len(),
            penalty: codes.penalty,
            depth: depth.to_string(),
            output: json::file(&args.output),
        };
        json::print("decode", report)?;
    } else if !args.console.quiet {
        let mut table = Table::default();
        table.row("codes", format!("{}, {} non-zeros", args.codes.display(), count(nonzeros))).row(
            "image",
            format!(
                "{}, {}, {depth}",
                args.output.display(),
                summary::shape(extent, image.channels())
            ),
        );
        print(&table.render())?;
    }
    Ok(())
}
