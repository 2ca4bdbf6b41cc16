//! `--dry-run`: reports what would run, and the memory and time it needs.

use crate::args::InpaintArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::missing;
use crate::output::table::{Table, number, plural};
use crate::output::{print, summary};
use crate::trial::Trial;
use anyhow::Result;
use lobcod::memory::words;
use lobcod::{Mask, Real, Signal};
use lobcod_tasks::inpaint::InpaintParams;
use serde_json::json;

/// The work that would be done.
pub struct Plan<'a, T> {
    /// The options.
    pub args: &'a InpaintArgs,
    /// The damaged image.
    pub signal: &'a Signal<T>,
    /// The mask of its known samples.
    pub known: &'a Mask<T>,
    /// The dictionaries.
    pub chosen: &'a [Chosen<T>],
    /// Memory needed on top of what the process holds, in bytes.
    pub needed: u64,
    /// What the process holds, and the limit.
    pub budget: Budget,
    /// The estimated run time.
    pub trial: Trial,
}

impl<T: Real> Plan<'_, T> {
    /// Prints the plan.
    pub fn print(&self, params: &InpaintParams) -> Result<()> {
        let (needed, fits) = (self.budget.with(self.needed), self.budget.fits(self.needed));
        let missing = missing::count(self.signal, self.known);
        if self.args.console.json {
            let plan = json!({
                "dry_run": true,
                "image": self.args.files.image.display().to_string(),
                "shape": self.signal.extent().axes(),
                "channels": self.signal.channels(),
                "missing_samples": missing,
                "dictionaries": self.chosen.iter().map(|c| c.name.clone()).collect::<Vec<_>>(),
                "learn": if params.learn { "image" } else { "none" },
                "variants": params.variants,
                "windows": params.windows,
                "density": params.density,
                "held_out": params.held_out,
                "working_memory_bytes": self.needed,
                "memory_bytes": needed,
                "estimated_seconds": self.trial.seconds,
                "max_memory_bytes": self.budget.limit(),
                "fits": fits,
            });
            return print(&format!("{plan:#}"));
        }
        let mut table = Table::default();
        table.row(
            "image",
            format!(
                "{}, {}",
                self.args.files.image.display(),
                summary::shape(self.signal.extent(), self.signal.channels())
            ),
        );
        table.row("missing", plural(missing, "sample"));
        for chosen in self.chosen {
            table.row("dictionary", chosen.words());
        }
        let windows = params.windows.iter().map(|w| number(*w)).collect::<Vec<_>>().join(", ");
        let learn = if params.learn { ", and learnt dictionaries" } else { "" };
        let copies = if params.variants == 1 {
            "1 copy".into()
        } else {
            format!("{} copies", params.variants)
        };
        table
            .row("averages", format!("{copies} of each dictionary, base windows {windows}{learn}"))
            .row("penalty", params.penalty.map_or("auto".into(), number))
            .row(
                "memory",
                format!(
                    "about {}{}",
                    words(needed),
                    if fits { "" } else { ": it would be refused" }
                ),
            )
            .row("time", self.trial.words())
            .row("output", self.args.output.display())
            .row("", "dry run: nothing was done");
        print(&table.render())
    }
}
