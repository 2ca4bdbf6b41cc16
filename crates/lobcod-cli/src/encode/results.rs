//! Output of `encode`.

use crate::args::EncodeArgs;
use crate::checkpoint;
use crate::closeness::Closeness;
use crate::dictionary::Chosen;
use crate::flow::Finished;
use crate::input::Source;
use crate::json;
use crate::output::paths::CodesFiles;
use crate::output::table::{Table, count, number, plural};
use crate::output::{summary, warnings};
use crate::ranks;
use crate::report::{Fact, PursuitPage, View};
use crate::score::{References, Score, decibels};
use crate::synthesis::reconstruct;
use crate::white::White;
use anyhow::Result;
use lobcod::{Answer, Extent, Observed, Real, Signal, Status};
use lobcod_io::{CodesFacts, Depth, write_codes_of};
use maud::Markup;
use std::path::Path;

/// Encoded images.
pub struct Results<'a, T> {
    /// The options.
    pub args: &'a EncodeArgs,
    /// The images, without the coded signals.
    pub sources: Vec<Source<T>>,
    /// Size and number of channels of each image.
    pub shapes: Vec<(Extent, usize)>,
    /// The dictionary.
    pub chosen: Chosen<T>,
    /// Codes and report.
    pub answer: Answer<T>,
    /// Images that were encoded as a whole; `None` if their codes are written already.
    pub whole: Option<Whole<T>>,
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
    /// Whether the last checkpoint could be written.
    pub kept: lobcod_io::Result<()>,
}

/// Images that were encoded as a whole.
pub struct Whole<T> {
    /// The coded signals.
    pub observed: Vec<Observed<T>>,
    /// Their references, if any.
    pub references: References<T>,
}

impl<T: Real> Finished for Results<'_, T> {
    type Report = json::Encode;

    fn status(&self) -> Status {
        self.answer.report.status
    }

    fn save(&mut self) -> Result<()> {
        let Some(whole) = &self.whole else { return Ok(()) };
        let args = self.args;
        let scored_without_peak = !args.reference.is_empty() && args.score.peak.is_none();
        self.whites[0].warn(&args.images[0], scored_without_peak, None);
        self.write_codes()?;
        for i in 0..args.reference.len() {
            self.scores.extend(whole.references.score(i, &self.reconstruct(i)?)?);
        }
        Ok(())
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        let Some(whole) = self.whole.take() else { return Ok(()) };
        let mut sections = Vec::new();
        for (i, observed) in whole.observed.into_iter().enumerate() {
            let source = &self.sources[i];
            let scale = self.args.input.scale.value();
            let view = View {
                name: &json::file(&source.path),
                original: &source
                    .base
                    .as_ref()
                    .map_or(Ok(observed.signal.clone()), |base| observed.signal.plus(base))?,
                reconstruction: &self.reconstruct(i)?,
                known: observed.mask.as_ref(),
                needles: &self.answer.needles[i],
                certificate: &self.answer.report.signals[i],
                dictionary: &self.chosen.dictionary,
                white: matches!(source.depth, Depth::U8 | Depth::U16).then_some(scale),
                sample_rate: source.sample_rate,
            };
            sections.push(view.section()?);
        }
        self.page(sections).write(path)
    }

    fn json(&self) -> json::Encode {
        let (args, report) = (self.args, &self.answer.report);
        let together = Score::together(&self.scores);
        let image = |i: usize| {
            let certificate = &report.signals[i];
            let fit = self.closeness.as_ref().map(|c| c.psnr_db_of(i, certificate.data_term));
            let score = self.scores.get(i);
            json::EncodedImage {
                image: json::Image::new(&self.sources[i].path, self.shapes[i]),
                certificate: certificate.into(),
                output: self.files.as_ref().map(|files| json::file(&files.files[i])),
                missing: self.sources[i].missing.json(),
                psnr_db: score.map(|score| score.psnr_db).or(fit).and_then(json::finite),
                ssim: score.and_then(|score| score.ssim),
            }
        };
        json::Encode {
            pursuit: report.into(),
            dictionary: self.chosen.name.clone(),
            normalised_atoms: self.chosen.normalised(),
            base: args.problem.base.to_string(),
            border: args.problem.border.to_string(),
            model: args.model_words(),
            scale: args.input.scale.value(),
            output: self.output().map(json::file),
            report: json::optional_file(&args.page.report),
            resumed: args.checkpoints.resume.is_some().then_some(true),
            ranks: ranks::count(),
            bands: self.bands,
            dictionary_penalty: self.chosen.penalty,
            psnr_db: self.psnr_db().and_then(json::finite),
            ssim: together.and_then(|score| score.ssim),
            unpenalised_correlation: args
                .codes
                .weights
                .is_some()
                .then_some(report.total.unpenalised_correlation),
            debiased_data_term: report.debiased_data_term,
            error: report.constrained.map(|of| of.error),
            l1_norm: report.constrained.map(|of| of.l1_norm),
            l1_gap: report.constrained.map(|of| of.gap),
            rounds: report.reweighted.map(|of| of.rounds),
            reweighted_objective: report.reweighted.map(|of| of.objective),
            images: (0..self.sources.len()).map(image).collect(),
        }
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
                    "learnt with penalty {penalty}; use --penalty {penalty} to encode with the \
                     same"
                ),
            );
        }
        let model = self.args.model_words();
        if !model.is_empty() {
            table.row("model", model.join(", "));
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
                format!("{} of the reconstruction, peak {}", decibels(psnr), number(self.peak())),
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

    fn warnings(&self) -> Vec<String> {
        warnings::of(&self.answer.report)
    }

    fn late_error(&mut self) -> Result<()> {
        Ok(std::mem::replace(&mut self.kept, Ok(()))?)
    }
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

    fn write_codes(&self) -> Result<()> {
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

    /// The reconstruction of image `i`.
    fn reconstruct(&self, i: usize) -> lobcod::Result<Signal<T>> {
        let base = self.sources[i].base.as_ref();
        reconstruct(&self.answer.needles[i], &self.chosen.dictionary, base)
    }

    /// The HTML report, with the sections of the images.
    fn page(&self, sections: Vec<Markup>) -> PursuitPage<'_, T> {
        let first = self.sources[0].path.display();
        let mut facts = Fact::layers(&self.chosen, self.args.problem.base);
        let missing = self.sources[0].missing.words(self.answer.needles[0].extent());
        facts.extend(missing.map(|words| Fact::new("missing", words, "of the first image")));
        if let Some(score) = Score::together(&self.scores) {
            facts.extend(Fact::scores(&score, "against the reference"));
        } else if let Some(psnr) = self.psnr_db() {
            facts.push(Fact::new("PSNR", decibels(psnr), "of the reconstruction"));
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
            lead: self.lead(),
            facts,
        }
    }

    /// How many codes describe the images, and how well.
    fn lead(&self) -> String {
        let total = &self.answer.report.total;
        let unit = summary::unit(self.answer.needles[0].extent());
        let what = match (self.sources.len(), unit) {
            (1, "sample") => "the signal",
            (1, _) => "the image",
            (_, "sample") => "the signals",
            _ => "the images",
        };
        let codes = format!(
            "{} codes, {:.2} per {unit}, describe the details of {what}.",
            count(total.nonzeros),
            total.nonzeros as f64 / total.pixels as f64
        );
        let scored = match Score::together(&self.scores) {
            Some(score) => Some((score.psnr_db, "the reference")),
            None => self.psnr_db().map(|psnr| (psnr, what)),
        };
        scored.map_or(codes.clone(), |(psnr, truth)| {
            format!("{codes} PSNR of the reconstruction to {truth}: {psnr:.1} dB.")
        })
    }
}
