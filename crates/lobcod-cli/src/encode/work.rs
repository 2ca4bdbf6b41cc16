//! What encode saves and tells.

use crate::args::EncodeArgs;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::input::Source;
use crate::machine;
use crate::output::paths::CodesFiles;
use crate::output::table::{Table, number, plural};
use crate::output::{json, summary, tell};
use crate::ranks;
use crate::report::{Fact, PursuitPage};
use crate::score::Score;
use anyhow::Result;
use lobcod::{Answer, Real, Status};
use lobcod_image::{CodesFacts, write_codes_of};
use maud::Markup;
use serde_json::{Value, json};
use std::path::Path;

/// Everything there is to save and tell.
pub struct Work<'a, T> {
    /// What was asked.
    pub args: &'a EncodeArgs,
    /// The pictures, without what was coded.
    pub sources: Vec<Source<T>>,
    /// The dictionary.
    pub chosen: Chosen<T>,
    /// Codes and report.
    pub answer: Answer<T>,
    /// Scores of the pictures, if they were asked for.
    pub scores: Vec<Score>,
    /// Where the codes go, if they are kept.
    pub files: Option<CodesFiles>,
    /// Bands the picture was coded in, if it was.
    pub bands: Option<usize>,
}

impl<T: Real> Work<'_, T> {
    /// The file that holds the codes, or the folder of those of several pictures.
    fn output(&self) -> Option<&Path> {
        let files = self.files.as_ref()?;
        if let [file] = &files.files[..] { Some(file) } else { self.args.output.as_deref() }
    }

    /// Writes the codes.
    pub fn save(&self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.make_folder()?;
        for (i, file) in files.files.iter().enumerate() {
            let source = &self.sources[i];
            let needles = &self.answer.needles[i];
            let facts = CodesFacts {
                extent: needles.extent(),
                channels: needles.channels(),
                border: needles.border(),
                axes: source.axes,
                penalty: self.answer.report.penalty,
                scale: self.args.picture.scale,
                depth: source.depth,
                sample_rate: source.sample_rate,
                dictionary: &self.chosen.dictionary,
                notes: &source.notes,
            };
            write_codes_of(file, &facts, needles, source.base.as_ref())?;
        }
        Ok(())
    }

    /// Tells the outcome on standard output, the way it was asked for.
    pub fn tell(&self) -> Result<()> {
        if self.args.telling.json {
            return tell(&format!("{:#}", Value::Object(self.json())));
        }
        if self.args.telling.quiet { Ok(()) } else { tell(&self.summary()) }
    }

    /// The page that shows the outcome, with the sections of its pictures.
    pub fn page(&self, sections: Vec<Markup>) -> PursuitPage<'_, T> {
        let first = self.sources[0].path.display();
        let mut facts = Fact::layers(&self.chosen, self.args.problem.base);
        facts.extend(Score::together(&self.scores).iter().flat_map(|score| Fact::scores(score, "against the reference")));
        PursuitPage {
            title: match self.sources.len() {
                1 => format!("lobcod encode: {first}"),
                n => format!("lobcod encode: {first} and {} more", n - 1),
            },
            sections,
            dictionary: &self.chosen.dictionary,
            answer: &self.answer,
            tolerance: self.args.run.tolerance,
            facts,
        }
    }

    fn json(&self) -> serde_json::Map<String, Value> {
        let report = &self.answer.report;
        let mut fields = json::report(report, machine::peak_memory());
        fields.extend(json::object(json!({
            "dictionary": self.chosen.name,
            "normalised_atoms": self.chosen.normalised(),
            "base": self.args.problem.base.to_string(),
            "border": self.args.problem.border.to_string(),
            "scale": self.args.picture.scale,
            "output": self.output().map(|path| path.display().to_string()),
        })));
        if self.args.checkpoints.resume.is_some() {
            fields.insert("resumed".into(), true.into());
        }
        if let Some(ranks) = ranks::count() {
            fields.insert("ranks".into(), ranks.into());
        }
        if let Some(bands) = self.bands {
            fields.insert("bands".into(), bands.into());
        }
        if let Some(page) = &self.args.report {
            fields.insert("report".into(), page.display().to_string().into());
        }
        if let Some(score) = Score::together(&self.scores) {
            score.tell(&mut fields);
        }
        let image = |i: usize| {
            let mut image = json::certificate(&report.signals[i]);
            let output = self.files.as_ref().map(|files| files.files[i].display().to_string());
            image.extend(json::object(json!({ "file": self.sources[i].path.display().to_string(), "output": output })));
            if let Some(score) = self.scores.get(i) {
                score.tell(&mut image);
            }
            Value::Object(image)
        };
        fields.insert("images".into(), (0..self.sources.len()).map(image).collect());
        fields
    }

    fn summary(&self) -> String {
        let report = &self.answer.report;
        let mut table = Table::default();
        for (i, (source, needles)) in self.sources.iter().zip(&self.answer.needles).enumerate() {
            let name = if i == 0 { plural(self.sources.len(), "picture") } else { String::new() };
            let mut words = format!("{}, {}", source.path.display(), summary::shape(needles.extent(), needles.channels()));
            if self.sources.len() > 1 {
                words += &format!(": objective {}", number(report.signals[i].objective));
                words += &self.scores.get(i).map_or(String::new(), |score| format!(", {}", score.words()));
            }
            table.row(name, words);
        }
        table.row("dictionary", self.chosen.words());
        table.row("base, border", format!("{}, {}", self.args.problem.base, self.args.problem.border));
        if let Some(ranks) = ranks::count() {
            table.row("ranks", ranks);
        }
        if let Some(bands) = self.bands {
            table.row("bands", bands);
        }
        summary::pursuit(&mut table, report);
        if let Some(score) = Score::together(&self.scores) {
            table.row("PSNR", score.words());
        }
        match self.output() {
            Some(path) => table.row("codes", path.display()),
            None => table.row("codes", "not kept; name a file with -o"),
        };
        if let Some(page) = &self.args.report {
            table.row("report", page.display());
        }
        if let (Some(words), false) = (checkpoint::words(&self.args.checkpoints), report.status == Status::Converged) {
            table.row("checkpoint", words);
        }
        table.render()
    }
}
