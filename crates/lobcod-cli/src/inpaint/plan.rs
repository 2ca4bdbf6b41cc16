//! `--dry-run`: what would run, and the memory and time it needs.

use super::work::missing;
use crate::args::InpaintArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::output::table::{Table, number, plural};
use crate::output::{summary, tell};
use crate::trial::Trial;
use anyhow::Result;
use lobcod::memory::words;
use lobcod::tasks::inpaint::InpaintParams;
use lobcod::{Mask, Real, Signal};
use serde_json::json;

/// What would run.
pub struct Plan<'a, T> {
    /// What was asked.
    pub args: &'a InpaintArgs,
    /// The damaged picture.
    pub signal: &'a Signal<T>,
    /// What is known of it.
    pub known: &'a Mask<T>,
    /// The dictionaries.
    pub chosen: &'a [Chosen<T>],
    /// Bytes that the work would take beside what the process holds.
    pub needed: u64,
    /// What it holds, and the limit.
    pub budget: Budget,
    /// How long it would take.
    pub trial: Trial,
}

impl<T: Real> Plan<'_, T> {
    /// Tells the plan.
    pub fn tell(&self, params: &InpaintParams) -> Result<()> {
        let (needed, fits) = (self.budget.with(self.needed), self.budget.fits(self.needed));
        let missing = missing(self.signal, self.known);
        if self.args.telling.json {
            let plan = json!({
                "dry_run": true,
                "image": self.args.image.display().to_string(),
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
            return tell(&format!("{plan:#}"));
        }
        let mut table = Table::default();
        table.row(
            "picture",
            format!("{}, {}", self.args.image.display(), summary::shape(self.signal.extent(), self.signal.channels())),
        );
        table.row("missing", plural(missing, "sample"));
        for chosen in self.chosen {
            table.row("dictionary", chosen.words());
        }
        let windows = params.windows.iter().map(|w| number(*w)).collect::<Vec<_>>().join(", ");
        let learn = if params.learn { ", learnt ones besides" } else { "" };
        let copies = if params.variants == 1 { "1 copy".into() } else { format!("{} copies", params.variants) };
        table
            .row("answers", format!("{copies} of every dictionary, base windows {windows}{learn}"))
            .row("penalty", params.penalty.map_or("auto".into(), number))
            .row("memory", format!("about {}{}", words(needed), if fits { "" } else { ": it would be refused" }))
            .row("time", self.trial.words())
            .row("output", self.args.output.display())
            .row("", "nothing was done (--dry-run)");
        tell(&table.render())
    }
}
