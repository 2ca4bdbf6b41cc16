//! Output of `encode`.

use crate::args::EncodeArgs;
use crate::checkpoint;
use crate::closeness::Closeness;
use crate::dictionary::Chosen;
use crate::input::Source;
use crate::machine;
use crate::output::paths::CodesFiles;
use crate::output::table::{Table, number, plural};
use crate::output::{json, print, summary};
use crate::ranks;
use crate::report::{Fact, PursuitPage};
use crate::score::Score;
use crate::white::White;
use anyhow::Result;
use lobcod::{Answer, Real, Status};
use lobcod_io::{CodesFacts, write_codes_of};
use maud::Markup;
use serde_json::{Value, json};
use std::path::Path;

/// Everything to save and report.
pub struct Results<'a, T> {
    /// The options.
    pub args: &'a EncodeArgs,
    /// The images, without the coded signals.
    pub sources: Vec<Source<T>>,
    /// The dictionary.
    pub chosen: Chosen<T>,
    /// Codes and report.
    pub answer: Answer<T>,
    /// Scores of the images, if requested.
    pub scores: Vec<Score>,
    /// Output files of the codes, if they are saved.
    pub files: Option<CodesFiles>,
    /// Number of bands, if the image was encoded in bands.
    pub bands: Option<usize>,
    /// White level of each image read as a whole.
    pub whites: Vec<White>,
    /// PSNR of the reconstructions, if the images were read as a whole.
    pub closeness: Option<Closeness>,
}

impl<T: Real> Results<'_, T> {
    /// The codes file, or the folder of codes for several images.
    fn output(&self) -> Option<&Path> {
        let files = self.files.as_ref()?;
        if let [file] = &files.files[..] { Some(file) } else { self.args.output.as_deref() }
    }

    /// Peak value of the scores.
    fn peak(&self) -> f64 {
        self.closeness.as_ref().map_or(self.args.input.scale.value(), Closeness::peak)
    }

    /// PSNR of the reconstructions: against the references if given, otherwise against the known
    /// samples of the images.
    fn psnr_db(&self) -> Option<f64> {
        let fit = || Some(self.closeness.as_ref()?.psnr_db(self.answer.report.total.data_term));
        Score::together(&self.scores).map(|score| score.psnr_db).or_else(fit)
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
                scale: self.whites[i].value,
                depth: source.depth,
                sample_rate: source.sample_rate,
                dictionary: &self.chosen.dictionary,
                metadata: &source.metadata,
            };
            write_codes_of(file, &facts, needles, source.base.as_ref())?;
        }
        Ok(())
    }

    /// Prints the result on standard output, as text or JSON.
    pub fn print(&self) -> Result<()> {
        if self.args.console.json {
            return print(&format!("{:#}", Value::Object(self.json())));
        }
        if self.args.console.quiet { Ok(()) } else { print(&self.summary()) }
    }

    /// The HTML report, with the sections of the images.
    pub fn page(&self, sections: Vec<Markup>) -> PursuitPage<'_, T> {
        let first = self.sources[0].path.display();
        let mut facts = Fact::layers(&self.chosen, self.args.problem.base);
        let missing = self.sources[0].missing.words(self.answer.needles[0].extent());
        facts.extend(missing.map(|words| Fact::new("missing", words, "of the first image")));
        if let Some(score) = Score::together(&self.scores) {
            facts.extend(Fact::scores(&score, "against the reference"));
        } else if let Some(psnr) = self.psnr_db() {
            facts.push(Fact::new("PSNR", format!("{psnr:.2} dB"), "of the reconstruction"));
        }
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
            "scale": self.args.input.scale.value(),
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
        if let Some(page) = &self.args.page.report {
            fields.insert("report".into(), page.display().to_string().into());
        }
        if let Some(penalty) = self.chosen.penalty {
            fields.insert("dictionary_penalty".into(), penalty.into());
        }
        fields.extend(self.psnr_db().map(|psnr| ("psnr_db".into(), json!(psnr))));
        if let Some(score) = Score::together(&self.scores) {
            score.add_to(&mut fields);
        }
        let image = |i: usize| {
            let mut image = json::certificate(&report.signals[i]);
            let output = self.files.as_ref().map(|files| files.files[i].display().to_string());
            image.extend(json::object(
                json!({ "file": self.sources[i].path.display().to_string(), "output": output }),
            ));
            self.sources[i].missing.add_to(&mut image);
            if let Some(closeness) = &self.closeness {
                image.insert(
                    "psnr_db".into(),
                    json!(closeness.psnr_db_of(i, report.signals[i].data_term)),
                );
            }
            if let Some(score) = self.scores.get(i) {
                score.add_to(&mut image);
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
            let name = if i == 0 { plural(self.sources.len(), "image") } else { String::new() };
            let mut words = format!(
                "{}, {}",
                source.path.display(),
                summary::shape(needles.extent(), needles.channels())
            );
            if self.sources.len() > 1 {
                words += &format!(": objective {}", number(report.signals[i].objective));
                words += &self
                    .scores
                    .get(i)
                    .map_or(String::new(), |score| format!(", {}", score.words()));
            }
            table.row(name, words);
            if let Some(missing) = source.missing.words(needles.extent()) {
                table.row("missing", missing);
            }
        }
        table.row("dictionary", self.chosen.words());
        let given =
            self.args.problem.penalty.penalty.or(self.args.problem.penalty.relative_penalty);
        if let (Some(penalty), None) = (self.chosen.penalty.map(number), given) {
            table.row(
                "",
                format!(
                    "learnt with penalty {penalty}; use --penalty {penalty} to encode with the same"
                ),
            );
        }
        table.row(
            "base, border",
            format!("{}, {}", self.args.problem.base, self.args.problem.border),
        );
        if let Some(ranks) = ranks::count() {
            table.row("ranks", ranks);
        }
        if let Some(bands) = self.bands {
            table.row("bands", bands);
        }
        summary::pursuit(&mut table, report);
        if let Some(score) = Score::together(&self.scores) {
            table.row(
                "PSNR",
                format!("{} against the reference, peak {}", score.words(), number(self.peak())),
            );
        } else if let Some(psnr) = self.psnr_db() {
            table.row(
                "PSNR",
                format!("{psnr:.2} dB of the reconstruction, peak {}", number(self.peak())),
            );
        }
        match self.output() {
            Some(path) => table.row("codes", path.display()),
            None => table.row("codes", "not saved; give a file name with -o"),
        };
        if let Some(page) = &self.args.page.report {
            table.row("report", page.display());
        }
        if let (Some(words), false) =
            (checkpoint::words(&self.args.checkpoints), report.status == Status::Converged)
        {
            table.row("checkpoint", words);
        }
        table.render()
    }
}
