//! `lobcod compare`: how close two pictures are.

use crate::args::CompareArgs;
use crate::output::paths::{check_answer, check_page};
use crate::output::table::{Table, number};
use crate::output::{json, summary, tell};
use crate::report::{BeforeAfter, Fact, write_comparison};
use crate::score::Score;
use anyhow::{Result, ensure};
use lobcod_image::{Depth, FileKind, ReadOptions, WriteOptions, read_picture, write_picture};
use serde_json::{Value, json};

/// Scores the second picture against the first.
pub fn run(args: &CompareArgs) -> Result<()> {
    args.output.as_deref().map(check_answer).transpose()?;
    args.report.as_deref().map(check_page).transpose()?;
    let peak = args.peak.unwrap_or(args.scale);
    ensure!(peak.is_finite() && peak > 0.0, "the peak is {peak}, but must be a number above 0");
    let options = ReadOptions { scale: args.scale, ..ReadOptions::default() };
    let (a, b) = (read_picture::<f64>(&args.first, &options)?, read_picture::<f64>(&args.second, &options)?);
    for (path, picture) in [(&args.first, &a), (&args.second, &b)] {
        ensure!(picture.known.is_none(), "{} has missing pixels and cannot be compared; fill them first", path.display());
    }
    let shapes = [&a.signal, &b.signal].map(|signal| summary::shape(signal.extent(), signal.channels()));
    ensure!(
        shapes[0] == shapes[1],
        "{} is {} but {} is {}; only pictures of one shape can be compared",
        args.first.display(),
        shapes[0],
        args.second.display(),
        shapes[1]
    );
    let score = Score::of(&b.signal, &a.signal, peak)?;
    let mut difference = a.signal.minus(&b.signal)?;
    difference.data_mut().iter_mut().for_each(|x| *x = x.abs());
    let largest = difference.data().iter().copied().fold(0.0, f64::max);
    let mean = difference.data().iter().sum::<f64>() / difference.data().len() as f64;
    if let Some(output) = &args.output {
        let depth = FileKind::from_path(output)?.nearest_depth(Depth::U8);
        write_picture(output, &difference, &WriteOptions { axes: a.axes, depth, scale: args.scale, ..WriteOptions::default() })?;
    }

    if let Some(path) = &args.report {
        let names = [&args.first, &args.second].map(|path| path.display().to_string());
        let view = BeforeAfter {
            name: "Both",
            before: (&names[0], &a.signal.cast()),
            after: (&names[1], &b.signal.cast()),
            maps: Vec::new(),
            white: args.scale,
        };
        let mut facts = Fact::scores(&score, "of the second against the first");
        facts.push(Fact::new("largest difference", number(largest), ""));
        facts.push(Fact::new("mean difference", number(mean), ""));
        write_comparison(path, &format!("lobcod compare: {} and {}", names[0], names[1]), view.section()?, &facts)?;
    }

    let output = args.output.as_ref().map(|path| path.display().to_string());
    if args.telling.json {
        let mut fields = json::object(json!({
            "peak": peak, "largest_difference": largest, "mean_difference": mean, "equal": largest == 0.0, "output": output,
        }));
        score.tell(&mut fields);
        return tell(&format!("{:#}", Value::Object(fields)));
    }
    if args.telling.quiet {
        return Ok(());
    }
    let mut table = Table::default();
    table
        .row("PSNR", if largest == 0.0 { "the pictures are equal".into() } else { score.words() })
        .row("difference", format!("{} at most, {} on average", number(largest), number(mean)));
    if let Some(output) = output {
        table.row("drawn in", output);
    }
    if let Some(path) = &args.report {
        table.row("report", path.display());
    }
    tell(&table.render())
}
