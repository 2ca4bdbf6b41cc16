//! Output of `learn --stream`.

use crate::flow::Finished;
use crate::json;
use crate::learn::task::{Task, ending};
use crate::machine;
use crate::output::table::{Table, count, number, plural};
use crate::report::{Fact, StreamPage};
use anyhow::Result;
use lobcod::engine::Engine;
use lobcod::learn::LearnPoint;
use lobcod::{Real, Status, Stream};
use std::path::{Path, PathBuf};

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
    /// Whether the last checkpoint could be written.
    pub kept: lobcod_io::Result<()>,
}

impl<T: Real> Finished for StreamWork<'_, T> {
    type Report = json::Stream;

    fn status(&self) -> Status {
        self.status
    }

    fn save(&mut self) -> Result<()> {
        self.task.save(
            self.stream.dictionary(),
            self.stream.penalty(),
            self.passes(),
            self.sum(|point| point.objective),
        )
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        self.page().write(path)
    }

    fn json(&self) -> json::Stream {
        let point = |(i, point): (usize, &LearnPoint)| json::StreamPoint {
            seconds: point.seconds,
            pass: i / self.task.images.len() + 1,
            file: self.file(i),
            objective: point.objective,
            data_term: point.data_term,
            nonzeros: point.nonzeros,
            replaced_atoms: point.replaced_atoms,
        };
        let image = |path: &PathBuf| json::StreamImage { file: json::file(path) };
        json::Stream {
            common: self.task.json(
                self.stream.dictionary(),
                self.status,
                self.passes(),
                self.replaced(),
            ),
            objective: self.sum(|point| point.objective),
            data_term: self.sum(|point| point.data_term),
            nonzeros: self.nonzeros(),
            gap: None,
            relative_gap: None,
            penalty: self.stream.penalty(),
            run: json::Run {
                seconds: self.seconds(),
                working_memory_bytes: None,
                peak_memory_bytes: machine::peak_memory(),
                threads: self.engine.threads(),
                engine: self.engine.name().to_string(),
                precision: T::NAME,
                warnings: Vec::new(),
            },
            history: self.history().iter().enumerate().map(point).collect(),
            images: self.task.images.iter().map(image).collect(),
        }
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

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn late_error(&mut self) -> Result<()> {
        Ok(std::mem::replace(&mut self.kept, Ok(()))?)
    }
}

impl<T: Real> StreamWork<'_, T> {
    /// The HTML report.
    fn page(&self) -> StreamPage<'_, T> {
        let seen = plural(self.history().len(), "image");
        let unproved = "sum over images, each when last used; without a pursuit over the whole \
                        set there is no certified gap";
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
