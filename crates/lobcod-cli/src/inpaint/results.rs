//! Output of `inpaint`.

use crate::args::InpaintArgs;
use crate::dictionary::Chosen;
use crate::input::read_options;
use crate::machine;
use crate::missing::{self, Missing};
use crate::output::table::{Table, count, number, plural};
use crate::output::{json, print, summary, warn};
use crate::report::{Fact, FilledPage};
use crate::score::{References, Score};
use crate::white::White;
use anyhow::Result;
use lobcod::memory::words;
use lobcod::{Mask, Real, Signal, Status};
use lobcod_io::{Axes, Depth, Metadata, WriteOptions, read_image, write_image};
use lobcod_tasks::inpaint::{AnswerReport, InpaintParams, InpaintReport, Inpainted, PathPoint};
use lobcod_tasks::metrics;
use serde_json::{Map, Value, json};

/// Everything to save and report.
pub struct Results<'a, T> {
    /// The options.
    pub args: &'a InpaintArgs,
    /// The parameters.
    pub params: &'a InpaintParams,
    /// The damaged image.
    pub signal: Signal<T>,
    /// The mask of its known samples.
    pub known: Mask<T>,
    /// The dictionaries.
    pub chosen: Vec<Chosen<T>>,
    /// The filled image and the report.
    pub answer: Inpainted<T>,
    /// Sample type of the output.
    pub depth: Depth,
    /// Order of the axes in the file.
    pub axes: Axes,
    /// Sample rate, if it is a sound.
    pub sample_rate: Option<u32>,
    /// Metadata of the file.
    pub metadata: Metadata,
    /// Its missing samples.
    pub missing: Missing,
    /// Its white level.
    pub white: White,
}

/// Scores against the reference.
struct Scores {
    /// Of the fit, including known pixels.
    fit: Score,
    /// Of the written file.
    output: f64,
    /// Of the filled pixels of the written file only.
    holes: f64,
    /// Of the written file.
    ssim: Option<f64>,
}

impl<T: Real> Results<'_, T> {
    /// Writes the image and the HTML report, and prints the result.
    pub fn finish(self, references: &References<T>) -> Result<()> {
        let written = if self.args.refit_known { &self.answer.fit } else { &self.answer.image };
        let options = WriteOptions {
            axes: self.axes,
            depth: self.depth,
            scale: self.white.value,
            sample_rate: self.sample_rate,
            metadata: self.metadata.clone(),
        };
        if self.depth == Depth::F64 && T::NAME != "f64" && !self.args.refit_known {
            write_image(&self.args.output, &self.with_known_samples(written)?, &options)?;
        } else {
            write_image(&self.args.output, written, &options)?;
        }
        let scored = !self.args.console.quiet
            && references.truth(0).is_some()
            && self.args.scoring.score.peak.is_none();
        self.white.warn(&self.args.files.image, scored, Some(&self.args.output));
        let scores =
            references.truth(0).map(|(truth, peak)| self.scores(truth, peak)).transpose()?;
        let page = self.args.page.report.as_deref().map(|path| {
            FilledPage {
                name: self.args.files.image.display().to_string(),
                damaged: &self.signal,
                known: &self.known,
                filled: written,
                truth: references.truth(0).map(|(truth, _)| truth),
                white: matches!(self.depth, Depth::U8 | Depth::U16).then_some(self.white.value),
                report: &self.answer.report,
                facts: self.facts(scores.as_ref()),
            }
            .write(path)
        });
        if self.args.console.json {
            print(&format!("{:#}", Value::Object(self.json(scores.as_ref()))))?;
        } else if !self.args.console.quiet {
            print(&self.summary(scores.as_ref()))?;
        }
        if !self.args.console.quiet {
            self.warnings().iter().for_each(|warning| warn(warning));
        }
        page.unwrap_or(Ok(()))
    }

    /// The filled image with the known samples exactly as in the file, in double precision.
    fn with_known_samples(&self, filled: &Signal<T>) -> Result<Signal<f64>> {
        let mut options = read_options(&self.args.input, &self.args.run);
        options.axes = Some(self.axes);
        let mut exact = read_image::<f64>(&self.args.files.image, &options)?.signal;
        let weights = (0..exact.channels()).flat_map(|c| self.known.channel(c));
        for ((sample, fill), weight) in exact.data_mut().iter_mut().zip(filled.data()).zip(weights)
        {
            if *weight == T::ZERO {
                *sample = fill.to_f64();
            }
        }
        Ok(exact)
    }

    /// Warnings about results that are correct but probably not intended.
    fn warnings(&self) -> Vec<&'static str> {
        let InpaintReport { answers, status, .. } = &self.answer.report;
        let mut warnings = Vec::new();
        if answers.is_empty() {
            warnings.push("no pixel is missing, so the image is written unchanged; mark holes with --holes or --known");
        } else if self.params.penalty.is_some()
            && *status == Status::Converged
            && answers.iter().all(|a| a.nonzeros == 0)
        {
            warnings
                .push("all codes are zero at this penalty, so the holes are filled smoothly; use a smaller --penalty, or auto");
        }
        warnings
    }

    fn scores(&self, truth: &Signal<T>, peak: f64) -> Result<Scores> {
        let mut options = read_options(&self.args.input, &self.args.run);
        options.axes = Some(self.axes);
        let written = read_image::<T>(&self.args.output, &options)?.signal;
        let mut error = (0.0, 0usize);
        for c in 0..truth.channels() {
            let samples =
                truth.channel(c).iter().zip(written.channel(c)).zip(self.known.channel(c));
            for ((a, b), _) in samples.filter(|(_, w)| **w == T::ZERO) {
                error = (error.0 + (a.to_f64() - b.to_f64()).powi(2), error.1 + 1);
            }
        }
        Ok(Scores {
            fit: Score::of(&self.answer.fit, truth, peak)?,
            output: metrics::psnr(&written, truth, peak)?,
            holes: 20.0 * (peak * (error.1 as f64 / error.0).sqrt()).log10(),
            ssim: metrics::ssim(&written, truth, peak).ok(),
        })
    }

    /// Number of filled samples.
    fn missing_samples(&self) -> usize {
        missing::count(&self.signal, &self.known)
    }

    fn json(&self, scores: Option<&Scores>) -> Map<String, Value> {
        let report = &self.answer.report;
        let mut fields = json::object(json!({
            "status": report.status.to_string(),
            "pixels": self.signal.extent().volume(),
            "missing_samples": self.missing_samples(),
            "held_out_samples": report.held_out,
            "penalty": report.penalty,
            "penalty_path": report.path.iter().map(point).collect::<Vec<_>>(),
            "answers": report.answers.iter().map(|a| self.answer_json(a)).collect::<Vec<_>>(),
            "nonzeros": report.answers.iter().map(|a| a.nonzeros).sum::<usize>(),
            "discovery_sweeps": report.discovery_sweeps,
            "support_sweeps": report.support_sweeps,
            "seconds": report.seconds,
            "working_memory_bytes": report.working_memory_bytes,
            "peak_memory_bytes": machine::peak_memory(),
            "threads": report.threads,
            "engine": report.engine,
            "precision": report.precision,
            "warnings": self.missing.warnings.iter().map(String::as_str).chain(self.warnings()).collect::<Vec<_>>(),
            "learn": if self.params.learn { "image" } else { "none" },
            "refit_known": self.args.refit_known,
            "depth": self.depth.to_string(),
            "output": self.args.output.display().to_string(),
        }));
        self.missing.add_to(&mut fields);
        if let Some(page) = &self.args.page.report {
            fields.insert("report".into(), page.display().to_string().into());
        }
        if let Some(scores) = scores {
            fields.insert("peak".into(), json!(self.white.peak(self.args.scoring.score.peak)));
            fields.insert("psnr_db".into(), json!(scores.fit.psnr_db));
            fields.insert("psnr_output_db".into(), json!(scores.output));
            fields.insert("psnr_holes_db".into(), json!(scores.holes));
            fields.insert("ssim".into(), json!(scores.ssim));
        }
        fields
    }

    fn answer_json(&self, answer: &AnswerReport) -> Value {
        json!({
            "dictionary": self.dictionary_name(answer),
            "learnt": answer.learnt,
            "variant": answer.variant,
            "window": answer.window,
            "trust": answer.trust,
            "weight": answer.weight,
            "penalty": answer.penalty,
            "nonzeros": answer.nonzeros,
            "penalty_path": answer.path.iter().map(point).collect::<Vec<_>>(),
        })
    }

    fn dictionary_name(&self, answer: &AnswerReport) -> &str {
        answer.dictionary.map_or("none", |number| self.chosen[number].name.as_str())
    }

    fn summary(&self, scores: Option<&Scores>) -> String {
        let report = &self.answer.report;
        let mut table = Table::default();
        table.row(
            "image",
            format!(
                "{}, {}",
                self.args.files.image.display(),
                summary::shape(self.signal.extent(), self.signal.channels())
            ),
        );
        table.row("missing", self.missing_words());
        for chosen in &self.chosen {
            table.row("dictionary", chosen.words());
        }
        table.row("penalty", self.penalty_words());
        if report.answers.len() > 1 {
            table.row("averaged", self.answer_words());
        }
        table.row("status", ending(report.status));
        let sweeps = format!(
            "{} over all needles and {} over the non-zeros",
            plural(report.discovery_sweeps, "sweep"),
            count(report.support_sweeps)
        );
        table.row("run", format!("{:.2} s, {sweeps}, {}", report.seconds, self.means()));
        if let Some(scores) = scores {
            table.row(
                "PSNR",
                format!(
                    "{:.2} dB (fit {:.2} dB, filled pixels {:.2} dB; peak {})",
                    scores.output,
                    scores.fit.psnr_db,
                    scores.holes,
                    number(self.white.peak(self.args.scoring.score.peak))
                ),
            );
            scores.ssim.map(|ssim| table.row("SSIM", format!("{ssim:.4}")));
        }
        table.row("output", format!("{}, {}", self.args.output.display(), self.depth));
        if let Some(page) = &self.args.page.report {
            table.row("report", page.display());
        }
        table.render()
    }

    fn facts(&self, scores: Option<&Scores>) -> Vec<Fact> {
        let report = &self.answer.report;
        let mut facts = vec![
            Fact::new("status", report.status, ""),
            Fact::new("missing", self.missing_words(), ""),
            Fact::new("penalty", number(report.penalty), self.penalty_words()),
            Fact::new("averaged", report.answers.len(), self.answer_words()),
            Fact::new("time", format!("{:.2} s", report.seconds), "without reading and writing"),
            Fact::new(
                "working memory",
                words(report.working_memory_bytes),
                "of the largest solver session",
            ),
            Fact::new(
                "engine",
                report.engine,
                format!("{}, {}", plural(report.threads, "thread"), report.precision),
            ),
        ];
        if let Some(scores) = scores {
            facts.push(Fact::new(
                "PSNR",
                format!("{:.2} dB", scores.output),
                "of the written image, against the reference",
            ));
            facts.push(Fact::new(
                "PSNR of the fit",
                format!("{:.2} dB", scores.fit.psnr_db),
                "before clipping and rounding, including known pixels",
            ));
            facts.push(Fact::new(
                "PSNR of the holes",
                format!("{:.2} dB", scores.holes),
                "filled pixels only",
            ));
            facts.extend(
                scores
                    .ssim
                    .map(|ssim| Fact::new("SSIM", format!("{ssim:.4}"), "of the written image")),
            );
        }
        facts
    }

    fn missing_words(&self) -> String {
        self.missing.words(self.signal.extent()).unwrap_or_else(|| "nothing".into())
    }

    fn penalty_words(&self) -> String {
        let penalty = number(self.answer.report.penalty);
        match self.params.penalty {
            Some(_) => format!("{penalty}, as given"),
            None => format!(
                "{penalty}, chosen with {}",
                plural(self.answer.report.held_out, "held-out sample")
            ),
        }
    }

    /// `natural 0.62 + natural, learnt 0.38`.
    fn answer_words(&self) -> String {
        let word = |a: &AnswerReport| {
            let learnt = if a.learnt { ", learnt" } else { "" };
            let variant =
                if a.variant > 0 { format!(", copy {}", a.variant) } else { String::new() };
            let Some(_) = a.dictionary else {
                return format!("{:.2} smooth interpolation", a.weight);
            };
            let window = if self.params.windows.len() > 1 {
                format!(", window {}", number(a.window))
            } else {
                String::new()
            };
            format!("{:.2} {}{learnt}{variant}{window}", a.weight, self.dictionary_name(a))
        };
        self.answer.report.answers.iter().map(word).collect::<Vec<_>>().join(" + ")
    }

    fn means(&self) -> String {
        let report = &self.answer.report;
        format!(
            "{}, {}, {}",
            plural(report.threads, "thread"),
            report.precision,
            words(report.working_memory_bytes)
        )
    }
}

fn point(point: &PathPoint) -> Value {
    json!({ "penalty": point.penalty, "held_out_error": point.held_out_error })
}

/// Describes how the run ended.
fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "done",
        other => summary::ending(other),
    }
}
