//! Output of `learn`.

use super::task::{Task, ending};
use crate::closeness::Closeness;
use crate::machine;
use crate::missing::Missing;
use crate::output::table::{Table, count, number, plural};
use crate::output::{json, summary};
use anyhow::Result;
use lobcod::learn::LearnPoint;
use lobcod::{Extent, Learnt, Real, Report, Status};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Everything to save and report.
pub struct Results<'a, T> {
    /// The options, and the initial dictionary.
    pub task: Task<'a, T>,
    /// Size and number of channels of each image.
    pub shapes: Vec<(Extent, usize)>,
    /// Dictionary, codes and report.
    pub learnt: Learnt<T>,
    /// PSNR of the reconstructions.
    pub closeness: Closeness,
    /// Missing samples of each image.
    pub missing: Vec<Missing>,
}

impl<T: Real> Results<'_, T> {
    /// How learning ended; Ctrl-C may also have stopped the final pursuit.
    pub fn status(&self) -> Status {
        let report = &self.learnt.report;
        if report.pursuit.status == Status::Interrupted {
            Status::Interrupted
        } else {
            report.status
        }
    }

    /// Writes the dictionary and how it was learnt.
    pub fn save(&self) -> Result<()> {
        let report = &self.learnt.report;
        let Report { penalty, total, .. } = &report.pursuit;
        self.task.save(&self.learnt.dictionary, Some(*penalty), report.passes, total.objective)
    }

    /// Prints the result on standard output, as text or JSON.
    pub fn print(&self) -> Result<()> {
        self.task.print(|| self.json(), || self.summary())
    }

    fn json(&self) -> Map<String, Value> {
        let report = &self.learnt.report;
        let mut fields = json::report(&report.pursuit, machine::peak_memory());
        let image = |(i, path): (usize, &PathBuf)| {
            let certificate = &report.pursuit.signals[i];
            let mut image = json::certificate(certificate);
            image.insert("file".into(), path.display().to_string().into());
            self.missing[i].add_to(&mut image);
            image.insert(
                "psnr_db".into(),
                json!(self.closeness.psnr_db_of(i, certificate.data_term)),
            );
            Value::Object(image)
        };
        fields.extend(self.task.json(&self.learnt.dictionary));
        fields.extend(json::object(json!({
            "status": self.status().to_string(),
            "pursuit_status": report.pursuit.status.to_string(),
            "seconds": report.seconds,
            "passes": report.passes,
            "history": report.history.iter().map(|p| self.point(p)).collect::<Vec<_>>(),
            "replaced_atoms": report.replaced_atoms,
            "merged_atoms": report.merged_atoms,
            "images": self.task.images.iter().enumerate().map(image).collect::<Vec<_>>(),
            "psnr_db": self.psnr_db(),
        })));
        fields
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
        self.task.begin(&mut table, &format!(", {} pixels", count(total.pixels)));
        if let Some(missing) = self.missing[0].words(self.shapes[0].0) {
            table.row("missing", missing);
        }
        summary::penalty(&mut table, &report.pursuit);
        table.row("status", ending(self.status())).row("objective", objective);
        summary::certificate(&mut table, total);
        table
            .row(
                "PSNR",
                format!("{:.2} dB, peak {}", self.psnr_db(), number(self.closeness.peak())),
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

    /// PSNR of the final reconstructions; an infinite PSNR (no error) becomes null in JSON.
    pub fn psnr_db(&self) -> f64 {
        self.closeness.psnr_db(self.learnt.report.pursuit.total.data_term)
    }

    fn point(&self, point: &LearnPoint) -> Value {
        json!({
            "seconds": point.seconds,
            "pass": point.pass,
            "objective": point.objective,
            "data_term": point.data_term,
            "psnr_db": self.closeness.psnr_db(point.data_term),
            "nonzeros": point.nonzeros,
            "replaced_atoms": point.replaced_atoms,
            "merged_atoms": point.merged_atoms,
        })
    }
}
