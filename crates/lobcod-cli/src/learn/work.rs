//! What learn saves and tells.

use super::closeness::Closeness;
use crate::args::LearnArgs;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::machine;
use crate::output::table::{Table, count, number, plural};
use crate::output::{json, summary, tell};
use anyhow::Result;
use lobcod::{Extent, LearnPoint, Learnt, Real, Status};
use lobcod_image::{MetaValue, write_dictionary};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Everything there is to save and tell.
pub struct Work<'a, T> {
    /// What was asked.
    pub args: &'a LearnArgs,
    /// The pictures, folders replaced by what is in them.
    pub images: Vec<PathBuf>,
    /// Size and channels of each.
    pub shapes: Vec<(Extent, usize)>,
    /// The dictionary that the learning started from.
    pub first: Chosen<T>,
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

    /// Writes the dictionary and how it was learnt, but nothing that varies from run to run.
    pub fn save(&self) -> Result<()> {
        let (report, problem, seed) = (&self.learnt.report, &self.args.problem, self.args.run.seed);
        let text = |text: &dyn ToString| MetaValue::Text(text.to_string());
        let remarks = [
            ("method", text(&self.args.learning.method.name())),
            ("init", text(&self.first.name)),
            ("images", MetaValue::Integer(self.images.len() as i64)),
            ("penalty", MetaValue::Number(report.pursuit.penalty)),
            ("base", text(&problem.base)),
            ("border", text(&problem.border)),
            ("scale", MetaValue::Number(self.args.picture.scale)),
            ("passes", MetaValue::Integer(report.passes as i64)),
            ("seed", i64::try_from(seed).map_or_else(|_| text(&seed), MetaValue::Integer)),
            ("objective", MetaValue::Number(report.pursuit.total.objective)),
            ("version", text(&env!("CARGO_PKG_VERSION"))),
        ];
        Ok(write_dictionary(&self.args.output, &self.learnt.dictionary, &remarks)?)
    }

    /// Tells the outcome on standard output, the way it was asked for.
    pub fn tell(&self) -> Result<()> {
        if self.args.telling.json {
            return tell(&format!("{:#}", Value::Object(self.json())));
        }
        if self.args.telling.quiet { Ok(()) } else { tell(&self.summary()) }
    }

    fn json(&self) -> Map<String, Value> {
        let (report, dictionary) = (&self.learnt.report, &self.learnt.dictionary);
        let mut fields = json::report(&report.pursuit, machine::peak_memory());
        let image = |(i, path): (usize, &PathBuf)| {
            let certificate = &report.pursuit.signals[i];
            let mut image = json::certificate(certificate);
            image.insert("file".into(), path.display().to_string().into());
            image.insert("psnr_db".into(), json!(self.closeness.psnr_db_of(i, certificate.data_term)));
            Value::Object(image)
        };
        fields.extend(json::object(json!({
            "status": self.status().to_string(),
            "pursuit_status": report.pursuit.status.to_string(),
            "seconds": report.seconds,
            "method": self.args.learning.method.name(),
            "passes": report.passes,
            "history": report.history.iter().map(|p| self.point(p)).collect::<Vec<_>>(),
            "replaced_atoms": report.replaced_atoms,
            "merged_atoms": report.merged_atoms,
            "normalised_atoms": self.first.normalised(),
            "dictionary": self.args.output.display().to_string(),
            "atoms": dictionary.len(),
            "atom_shape": dictionary.extent().axes(),
            "channels": dictionary.channels(),
            "init": self.first.name,
            "base": self.args.problem.base.to_string(),
            "border": self.args.problem.border.to_string(),
            "scale": self.args.picture.scale,
            "seed": self.args.run.seed,
            "images": self.images.iter().enumerate().map(image).collect::<Vec<_>>(),
            "psnr_db": self.psnr_db(),
        })));
        if self.args.checkpoints.resume.is_some() {
            fields.insert("resumed".into(), true.into());
        }
        if let Some(page) = &self.args.report {
            fields.insert("report".into(), page.display().to_string().into());
        }
        fields
    }

    fn summary(&self) -> String {
        let report = &self.learnt.report;
        let total = &report.pursuit.total;
        let pictures = match &self.images[..] {
            [only] => only.display().to_string(),
            images => format!("{} and {} more", images[0].display(), count(images.len() - 1)),
        };
        let objective = match report.history.first() {
            Some(first) => format!("{} after the first pass, {} at the end", number(first.objective), number(total.objective)),
            None => format!("{}; no pass came to its end, so these are the first atoms", number(total.objective)),
        };
        let mut table = Table::default();
        table
            .row(plural(self.images.len(), "picture"), format!("{pictures}, {} pixels", count(total.pixels)))
            .row("first atoms", self.first.words())
            .row("base, border", format!("{}, {}", self.args.problem.base, self.args.problem.border));
        summary::penalty(&mut table, &report.pursuit);
        table.row("status", ending(self.status())).row("objective", objective);
        summary::certificate(&mut table, total);
        table
            .row("PSNR", format!("{:.2} dB", self.psnr_db()))
            .row("replaced", format!("{} that nothing used", plural(report.replaced_atoms, "atom")))
            .row("merged", format!("{} into a near-duplicate", plural(report.merged_atoms, "atom")))
            .row("work", format!("{:.2} s, {}, {}", report.seconds, passes(report.passes), summary::means(&report.pursuit)))
            .row("dictionary", self.args.output.display());
        if let Some(page) = &self.args.report {
            table.row("report", page.display());
        }
        if let (Some(words), false) = (checkpoint::words(&self.args.checkpoints), self.status() == Status::Converged) {
            let more = if self.status() == Status::MaxSweeps { " and more --passes" } else { "" };
            table.row("checkpoint", words + more);
        }
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

/// `1 pass`, `2 passes`.
pub fn passes(n: usize) -> String {
    if n == 1 { plural(n, "pass") } else { format!("{} passes", count(n)) }
}

/// How the learning ended, in words.
pub fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "the target was reached",
        Status::Stalled => "stalled: nothing changes any more",
        Status::MaxSweeps => "all passes were done",
        Status::TimeLimit => "stopped at the time limit",
        Status::Interrupted => "interrupted; this is the dictionary so far",
    }
}
