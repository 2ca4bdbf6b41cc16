//! What learn saves and tells.

use crate::args::LearnArgs;
use crate::dictionary::Chosen;
use crate::machine;
use crate::output::table::{Table, count, number, plural};
use crate::output::{json, summary, tell};
use anyhow::Result;
use lobcod::{LearnPoint, Learnt, Real, Status};
use lobcod_image::{MetaValue, write_dictionary};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The way to learn that this build has.
const METHOD: &str = "atomwise";

/// Everything there is to save and tell.
pub struct Work<'a, T> {
    /// What was asked.
    pub args: &'a LearnArgs,
    /// The pictures, folders replaced by what is in them.
    pub images: Vec<PathBuf>,
    /// The dictionary that the learning started from.
    pub first: Chosen<T>,
    /// Dictionary, codes and report.
    pub learnt: Learnt<T>,
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
            ("method", text(&METHOD)),
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
        let image = |(path, certificate): (&PathBuf, &_)| {
            let mut image = json::certificate(certificate);
            image.insert("file".into(), path.display().to_string().into());
            Value::Object(image)
        };
        fields.extend(json::object(json!({
            "status": self.status().to_string(),
            "pursuit_status": report.pursuit.status.to_string(),
            "seconds": report.seconds,
            "method": METHOD,
            "passes": report.passes,
            "history": report.history.iter().map(point).collect::<Vec<_>>(),
            "replaced_atoms": report.replaced_atoms,
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
            "images": self.images.iter().zip(&report.pursuit.signals).map(image).collect::<Vec<_>>(),
        })));
        fields
    }

    fn summary(&self) -> String {
        let report = &self.learnt.report;
        let total = &report.pursuit.total;
        let pictures = match &self.images[..] {
            [only] => only.display().to_string(),
            images => format!("{} and {} more", images[0].display(), count(images.len() - 1)),
        };
        let before = report.history.first().map_or(f64::NAN, |point| point.objective);
        let mut table = Table::default();
        table
            .row(plural(self.images.len(), "picture"), format!("{pictures}, {} pixels", count(total.pixels)))
            .row("first atoms", self.first.words())
            .row("base, border", format!("{}, {}", self.args.problem.base, self.args.problem.border));
        summary::penalty(&mut table, &report.pursuit);
        table
            .row("status", ending(self.status()))
            .row("objective", format!("{} after the first pass, {} at the end", number(before), number(total.objective)));
        summary::certificate(&mut table, total);
        table
            .row("replaced", format!("{} that nothing used", plural(report.replaced_atoms, "atom")))
            .row("work", format!("{:.2} s, {}, {}", report.seconds, passes(report.passes), summary::means(&report.pursuit)))
            .row("dictionary", self.args.output.display());
        table.render()
    }
}

/// `1 pass`, `2 passes`.
pub fn passes(n: usize) -> String {
    if n == 1 { plural(n, "pass") } else { format!("{} passes", count(n)) }
}

/// How the learning ended, in words.
fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "the target was reached",
        Status::Stalled => "stalled: nothing changes any more",
        Status::MaxSweeps => "all passes were done",
        Status::TimeLimit => "stopped at the time limit",
        Status::Interrupted => "interrupted; this is the dictionary so far",
    }
}

fn point(point: &LearnPoint) -> Value {
    json!({
        "seconds": point.seconds,
        "pass": point.pass,
        "objective": point.objective,
        "nonzeros": point.nonzeros,
        "replaced_atoms": point.replaced_atoms,
    })
}
