//! `--dry-run`: prints what would run, and the memory and time it needs.

use crate::args::ConsoleArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::json;
use crate::output::table::{Table, number, plural};
use crate::output::{print, summary};
use crate::trial::Trial;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Extent, Penalty, PursuitParams, Real};
use std::path::{Path, PathBuf};

/// The work a command would do.
pub struct Plan {
    images: Vec<(PathBuf, (Extent, usize))>,
    dictionary_label: &'static str,
    dictionaries: Vec<Planned>,
    precision: &'static str,
    /// The label of the output row, and the output file.
    pub output: (&'static str, Option<PathBuf>),
    /// What depends on the command: rows of the table, and fields of the JSON report.
    pub rows: Vec<(&'static str, String)>,
    /// Fields of the JSON report that depend on the command.
    pub settings: json::Settings,
    /// Memory needed on top of what the process holds, in bytes.
    pub needed: u64,
    /// What the process holds, and the limit.
    pub budget: Budget,
    /// Number of bands, if the image would be encoded in bands.
    pub bands: Option<usize>,
    /// The estimated run time.
    pub trial: Trial,
}

/// A dictionary that would be used.
struct Planned {
    name: String,
    words: String,
    atoms: usize,
    shape: Vec<usize>,
}

/// What is to be done, before its needs are known.
pub struct Work<'a, T> {
    /// The images.
    pub images: &'a [PathBuf],
    /// Size and number of channels of each image.
    pub shapes: &'a [(Extent, usize)],
    /// The label of the rows of the dictionaries, and the dictionaries.
    pub dictionaries: (&'static str, &'a [Chosen<T>]),
    /// The label of the output row, and the output file.
    pub output: (&'static str, Option<&'a Path>),
    /// Memory needed on top of what the process holds, in bytes.
    pub needed: u64,
    /// What the process holds, and the limit.
    pub budget: Budget,
    /// The estimated run time.
    pub trial: Trial,
}

impl<T: Real> Work<'_, T> {
    /// The plan, with the rows and fields that depend on the command.
    pub fn with(self, rows: Vec<(&'static str, String)>, settings: json::Settings) -> Plan {
        let planned = |chosen: &Chosen<T>| Planned {
            name: chosen.name.clone(),
            words: chosen.words(),
            atoms: chosen.dictionary.len(),
            shape: chosen.dictionary.extent().axes().to_vec(),
        };
        Plan {
            images: self.images.iter().cloned().zip(self.shapes.iter().copied()).collect(),
            dictionary_label: self.dictionaries.0,
            dictionaries: self.dictionaries.1.iter().map(planned).collect(),
            precision: T::NAME,
            output: (self.output.0, self.output.1.map(Into::into)),
            rows,
            settings,
            needed: self.needed,
            budget: self.budget,
            bands: None,
            trial: self.trial,
        }
    }

    /// The plan of pursuits with these parameters, which end as `until` describes.
    pub fn of_pursuit(self, base: Base, params: &PursuitParams, until: String) -> Plan {
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) => number(penalty),
            Penalty::Relative(fraction) => format!("{} of penalty_max", number(fraction)),
            Penalty::MaxError(bound) => format!("for a residual of norm {}", number(bound)),
        };
        let rows = vec![
            ("base, border", format!("{base}, {}", params.border)),
            ("penalty", penalty),
            ("stopping rule", until),
        ];
        let settings = json::Settings::Pursuit {
            base: base.to_string(),
            border: params.border.to_string(),
            tolerance: params.tolerance,
        };
        self.with(rows, settings)
    }
}

/// The stopping criterion of an alternating method: a gap, or a number of alternations.
pub fn until(gap: &str, alternations: usize) -> String {
    if alternations == 0 {
        gap.into()
    } else {
        format!("{gap}, or {}", plural(alternations, "alternation"))
    }
}

impl Plan {
    /// Prints the plan.
    pub fn print(self, command: &'static str, console: &ConsoleArgs) -> Result<()> {
        if console.json { json::print(command, self.json()) } else { print(&self.table()) }
    }

    fn json(self) -> json::Plan {
        let first = &self.dictionaries[0];
        json::Plan {
            dry_run: true,
            images: self
                .images
                .iter()
                .map(|(path, shape)| json::Image::new(path, *shape))
                .collect(),
            dictionary: first.name.clone(),
            dictionaries: self.dictionaries.iter().map(|d| d.name.clone()).collect(),
            atoms: first.atoms,
            atom_shape: first.shape.clone(),
            precision: self.precision,
            working_memory_bytes: self.needed,
            memory_bytes: self.budget.with(self.needed),
            estimated_seconds: self.trial.seconds,
            max_memory_bytes: self.budget.limit(),
            fits: self.budget.fits(self.needed),
            bands: self.bands,
            output: json::optional_file(&self.output.1),
            settings: self.settings,
        }
    }

    fn table(&self) -> String {
        let mut table = Table::default();
        for (i, (path, (extent, channels))) in self.images.iter().enumerate() {
            let name = if i == 0 { plural(self.images.len(), "image") } else { String::new() };
            table.row(name, format!("{}, {}", path.display(), summary::shape(*extent, *channels)));
        }
        for dictionary in &self.dictionaries {
            table.row(self.dictionary_label, &dictionary.words);
        }
        for (name, value) in &self.rows {
            table.row(*name, value);
        }
        let needed = words(self.budget.with(self.needed));
        let memory = match self.budget.limit() {
            Some(limit) if !self.budget.fits(self.needed) => format!(
                "about {needed}, more than the limit of {}: it would be refused",
                words(limit)
            ),
            _ => {
                let bands =
                    self.bands.map_or(String::new(), |n| format!(", in {}", plural(n, "band")));
                format!("about {needed}{bands}")
            }
        };
        let output = self.output.1.as_ref();
        table
            .row("memory", memory)
            .row("time", self.trial.words())
            .row(
                self.output.0,
                output.map_or("not saved".into(), |path| path.display().to_string()),
            )
            .row("", "dry run: nothing was done");
        table.render()
    }
}
