//! `--dry-run`: what would run, and the memory and time it needs.

use crate::args::TellingArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::output::table::{Table, number, plural};
use crate::output::{summary, tell};
use crate::trial::Trial;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Extent, Penalty, PursuitParams, Real};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What would run.
pub struct Plan<'a, T> {
    /// The pictures.
    pub images: &'a [PathBuf],
    /// Shape and channels of each.
    pub shapes: &'a [(Extent, usize)],
    /// The dictionary, and what it serves as.
    pub dictionary: (&'a str, &'a Chosen<T>),
    /// Layer taken off.
    pub base: Base,
    /// What would end the work.
    pub until: String,
    /// What would be written, and where.
    pub output: (&'a str, Option<&'a Path>),
    /// Bytes that the work would take beside what the process holds.
    pub needed: u64,
    /// What it holds, and the limit.
    pub budget: Budget,
    /// Bands that the picture would be coded in, if it would.
    pub bands: Option<usize>,
    /// How long it would take.
    pub trial: Trial,
}

/// What ends a separation: a gap, or so many turns where there are some.
pub fn until(gap: &str, alternations: usize) -> String {
    if alternations == 0 { gap.into() } else { format!("{gap}, or {}", plural(alternations, "turn")) }
}

impl<T: Real> Plan<'_, T> {
    /// Tells the plan of work with these parameters.
    pub fn tell(&self, params: &PursuitParams, telling: &TellingArgs) -> Result<()> {
        let (needed, limit, fits) = (self.budget.with(self.needed), self.budget.limit(), self.budget.fits(self.needed));
        let chosen = self.dictionary.1;
        let pictures = self.images.iter().zip(self.shapes);
        if telling.json {
            let image = |(path, (extent, channels)): (&PathBuf, &(Extent, usize))| json!({ "file": path.display().to_string(), "shape": extent.axes(), "channels": channels, "pixels": extent.volume() });
            let mut plan = json!({
                "dry_run": true,
                "images": pictures.map(image).collect::<Vec<_>>(),
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
            return tell(&format!("{plan:#}"));
        }
        let mut table = Table::default();
        for (i, (path, (extent, channels))) in pictures.enumerate() {
            let name = if i == 0 { plural(self.images.len(), "picture") } else { String::new() };
            table.row(name, format!("{}, {}", path.display(), summary::shape(*extent, *channels)));
        }
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) => number(penalty),
            Penalty::Relative(share) => format!("{} of penalty_max", number(share)),
        };
        let memory = match limit {
            Some(limit) if !fits => {
                format!("about {}, which is more than the {} allowed: it would be refused", words(needed), words(limit))
            }
            _ => {
                let bands = self.bands.map_or(String::new(), |bands| format!(", in {}", plural(bands, "band")));
                format!("about {}{bands}", words(needed))
            }
        };
        table
            .row(self.dictionary.0, chosen.words())
            .row("base, border", format!("{}, {}", self.base, params.border))
            .row("penalty", penalty)
            .row("until", &self.until)
            .row("memory", memory)
            .row("time", self.trial.words())
            .row(self.output.0, self.output.1.map_or("not kept".into(), |path| path.display().to_string()))
            .row("", "nothing was done (--dry-run)");
        tell(&table.render())
    }
}
