//! The learning task, and the output shared by all learning methods.

use crate::args::LearnArgs;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::output::table::{Table, count, plural};
use crate::output::{json, print};
use anyhow::Result;
use lobcod::{Dictionary, Real, Status};
use lobcod_io::{MetaValue, write_dictionary};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The options, and the initial dictionary.
pub struct Task<'a, T> {
    /// The options.
    pub args: &'a LearnArgs,
    /// The images, with folders expanded.
    pub images: Vec<PathBuf>,
    /// The initial dictionary.
    pub first: Chosen<T>,
}

impl<T: Real> Task<'_, T> {
    /// Writes the dictionary and how it was learnt; the file contains nothing that varies from run
    /// to run.
    pub fn save(
        &self,
        dictionary: &Dictionary<T>,
        penalty: Option<f64>,
        passes: usize,
        objective: f64,
    ) -> Result<()> {
        let (problem, seed) = (&self.args.problem, self.args.run.seed);
        let text = |text: &dyn ToString| MetaValue::Text(text.to_string());
        let mut remarks = vec![
            ("method", text(&self.args.learning.method_name())),
            ("init", text(&self.first.name)),
            ("images", MetaValue::Integer(self.images.len() as i64)),
            ("base", text(&problem.base)),
            ("border", text(&problem.border)),
            ("scale", MetaValue::Number(self.args.input.scale.value())),
            ("passes", MetaValue::Integer(passes as i64)),
            ("seed", i64::try_from(seed).map_or_else(|_| text(&seed), MetaValue::Integer)),
            ("objective", MetaValue::Number(objective)),
            ("version", text(&env!("CARGO_PKG_VERSION"))),
        ];
        remarks.extend(penalty.map(|penalty| ("penalty", MetaValue::Number(penalty))));
        Ok(write_dictionary(&self.args.output, dictionary, &remarks)?)
    }

    /// Prints the result on standard output, as text or JSON.
    pub fn print(
        &self,
        report: impl Fn() -> Map<String, Value>,
        summary: impl Fn() -> String,
    ) -> Result<()> {
        if self.args.console.json {
            return print(&format!("{:#}", Value::Object(report())));
        }
        if self.args.console.quiet { Ok(()) } else { print(&summary()) }
    }

    /// The report fields that do not depend on the learning method.
    pub fn json(&self, dictionary: &Dictionary<T>) -> Map<String, Value> {
        let mut fields = json::object(json!({
            "method": self.args.learning.method_name(),
            "normalised_atoms": self.first.normalised(),
            "dictionary": self.args.output.display().to_string(),
            "atoms": dictionary.len(),
            "atom_shape": dictionary.extent().axes(),
            "channels": dictionary.channels(),
            "init": self.first.name,
            "base": self.args.problem.base.to_string(),
            "border": self.args.problem.border.to_string(),
            "scale": self.args.input.scale.value(),
            "seed": self.args.run.seed,
        }));
        if self.args.checkpoints.resume.is_some() {
            fields.insert("resumed".into(), true.into());
        }
        if let Some(page) = &self.args.page.report {
            fields.insert("report".into(), page.display().to_string().into());
        }
        fields
    }

    /// Adds the rows about the input; `more` is appended to the images.
    pub fn begin(&self, table: &mut Table, more: &str) {
        table
            .row(plural(self.images.len(), "image"), self.images() + more)
            .row("initial atoms", self.first.words())
            .row(
                "base, border",
                format!("{}, {}", self.args.problem.base, self.args.problem.border),
            );
    }

    /// Adds the rows about the output files and how to resume.
    pub fn end(&self, table: &mut Table, status: Status) {
        table.row("dictionary", self.args.output.display());
        if let Some(page) = &self.args.page.report {
            table.row("report", page.display());
        }
        if let (Some(words), false) =
            (checkpoint::words(&self.args.checkpoints), status == Status::Converged)
        {
            let more = if status == Status::Completed { " and more --passes" } else { "" };
            table.row("checkpoint", words + more);
        }
    }

    /// Title of the HTML report.
    pub fn title(&self) -> String {
        format!("lobcod learn: {}", self.images())
    }

    fn images(&self) -> String {
        match &self.images[..] {
            [only] => only.display().to_string(),
            images => format!("{} and {} more", images[0].display(), count(images.len() - 1)),
        }
    }
}

/// Describes how learning ended.
pub fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "reached the target objective",
        Status::Stalled => "stalled: no further progress",
        Status::Completed => "completed all passes",
        Status::MaxSweeps => "stopped at the sweep limit",
        Status::TimeLimit => "stopped at the time limit",
        Status::Interrupted => "interrupted; this is the dictionary so far",
    }
}
