//! Output of `learn`.

use super::details::Details;
use super::page;
use super::task::{Task, ending};
use crate::closeness::Closeness;
use crate::flow::Finished;
use crate::json;
use crate::output::table::{Table, count, number, plural};
use crate::output::{summary, warnings};
use crate::score::decibels;
use anyhow::Result;
use lobcod::learn::LearnPoint;
use lobcod::{Extent, Learnt, Real, Report, Status};
use std::path::{Path, PathBuf};

/// A learnt dictionary.
pub struct Results<'a, T> {
    /// The options, and the initial dictionary.
    pub task: Task<'a, T>,
    /// Size and number of channels of each image.
    pub shapes: Vec<(Extent, usize)>,
    /// Dictionary, codes and report.
    pub learnt: Learnt<T>,
    /// PSNR of the reconstructions.
    pub closeness: Closeness,
    /// The images.
    pub details: Details<T>,
    /// Whether the last checkpoint could be written.
    pub kept: lobcod_io::Result<()>,
}

impl<T: Real> Finished for Results<'_, T> {
    type Report = json::Learn;

    /// How learning ended; Ctrl-C may also have stopped the final pursuit.
    fn status(&self) -> Status {
        let report = &self.learnt.report;
        if report.pursuit.status == Status::Interrupted {
            Status::Interrupted
        } else {
            report.status
        }
    }

    fn save(&mut self) -> Result<()> {
        let report = &self.learnt.report;
        let Report { penalty, total, .. } = &report.pursuit;
        self.task.save(&self.learnt.dictionary, Some(*penalty), report.passes, total.objective)
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        page::write(self, path)
    }

    fn json(&self) -> json::Learn {
        let report = &self.learnt.report;
        let pursuit = &report.pursuit;
        let image = |(i, path): (usize, &PathBuf)| {
            let certificate = &pursuit.signals[i];
            json::EncodedImage {
                image: json::Image::new(path, self.shapes[i]),
                certificate: certificate.into(),
                output: None,
                missing: self.details.missing[i].json(),
                psnr_db: json::finite(self.closeness.psnr_db_of(i, certificate.data_term)),
                ssim: None,
            }
        };
        json::Learn {
            common: self.task.json(
                &self.learnt.dictionary,
                self.status(),
                report.passes,
                report.replaced_atoms,
            ),
            pursuit_status: pursuit.status.to_string(),
            certificate: (&pursuit.total).into(),
            pixels: pursuit.total.pixels,
            penalty: pursuit.penalty,
            sweeps: pursuit.into(),
            run: json::Run { seconds: report.seconds, ..pursuit.into() },
            merged_atoms: report.merged_atoms,
            psnr_db: json::finite(self.psnr_db()),
            history: report.history.iter().map(|p| self.point(p)).collect(),
            images: self.task.images.iter().enumerate().map(image).collect(),
        }
    }

    fn summary(&self) -> String {
        let report = &self.learnt.report;
        let total = &report.pursuit.total;
        let objective = match report.history.first() {
            Some(first) => format!(
                "{} after the first pass, {} at the end",
                number(first.objective),
                number(total.objective)
            ),
            None => format!(
                "{}; no pass was completed, so these are the initial atoms",
                number(total.objective)
            ),
        };
        let mut table = Table::default();
        let unit = if self.shapes[0].0.axes().len() == 1 { "samples" } else { "pixels" };
        self.task.begin(&mut table, &format!(", {} {unit}", count(total.pixels)));
        if let Some(missing) = self.details.missing[0].words(self.shapes[0].0) {
            table.row("missing", missing);
        }
        summary::penalty(&mut table, &report.pursuit);
        table.row("status", ending(self.status())).row("objective", objective);
        summary::certificate(&mut table, total);
        table
            .row(
                "PSNR",
                format!("{}, peak {}", decibels(self.psnr_db()), number(self.closeness.peak())),
            )
            .row("replaced", format!("{} (unused)", plural(report.replaced_atoms, "atom")))
            .row("merged", format!("{} (near-duplicates)", plural(report.merged_atoms, "atom")))
            .row(
                "run",
                format!(
                    "{:.2} s, {}, {}",
                    report.seconds,
                    plural(report.passes, "pass"),
                    summary::means(&report.pursuit)
                ),
            );
        self.task.end(&mut table, self.status());
        table.render()
    }

    fn warnings(&self) -> Vec<String> {
        warnings::of(&self.learnt.report.pursuit)
    }

    fn late_error(&mut self) -> Result<()> {
        Ok(std::mem::replace(&mut self.kept, Ok(()))?)
    }
}

impl<T: Real> Results<'_, T> {
    /// PSNR of the final reconstructions; an infinite PSNR (no error) becomes null in JSON.
    pub fn psnr_db(&self) -> f64 {
        self.closeness.psnr_db(self.learnt.report.pursuit.total.data_term)
    }

    fn point(&self, point: &LearnPoint) -> json::LearnPoint {
        json::LearnPoint {
            seconds: point.seconds,
            pass: point.pass,
            objective: point.objective,
            data_term: point.data_term,
            psnr_db: json::finite(self.closeness.psnr_db(point.data_term)),
            nonzeros: point.nonzeros,
            replaced_atoms: point.replaced_atoms,
            merged_atoms: point.merged_atoms,
        }
    }
}
