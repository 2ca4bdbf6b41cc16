//! `lobcod decode`: the picture that codes stand for.

use crate::args::DecodeArgs;
use crate::output::paths::check_answer;
use crate::output::table::{Table, count};
use crate::output::{summary, tell};
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod_image::{FileKind, WriteOptions, read_codes, write_picture};
use serde_json::json;

/// Makes the picture: atoms added up, and the base layer on top.
pub fn run(args: &DecodeArgs) -> Result<()> {
    check_answer(&args.output)?;
    // Double precision holds codes of either precision exactly.
    let codes = read_codes::<f64>(&args.codes, None)?;
    let picture = reconstruct(&codes.needles, &codes.dictionary, codes.base.as_ref())?;
    let depth = args
        .depth
        .unwrap_or_else(|| FileKind::from_path(&args.output).map_or(codes.depth, |kind| kind.nearest_depth(codes.depth)));
    let scale = args.scale.unwrap_or(codes.scale);
    write_picture(
        &args.output,
        &picture,
        &WriteOptions { axes: codes.axes, depth, scale, sample_rate: codes.sample_rate, notes: codes.notes },
    )?;

    let (extent, nonzeros) = (picture.extent(), codes.needles.nonzeros());
    if args.telling.json {
        let report = json!({
            "shape": extent.axes(),
            "channels": picture.channels(),
            "nonzeros": nonzeros,
            "pixels": extent.volume(),
            "atoms": codes.dictionary.len(),
            "penalty": codes.penalty,
            "depth": depth.to_string(),
            "output": args.output.display().to_string(),
        });
        tell(&format!("{report:#}"))?;
    } else if !args.telling.quiet {
        let mut table = Table::default();
        table
            .row("codes", format!("{}, {} non-zeros", args.codes.display(), count(nonzeros)))
            .row("picture", format!("{}, {}, {depth}", args.output.display(), summary::shape(extent, picture.channels())));
        tell(&table.render())?;
    }
    Ok(())
}
