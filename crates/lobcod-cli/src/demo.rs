//! `lobcod demo`: the main job on a picture that comes with the program.

use crate::Outcome;
use crate::args::DemoArgs;
use crate::dictionary::Chosen;
use crate::interrupt;
use crate::machine;
use crate::mosaic::mosaic;
use crate::output::paths::Folder;
use crate::output::table::Table;
use crate::output::{json, summary, tell};
use crate::progress::Watcher;
use crate::report::{Fact, PursuitPage, View};
use crate::score::Score;
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::procedural::still_life;
use lobcod::{Dictionary, Embedded, Penalty, PursuitParams, Signal, Status};
use lobcod_image::{WriteOptions, write_picture};
use serde_json::{Value, json};

/// Pixels the picture has on a side.
const SIZE: usize = 256;
/// Share of penalty_max: a close likeness with few codes.
const PENALTY: f64 = 0.02;
/// Largest value of the picture.
const PEAK: f64 = 255.0;

/// Codes the picture, and writes it with its reconstruction, the dictionary and a report.
pub fn run(args: &DemoArgs) -> Result<Outcome> {
    let folder = Folder::check(&args.output)?;
    let original = still_life(SIZE)?;
    let chosen = Chosen::made(Dictionary::<f32>::natural(), Embedded::Natural.name());
    let base = Base::LocalMean.layer(&original, None, chosen.dictionary.extent())?;
    let params = PursuitParams { threads: args.threads, ..PursuitParams::new(Penalty::Relative(PENALTY)) };

    interrupt::listen();
    let signals = [original.minus(&base)?.into()];
    let tolerance = params.tolerance;
    let answer = params.check()?.run(&signals, &chosen.dictionary, &mut Watcher::new(&args.telling))?;
    let reconstruction = reconstruct(&answer.needles[0], &chosen.dictionary, Some(&base))?;
    let score = Score::of(&reconstruction, &original, PEAK)?;

    let place = folder.make()?;
    let atoms = mosaic(&chosen.dictionary, None, None)?;
    let pictures: [(&str, &Signal<f32>); 3] =
        [("original", &original), ("reconstruction", &reconstruction), ("dictionary", &atoms)];
    let files: Vec<_> = pictures.iter().map(|(name, _)| place.join(format!("{name}.png"))).collect();
    for ((_, picture), file) in pictures.iter().zip(&files) {
        write_picture(file, picture, &WriteOptions::default())?;
    }

    let view = View {
        name: "A still life made by formula",
        original: &original,
        reconstruction: &reconstruction,
        known: None,
        needles: &answer.needles[0],
        certificate: &answer.report.signals[0],
        dictionary: &chosen.dictionary,
        white: Some(PEAK),
        sample_rate: None,
    };
    let index = place.join("index.html");
    let page = PursuitPage {
        title: "lobcod demo".into(),
        sections: vec![view.section()?],
        dictionary: &chosen.dictionary,
        answer: &answer,
        tolerance,
        facts: [Fact::layers(&chosen, Base::LocalMean), Fact::scores(&score, "of the reconstruction")].concat(),
    };
    page.write(&index)?;

    if args.telling.json {
        let mut report = json::report(&answer.report, machine::peak_memory());
        score.tell(&mut report);
        let written: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        report.extend(json::object(
            json!({ "output": args.output.display().to_string(), "pictures": written, "report": index.display().to_string() }),
        ));
        tell(&format!("{:#}", Value::Object(report)))?;
    } else if !args.telling.quiet {
        let mut table = Table::default();
        table
            .row("picture", format!("a still life made by formula, {}", summary::shape(original.extent(), original.channels())))
            .row("dictionary", chosen.words());
        summary::pursuit(&mut table, &answer.report);
        table.row("PSNR", score.words());
        table.row("look at", index.display());
        for file in &files {
            table.row("", file.display());
        }
        tell(&table.render())?;
    }
    Ok(if answer.report.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}
