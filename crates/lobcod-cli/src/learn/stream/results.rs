//! Output of `learn --stream`.

use crate::learn::task::{Task, ending};
use crate::machine;
use crate::output::json;
use crate::output::table::{Table, count, number, plural};
use crate::report::{Fact, StreamPage};
use anyhow::Result;
use lobcod::engine::Engine;
use lobcod::learn::LearnPoint;
use lobcod::{Real, Status, Stream};
use serde_json::{Map, Value, json};

/// Everything to save and report.
pub struct StreamWork<'a, T> {
    /// The options, and the initial dictionary.
    pub task: Task<'a, T>,
    /// Dictionary and history.
    pub stream: Stream<T>,
    /// How learning ended.
    pub status: Status,
    /// The resources of the run.
    pub engine: Box<dyn Engine<T>>,
}

impl<T: Real> StreamWork<'_, T> {
    /// Writes the dictionary and how it was learnt.
    pub fn save(&self) -> Result<()> {
        self.task.save(
            self.stream.dictionary(),
            self.stream.penalty(),
            self.passes(),
            self.sum(|point| point.objective),
        )
    }

    /// Prints the result on standard output, as text or JSON.
    pub fn print(&self) -> Result<()> {
        self.task.print(|| self.json(), || self.summary())
    }

    /// The HTML report.
    pub fn page(&self) -> StreamPage<'_, T> {
        let seen = plural(self.history().len(), "image");
        let unproved = "sum over images, each when last used; without a pursuit over the whole set there is no certified gap";
        let mut facts = vec![
            Fact::new("status", self.status, ""),
            Fact::new("passes", count(self.passes()), format!("{seen} in total")),
            Fact::new("objective", number(self.sum(|point| point.objective)), unproved),
            Fact::new("non-zeros", count(self.nonzeros()), "likewise"),
            Fact::new("replaced atoms", count(self.replaced()), "unused"),
            Fact::new(
                "time",
                format!("{:.2} s", self.seconds()),
                "learning only, without reading and writing",
            ),
            Fact::new("engine", self.engine.name(), self.means()),
            Fact::new("initial atoms", &self.task.first.name, ""),
            Fact::new("base", self.task.args.problem.base, "the layer subtracted before learning"),
        ];
        facts
            .extend(self.stream.penalty().map(|penalty| Fact::new("penalty", number(penalty), "")));
        StreamPage {
            title: self.task.title(),
            status: (self.status, ending(self.status)),
            first: &self.task.first.dictionary,
            dictionary: self.stream.dictionary(),
            images: self
                .history()
                .iter()
                .enumerate()
                .map(|(i, point)| (self.file(i), *point))
                .collect(),
            facts,
        }
    }

    fn json(&self) -> Map<String, Value> {
        let mut fields = self.task.json(self.stream.dictionary());
        let point = |(i, point): (usize, &LearnPoint)| {
            json!({
                "seconds": point.seconds,
                "pass": i / self.task.images.len() + 1,
                "file": self.file(i),
                "objective": point.objective,
                "data_term": point.data_term,
                "nonzeros": point.nonzeros,
                "replaced_atoms": point.replaced_atoms,
            })
        };
        fields.extend(json::object(json!({
            "status": self.status.to_string(),
            "passes": self.passes(),
            "objective": self.sum(|point| point.objective),
            "data_term": self.sum(|point| point.data_term),
            "nonzeros": self.nonzeros(),
            "gap": null,
            "relative_gap": null,
            "penalty": self.stream.penalty(),
            "seconds": self.seconds(),
            "peak_memory_bytes": machine::peak_memory(),
            "threads": self.engine.threads(),
            "engine": self.engine.name(),
            "precision": T::NAME,
            "history": self.history().iter().enumerate().map(point).collect::<Vec<_>>(),
            "replaced_atoms": self.replaced(),
            "images": self.task.images.iter().map(|path| json!({ "file": path.display().to_string() })).collect::<Vec<_>>(),
        })));
        fields
    }

    fn summary(&self) -> String {
        let mut table = Table::default();
        self.task.begin(&mut table, ", one at a time");
        if let Some(penalty) = self.stream.penalty() {
            table.row("penalty", number(penalty));
        }
        let seen = plural(self.history().len(), "image");
        let objective = match self.last_points().len() {
            0 => "none: no image was processed, so these are the initial atoms".into(),
            n => format!(
                "{}, summed over the last {}",
                number(self.sum(|point| point.objective)),
                plural(n, "image")
            ),
        };
        table
            .row("status", ending(self.status))
            .row("objective", objective)
            .row("replaced", format!("{} (unused)", plural(self.replaced(), "atom")))
            .row(
                "run",
                format!(
                    "{:.2} s, {}, {seen} in total, {}",
                    self.seconds(),
                    plural(self.passes(), "pass"),
                    self.means()
                ),
            );
        self.task.end(&mut table, self.status);
        table.render()
    }

    fn history(&self) -> &[LearnPoint] {
        self.stream.history()
    }

    /// Number of completed passes.
    fn passes(&self) -> usize {
        self.history().len() / self.task.images.len()
    }

    /// The last history point of each image processed so far.
    fn last_points(&self) -> &[LearnPoint] {
        let history = self.history();
        &history[history.len().saturating_sub(self.task.images.len())..]
    }

    fn sum(&self, value: impl Fn(&LearnPoint) -> f64) -> f64 {
        self.last_points().iter().map(value).sum()
    }

    fn nonzeros(&self) -> usize {
        self.last_points().iter().map(|point| point.nonzeros).sum()
    }

    fn replaced(&self) -> usize {
        self.history().iter().map(|point| point.replaced_atoms).sum()
    }

    fn seconds(&self) -> f64 {
        self.history().last().map_or(0.0, |point| point.seconds)
    }

    fn means(&self) -> String {
        format!("{}, {}", plural(self.engine.threads(), "thread"), T::NAME)
    }

    /// The image of point `i` of the history.
    fn file(&self, i: usize) -> String {
        self.task.images[i % self.task.images.len()].display().to_string()
    }
}
