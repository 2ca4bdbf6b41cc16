//! `lobcod demo`: the main tasks on built-in images.

mod examples;
mod tasks;

use crate::Outcome;
use crate::args::{ConsoleArgs, DemoArgs};
use crate::browser;
use crate::command::Command;
use crate::interrupt;
use crate::json;
use crate::mosaic::mosaic;
use crate::output::paths::Folder;
use crate::output::table::{Table, columns, number, plural};
use crate::output::{note, print};
use crate::report::{DemoPage, percent};
use anyhow::Result;
use examples::{Examples, PEAK, png};
use lobcod::Signal;
use lobcod::base::Base;
use lobcod_io::{
    Axes, CodesFile, Depth, Metadata, WriteOptions, write_codes, write_dictionary, write_image,
};
use std::path::Path;
use tasks::{Answers, TOLERANCE, work};

impl Command for DemoArgs {
    fn run(&self) -> Result<Outcome> {
        run(self)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }
}

/// Learns, encodes, inpaints and fuses, and writes images and an HTML report.
fn run(args: &DemoArgs) -> Result<Outcome> {
    interrupt::listen();
    let folder = Folder::check(&args.output)?;
    let examples = Examples::make()?;
    if args.only_examples {
        examples.write(folder.make()?)?;
        if !args.console.quiet {
            print(&format!("wrote the examples to {}", args.output.display()))?;
        }
        return Ok(Outcome::Done);
    }
    let Some(answers) = work(&examples, args.threads.count, &args.console)? else {
        note("interrupted: nothing was written");
        return Ok(Outcome::Interrupted);
    };
    let place = folder.make()?;
    examples.write(place)?;
    write_answers(place, &examples, &answers)?;
    let outcomes = outcomes(&answers);
    let page = DemoPage {
        original: &examples.original,
        learning: (&answers.first, &answers.learnt.answer),
        coding: (&answers.coded.answer, &answers.reconstruction),
        tolerance: TOLERANCE,
        inpainting: (&examples.damaged, &examples.known, &answers.filled.answer.image),
        fusion: (&examples.pair, &answers.fused.answer),
        outcomes: outcomes.clone().map(|(_, sentence)| sentence),
        white: PEAK,
        seconds: seconds(&answers).iter().sum(),
    };
    let index = place.join("index.html");
    page.write(&index)?;
    if args.open {
        browser::open(std::path::absolute(&index)?);
    }
    if args.console.json {
        json::print("demo", report(args, &answers))?;
    } else if !args.console.quiet {
        print(&summary(&args.output, &answers, &outcomes))?;
    }
    Ok(Outcome::Done)
}

fn seconds(answers: &Answers) -> [f64; 4] {
    [answers.learnt.seconds, answers.coded.seconds, answers.filled.seconds, answers.fused.seconds]
}

fn write_answers(place: &Path, examples: &Examples, answers: &Answers) -> Result<()> {
    let dictionary = &answers.learnt.answer.dictionary;
    let atoms = mosaic(dictionary, None, None)?;
    let images: [(&str, &Signal<f32>); 4] = [
        ("reconstruction", &answers.reconstruction),
        ("dictionary", &atoms),
        ("filled", &answers.filled.answer.image),
        ("fused", &answers.fused.answer.image),
    ];
    for (name, image) in images {
        png(place, name, image)?;
    }
    let of_two = WriteOptions { scale: 1.0, ..WriteOptions::default() };
    write_image(&place.join("decision.png"), &answers.fused.answer.decision, &of_two)?;
    write_dictionary(&place.join("dictionary.npz"), dictionary, &[])?;
    let codes = CodesFile {
        needles: answers.coded.answer.needles[0].clone(),
        axes: Axes::Hwc,
        penalty: answers.coded.answer.report.penalty,
        scale: PEAK,
        depth: Depth::U8,
        sample_rate: None,
        dictionary: dictionary.clone(),
        base: Some(Base::LocalMean.layer(&examples.original, None, dictionary.extent())?),
        metadata: Metadata::default(),
    };
    Ok(write_codes(&place.join("codes.npz"), &codes)?)
}

/// The result of each task: a short form for the table, and a sentence for the HTML report.
fn outcomes(answers: &Answers) -> [(String, String); 4] {
    let learning = &answers.learnt.answer.report;
    let first = learning.history.first().map_or(f64::NAN, |point| point.objective);
    let (before, after) = (number(first), number(learning.pursuit.total.objective));
    let total = &answers.coded.answer.report.total;
    let density = format!("{:.2} codes per pixel", total.nonzeros as f64 / total.pixels as f64);
    let [coded, filled, near, far, fused] =
        answers.scores.map(|score| format!("{:.1} dB", score.psnr_db));
    let dictionary = &answers.learnt.answer.dictionary;
    let atoms =
        format!("{} of {} in colour", plural(dictionary.len(), "atom"), dictionary.extent());
    [
        (
            format!("{atoms}: objective from {before} to {after}"),
            format!(
                "{atoms}, learnt from the image in {}. The objective fell from {before} to \
                 {after}.",
                plural(learning.passes, "pass")
            ),
        ),
        (
            format!("{coded} with {density}, gap {:.0e}", total.relative_gap()),
            format!("The image as a sum of learnt atoms: {coded} with {density}."),
        ),
        (
            format!("half of the pixels removed, filled to {filled}"),
            format!(
                "Half of the pixels, chosen at random, were removed and filled in with the \
                 built-in dictionary, which was not learnt from this image: {filled}."
            ),
        ),
        (
            format!("near {near} and far {far}, fused to {fused}"),
            format!(
                "Two images, focused on the foreground ({near}) and the background ({far}), fused \
                 into one: {fused}."
            ),
        ),
    ]
}

fn summary(output: &Path, answers: &Answers, outcomes: &[(String, String); 4]) -> String {
    let rows = ["learn", "encode", "inpaint", "fuse"].iter().zip(outcomes).zip(seconds(answers));
    let rows: Vec<Vec<String>> = rows
        .map(|((task, (words, _)), seconds)| {
            vec![task.to_string(), words.clone(), format!("{seconds:.1} s")]
        })
        .collect();
    let mut table = Table::default();
    let gap = answers.coded.answer.report.total.relative_gap();
    table
        .row("certificate", format!("the objective is within {} % of the optimum", percent(gap)))
        .row("report", output.join("index.html").display());
    format!("{}\n{}", columns(&rows, &[2]), table.render())
}

fn report(args: &DemoArgs, answers: &Answers) -> json::Demo {
    let learnt = &answers.learnt.answer.report;
    let [reconstruction, filled, near, far, fused] = &answers.scores;
    let [learn, encode, inpaint, fuse] = seconds(answers);
    json::Demo {
        pursuit: (&answers.coded.answer.report).into(),
        score: reconstruction.into(),
        learn: json::DemoLearn {
            seconds: learn,
            passes: learnt.passes,
            objective: learnt.pursuit.total.objective,
        },
        encode: json::DemoEncode { seconds: encode, score: reconstruction.into() },
        inpaint: json::DemoInpaint {
            seconds: inpaint,
            psnr_output_db: json::finite(filled.psnr_db),
            ssim: filled.ssim,
        },
        fuse: json::DemoFuse {
            seconds: fuse,
            near_psnr_db: json::finite(near.psnr_db),
            far_psnr_db: json::finite(far.psnr_db),
            score: fused.into(),
        },
        output: json::file(&args.output),
        report: json::file(&args.output.join("index.html")),
    }
}
