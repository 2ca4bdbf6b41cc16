//! The learning task, and the output shared by all learning methods.

use crate::args::LearnArgs;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::json;
use crate::output::table::{Table, count, plural};
use anyhow::Result;
use lobcod::{Dictionary, Real, Status};
use lobcod_io::{MetaValue, write_dictionary};
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
            ("model", text(&self.args.model_words().join(", "))),
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

    /// The report fields that do not depend on the learning method.
    pub fn json(
        &self,
        dictionary: &Dictionary<T>,
        status: Status,
        passes: usize,
        replaced_atoms: usize,
    ) -> json::LearnCommon {
        let args = self.args;
        json::LearnCommon {
            status: status.to_string(),
            method: args.learning.method_name(),
            passes,
            dictionary: json::file(&args.output),
            output: json::file(&args.output),
            atoms: dictionary.len(),
            atom_shape: dictionary.extent().axes().to_vec(),
            channels: dictionary.channels(),
            init: self.first.name.clone(),
            normalised_atoms: self.first.normalised(),
            replaced_atoms,
            base: args.problem.base.to_string(),
            border: args.problem.border.to_string(),
            model: args.model_words(),
            scale: args.input.scale.value(),
            seed: args.run.seed,
            report: json::optional_file(&args.page.report),
            resumed: args.checkpoints.resume.is_some().then_some(true),
        }
    }

    /// Adds the rows about the input; `more` is appended to the images.
    pub fn begin(&self, table: &mut Table, more: &str) {
        table
            .row(plural(self.images.len(), "image"), self.images() + more)
            .row("initial atoms", self.first.words())
            .row("model", self.model())
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

    fn model(&self) -> String {
        match self.args.model_words() {
            words if words.is_empty() => "atoms of unit norm".into(),
            words => words.join(", "),
        }
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
