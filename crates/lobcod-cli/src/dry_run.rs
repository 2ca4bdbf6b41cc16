//! `--dry-run`: reports what would run, and the memory and time it needs.

use crate::args::ConsoleArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::output::table::{Table, number, plural};
use crate::output::{print, summary};
use crate::trial::Trial;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Extent, Penalty, PursuitParams, Real};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The work a command would do.
pub struct Plan<'a, T> {
    /// The images.
    pub images: &'a [PathBuf],
    /// Shape and number of channels of each image.
    pub shapes: &'a [(Extent, usize)],
    /// The label of the dictionary row, and the dictionary.
    pub dictionary: (&'a str, &'a Chosen<T>),
    /// The base layer.
    pub base: Base,
    /// The stopping criterion.
    pub until: String,
    /// The label of the output row, and the output file.
    pub output: (&'a str, Option<&'a Path>),
    /// Memory needed on top of what the process holds, in bytes.
    pub needed: u64,
    /// What the process holds, and the limit.
    pub budget: Budget,
    /// Number of bands, if the image would be encoded in bands.
    pub bands: Option<usize>,
    /// The estimated run time.
    pub trial: Trial,
}

/// The stopping criterion of an alternating method: a gap, or a number of alternations.
pub fn until(gap: &str, alternations: usize) -> String {
    if alternations == 0 {
        gap.into()
    } else {
        format!("{gap}, or {}", plural(alternations, "alternation"))
    }
}

impl<T: Real> Plan<'_, T> {
    /// Prints the plan for these parameters.
    pub fn print(&self, params: &PursuitParams, console: &ConsoleArgs) -> Result<()> {
        let (needed, limit, fits) =
            (self.budget.with(self.needed), self.budget.limit(), self.budget.fits(self.needed));
        let chosen = self.dictionary.1;
        let images = self.images.iter().zip(self.shapes);
        if console.json {
            let image = |(path, (extent, channels)): (&PathBuf, &(Extent, usize))| json!({ "file": path.display().to_string(), "shape": extent.axes(), "channels": channels, "pixels": extent.volume() });
            let mut plan = json!({
                "dry_run": true,
                "images": images.map(image).collect::<Vec<_>>(),
                "dictionary": chosen.name,
                "atoms": chosen.dictionary.len(),
                "atom_shape": chosen.dictionary.extent().axes(),
                "base": self.base.to_string(),
                "border": params.border.to_string(),
                "tolerance": params.tolerance,
                "precision": T::NAME,
                "working_memory_bytes": self.needed,
                "memory_bytes": needed,
                "estimated_seconds": self.trial.seconds,
                "max_memory_bytes": limit,
                "fits": fits,
            });
            if let Some(bands) = self.bands {
                plan["bands"] = bands.into();
            }
            return print(&format!("{plan:#}"));
        }
        let mut table = Table::default();
        for (i, (path, (extent, channels))) in images.enumerate() {
            let name = if i == 0 { plural(self.images.len(), "image") } else { String::new() };
            table.row(name, format!("{}, {}", path.display(), summary::shape(*extent, *channels)));
        }
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) => number(penalty),
            Penalty::Relative(share) => format!("{} of penalty_max", number(share)),
        };
        let memory = match limit {
            Some(limit) if !fits => {
                format!(
                    "about {}, more than the limit of {}: it would be refused",
                    words(needed),
                    words(limit)
                )
            }
            _ => {
                let bands = self
                    .bands
                    .map_or(String::new(), |bands| format!(", in {}", plural(bands, "band")));
                format!("about {}{bands}", words(needed))
            }
        };
        table
            .row(self.dictionary.0, chosen.words())
            .row("base, border", format!("{}, {}", self.base, params.border))
            .row("penalty", penalty)
            .row("stopping rule", &self.until)
            .row("memory", memory)
            .row("time", self.trial.words())
            .row(
                self.output.0,
                self.output.1.map_or("not saved".into(), |path| path.display().to_string()),
            )
            .row("", "dry run: nothing was done");
        print(&table.render())
    }
}
