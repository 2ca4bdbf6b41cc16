//! What learn saves and tells.

use super::closeness::Closeness;
use super::task::{Task, ending};
use crate::machine;
use crate::output::table::{Table, count, number, plural};
use crate::output::{json, summary};
use anyhow::Result;
use lobcod::{Extent, LearnPoint, Learnt, Real, Report, Status};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Everything there is to save and tell.
pub struct Work<'a, T> {
    /// What was asked, and what the learning started from.
    pub task: Task<'a, T>,
    /// Size and channels of every picture.
    pub shapes: Vec<(Extent, usize)>,
    /// Dictionary, codes and report.
    pub learnt: Learnt<T>,
    /// How close the reconstructions are.
    pub closeness: Closeness,
}

impl<T: Real> Work<'_, T> {
    /// How the learning ended; Ctrl-C may also have come in the pursuit after it.
    pub fn status(&self) -> Status {
        let report = &self.learnt.report;
        if report.pursuit.status == Status::Interrupted { Status::Interrupted } else { report.status }
    }

    /// Writes the dictionary and how it was learnt.
    pub fn save(&self) -> Result<()> {
        let report = &self.learnt.report;
        let Report { penalty, total, .. } = &report.pursuit;
        self.task.save(&self.learnt.dictionary, Some(*penalty), report.passes, total.objective)
    }

    /// Tells the outcome on standard output, the way it was asked for.
    pub fn tell(&self) -> Result<()> {
        self.task.tell(|| self.json(), || self.summary())
    }

    fn json(&self) -> Map<String, Value> {
        let report = &self.learnt.report;
        let mut fields = json::report(&report.pursuit, machine::peak_memory());
        let image = |(i, path): (usize, &PathBuf)| {
            let certificate = &report.pursuit.signals[i];
            let mut image = json::certificate(certificate);
            image.insert("file".into(), path.display().to_string().into());
            image.insert("psnr_db".into(), json!(self.closeness.psnr_db_of(i, certificate.data_term)));
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
            Some(first) => format!("{} after the first pass, {} at the end", number(first.objective), number(total.objective)),
            None => format!("{}; no pass came to its end, so these are the first atoms", number(total.objective)),
        };
        let mut table = Table::default();
        self.task.begin(&mut table, &format!(", {} pixels", count(total.pixels)));
        summary::penalty(&mut table, &report.pursuit);
        table.row("status", ending(self.status())).row("objective", objective);
        summary::certificate(&mut table, total);
        table
            .row("PSNR", format!("{:.2} dB", self.psnr_db()))
            .row("replaced", format!("{} that nothing used", plural(report.replaced_atoms, "atom")))
            .row("merged", format!("{} into a near-duplicate", plural(report.merged_atoms, "atom")))
            .row(
                "work",
                format!("{:.2} s, {}, {}", report.seconds, plural(report.passes, "pass"), summary::means(&report.pursuit)),
            );
        self.task.end(&mut table, self.status());
        table.render()
    }

    /// PSNR of the reconstructions at the end; an infinite one (no error) becomes null in JSON.
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
