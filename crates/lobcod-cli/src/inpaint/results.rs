//! Output of `inpaint`.

use super::Filling;
use crate::flow::Finished;
use crate::input::read_options;
use crate::json;
use crate::machine;
use crate::missing;
use crate::output::summary;
use crate::output::table::{Table, count, number, plural};
use crate::report::{Fact, FilledPage};
use crate::score::Score;
use anyhow::Result;
use lobcod::memory::words;
use lobcod::{Real, Signal, Status};
use lobcod_io::{Depth, WriteOptions, read_image, write_image};
use lobcod_tasks::inpaint::{AnswerReport, InpaintReport, Inpainted, PathPoint};
use lobcod_tasks::metrics;
use std::path::Path;

/// A filled image.
pub struct Results<'a, T> {
    /// The damaged image.
    pub(super) job: Filling<'a, T>,
    /// The filled image and the report.
    pub(super) answer: Inpainted<T>,
    /// Sample type of the output.
    pub(super) depth: Depth,
    /// Scores, if there is a reference.
    pub(super) scores: Option<Scores>,
}

/// Scores against the reference.
pub struct Scores {
    /// Of the fit, including known pixels.
    fit: Score,
    /// Of the written file.
    output: f64,
    /// Of the filled pixels of the written file only; `None` if there are none.
    holes: Option<f64>,
    /// Of the written file.
    ssim: Option<f64>,
}

impl<T: Real> Finished for Results<'_, T> {
    type Report = json::Inpaint;

    fn status(&self) -> Status {
        self.answer.report.status
    }

    fn save(&mut self) -> Result<()> {
        let Filling { args, image, white, references, .. } = &self.job;
        let options = WriteOptions {
            axes: image.axes,
            depth: self.depth,
            scale: white.value,
            sample_rate: image.sample_rate,
            metadata: image.metadata.clone(),
        };
        if self.depth == Depth::F64 && T::NAME != "f64" && !args.refit_known {
            write_image(&args.output, &self.with_known_samples(self.written())?, &options)?;
        } else {
            write_image(&args.output, self.written(), &options)?;
        }
        let truth = references.truth(0);
        let scored_without_peak = truth.is_some() && args.scoring.score.peak.is_none();
        white.warn(&args.files.image, scored_without_peak, Some(&args.output));
        self.scores = truth.map(|(truth, peak)| self.scores(truth, peak)).transpose()?;
        Ok(())
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        let Filling { args, image, known, white, references, .. } = &self.job;
        let page = FilledPage {
            name: json::file(&args.files.image),
            damaged: &image.signal,
            known,
            filled: self.written(),
            truth: references.truth(0).map(|(truth, _)| truth),
            white: matches!(self.depth, Depth::U8 | Depth::U16).then_some(white.value),
            report: &self.answer.report,
            copied: self.answer.copied.as_deref(),
            facts: self.facts(),
        };
        page.write(path)
    }

    fn json(&self) -> json::Inpaint {
        let Filling { args, image, inpaint, missing, chosen, .. } = &self.job;
        let report = &self.answer.report;
        json::Inpaint {
            status: report.status.to_string(),
            pixels: image.signal.extent().volume(),
            missing_samples: missing::count(&image.signal, &self.job.known),
            missing: missing.json(),
            copied_pixels: self.copied_pixels(),
            held_out_samples: report.held_out,
            penalty: report.penalty,
            penalty_path: path_json(&report.path),
            answers: report.answers.iter().map(|a| self.answer_json(a)).collect(),
            nonzeros: report.answers.iter().map(|a| a.nonzeros).sum(),
            sweeps: json::Sweeps {
                discovery_sweeps: report.discovery_sweeps,
                support_sweeps: report.support_sweeps,
            },
            run: json::Run {
                seconds: report.seconds,
                working_memory_bytes: Some(report.working_memory_bytes),
                peak_memory_bytes: machine::peak_memory(),
                threads: report.threads,
                engine: report.engine.to_string(),
                precision: report.precision,
                warnings: missing.warnings.iter().cloned().chain(self.warnings()).collect(),
            },
            dictionary: chosen[0].name.clone(),
            dictionaries: chosen.iter().map(|c| c.name.clone()).collect(),
            learn: if inpaint.params().learn { "image" } else { "none" },
            refit_known: args.refit_known,
            scale: args.input.scale.value(),
            depth: self.depth.to_string(),
            output: json::file(&args.output),
            report: json::optional_file(&args.page.report),
            scores: self.scores.as_ref().map(|scores| json::TaskScores {
                psnr_output_db: json::finite(scores.output),
                psnr_holes_db: scores.holes.and_then(json::finite),
                ssim: scores.ssim,
                ..json::TaskScores::new(self.peak(), &scores.fit)
            }),
            images: vec![json::Image::new(
                &args.files.image,
                (image.signal.extent(), image.signal.channels()),
            )],
        }
    }

    fn summary(&self) -> String {
        let Filling { args, image, chosen, .. } = &self.job;
        let report = &self.answer.report;
        let mut table = Table::default();
        let shape = summary::shape(image.signal.extent(), image.signal.channels());
        table
            .row("image", format!("{}, {shape}", args.files.image.display()))
            .row("missing", self.missing_words());
        if self.copied_pixels() > 0 {
            let copied = plural(self.copied_pixels(), "pixel");
            table.row("copied", format!("{copied} of wide holes (--fill model copies nothing)"));
        }
        if self.is_coded() {
            for chosen in chosen {
                table.row("dictionary", chosen.words());
            }
            table.row("penalty", self.penalty_words());
        }
        if report.answers.len() > 1 {
            table.row("averaged", self.answer_words());
        }
        table.row("status", ending(report.status));
        let sweeps = format!(
            "{} over all needles and {} over the non-zeros, ",
            plural(report.discovery_sweeps, "sweep"),
            count(report.support_sweeps)
        );
        let sweeps = if self.is_coded() { sweeps } else { String::new() };
        table.row("run", format!("{:.2} s, {sweeps}{}", report.seconds, self.means()));
        if let Some(scores) = &self.scores {
            table.row(
                "PSNR",
                format!(
                    "{:.2} dB (fit {:.2} dB{}; peak {})",
                    scores.output,
                    scores.fit.psnr_db,
                    scores.holes.map_or(String::new(), |x| format!(", filled pixels {x:.2} dB")),
                    number(self.peak())
                ),
            );
            scores.ssim.map(|ssim| table.row("SSIM", format!("{ssim:.4}")));
        }
        table.row("output", format!("{}, {}", args.output.display(), self.depth));
        if let Some(page) = &args.page.report {
            table.row("report", page.display());
        }
        table.render()
    }

    fn warnings(&self) -> Vec<String> {
        let InpaintReport { answers, status, .. } = &self.answer.report;
        let mut warnings = Vec::new();
        if answers.is_empty() {
            warnings.push(
                "no pixel is missing, so the image is written unchanged; mark holes with --holes \
                 or --known"
                    .into(),
            );
        } else if self.job.inpaint.params().penalty.is_some()
            && *status == Status::Converged
            && answers.iter().all(|a| a.nonzeros == 0)
        {
            warnings.push(
                "all codes are zero at this penalty, so the holes are filled smoothly; use a \
                 smaller --penalty, or auto"
                    .into(),
            );
        }
        warnings
    }
}

impl<T: Real> Results<'_, T> {
    /// The image that is written.
    fn written(&self) -> &Signal<T> {
        if self.job.args.refit_known { &self.answer.fit } else { &self.answer.image }
    }

    /// Number of pixels copied from elsewhere in the image.
    fn copied_pixels(&self) -> usize {
        self.answer.copied.iter().flatten().filter(|&&copied| copied).count()
    }

    /// Whether there are codes: not if nothing was missing or groups of similar patches sufficed.
    fn is_coded(&self) -> bool {
        let answers = &self.answer.report.answers;
        answers.is_empty() || answers.iter().any(|answer| answer.dictionary.is_some())
    }

    /// Peak value of the scores.
    fn peak(&self) -> f64 {
        self.job.white.peak(self.job.args.scoring.score.peak)
    }

    /// The filled image with the known samples exactly as in the file, in double precision.
    fn with_known_samples(&self, filled: &Signal<T>) -> Result<Signal<f64>> {
        let mut options = read_options(&self.job.args.input, &self.job.args.run);
        options.axes.get_or_insert(self.job.image.axes);
        let mut exact = read_image::<f64>(&self.job.args.files.image, &options)?.signal;
        let weights = (0..exact.channels()).flat_map(|c| self.job.known.channel(c));
        for ((sample, fill), weight) in exact.data_mut().iter_mut().zip(filled.data()).zip(weights)
        {
            if *weight == T::ZERO {
                *sample = fill.to_f64();
            }
        }
        Ok(exact)
    }

    fn scores(&self, truth: &Signal<T>, peak: f64) -> Result<Scores> {
        let mut options = read_options(&self.job.args.input, &self.job.args.run);
        options.axes = Some(self.job.image.axes);
        let written = read_image::<T>(&self.job.args.output, &options)?.signal;
        let (mut error, mut filled) = (0.0, 0usize);
        for c in 0..truth.channels() {
            let samples =
                truth.channel(c).iter().zip(written.channel(c)).zip(self.job.known.channel(c));
            for ((a, b), _) in samples.filter(|(_, w)| **w == T::ZERO) {
                error += (a.to_f64() - b.to_f64()).powi(2);
                filled += 1;
            }
        }
        Ok(Scores {
            fit: Score::of(&self.answer.fit, truth, peak)?,
            output: metrics::psnr(&written, truth, peak)?,
            holes: (filled > 0).then(|| 20.0 * (peak * (filled as f64 / error).sqrt()).log10()),
            ssim: metrics::ssim(&written, truth, peak).ok(),
        })
    }

    fn answer_json(&self, answer: &AnswerReport) -> json::AveragedAnswer {
        json::AveragedAnswer {
            dictionary: self.dictionary_name(answer).into(),
            learnt: answer.learnt,
            variant: answer.variant,
            window: answer.window,
            trust: answer.trust,
            weight: answer.weight,
            penalty: answer.penalty,
            nonzeros: answer.nonzeros,
            penalty_path: path_json(&answer.path),
        }
    }

    fn dictionary_name(&self, answer: &AnswerReport) -> &str {
        answer.dictionary.map_or("none", |number| self.job.chosen[number].name.as_str())
    }

    fn facts(&self) -> Vec<Fact> {
        let report = &self.answer.report;
        let mut facts = vec![
            Fact::new("status", report.status, ""),
            Fact::new("missing", self.missing_words(), ""),
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
        if self.is_coded() {
            facts.insert(2, Fact::new("penalty", number(report.penalty), self.penalty_words()));
        }
        if let Some(scores) = &self.scores {
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
            facts.extend(scores.holes.map(|psnr| {
                Fact::new("PSNR of the holes", format!("{psnr:.2} dB"), "filled pixels only")
            }));
            facts.extend(
                scores
                    .ssim
                    .map(|ssim| Fact::new("SSIM", format!("{ssim:.4}"), "of the written image")),
            );
        }
        facts
    }

    fn missing_words(&self) -> String {
        self.job.missing.words(self.job.image.signal.extent()).unwrap_or_else(|| "nothing".into())
    }

    fn penalty_words(&self) -> String {
        let penalty = number(self.answer.report.penalty);
        match self.job.inpaint.params().penalty {
            Some(_) => format!("{penalty}, as given"),
            None if self.answer.report.held_out == 0 => penalty,
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
                let name = if a.groups { "similar patches" } else { "smooth interpolation" };
                return format!("{:.2} {name}", a.weight);
            };
            let window = if self.job.inpaint.params().windows.len() > 1 {
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

fn path_json(path: &[PathPoint]) -> Vec<json::PathPoint> {
    let point = |point: &PathPoint| json::PathPoint {
        penalty: point.penalty,
        held_out_error: point.held_out_error,
    };
    path.iter().map(point).collect()
}

/// Describes how the run ended.
fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "done",
        other => summary::ending(other),
    }
}
