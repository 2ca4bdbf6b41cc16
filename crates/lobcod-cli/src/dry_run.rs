//! `--dry-run`: what would run, and the memory it needs.

use crate::args::EncodeArgs;
use crate::dictionary::Chosen;
use crate::output::table::{Table, number, plural};
use crate::output::{summary, tell};
use anyhow::Result;
use lobcod::memory::words;
use lobcod::{Extent, Penalty, Pursuit, Real};
use serde_json::json;

/// Tells what encode would do with these pictures (shape and channels each), and that it needs `needed` bytes.
pub fn tell_plan<T: Real>(
    args: &EncodeArgs,
    pursuit: &Pursuit,
    chosen: &Chosen<T>,
    shapes: &[(Extent, usize)],
    needed: u64,
) -> Result<()> {
    let params = pursuit.params();
    let limit = params.max_memory;
    let fits = limit.is_none_or(|limit| needed <= limit);
    if args.telling.json {
        let image = |(path, (extent, channels)): (&std::path::PathBuf, &(Extent, usize))| json!({ "file": path.display().to_string(), "shape": extent.axes(), "channels": channels, "pixels": extent.volume() });
        let plan = json!({
            "dry_run": true,
            "images": args.images.iter().zip(shapes).map(image).collect::<Vec<_>>(),
            "dictionary": chosen.name,
            "atoms": chosen.dictionary.len(),
            "atom_shape": chosen.dictionary.extent().axes(),
            "base": args.problem.base.to_string(),
            "border": params.border.to_string(),
            "tolerance": params.tolerance,
            "precision": T::NAME,
            "working_memory_bytes": needed,
            "max_memory_bytes": limit,
            "fits": fits,
        });
        return tell(&format!("{plan:#}"));
    }
    let mut table = Table::default();
    for (i, (path, (extent, channels))) in args.images.iter().zip(shapes).enumerate() {
        let name = if i == 0 { plural(shapes.len(), "picture") } else { String::new() };
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
        _ => format!("about {} of working memory", words(needed)),
    };
    table
        .row("dictionary", chosen.words())
        .row("base, border", format!("{}, {}", args.problem.base, params.border))
        .row("penalty", penalty)
        .row(
            "until",
            format!("the gap is {} of the objective, or {}", number(params.tolerance), plural(params.max_sweeps, "sweep")),
        )
        .row("memory", memory)
        .row("codes", args.output.as_ref().map_or("not kept".into(), |path| path.display().to_string()))
        .row("", "nothing was done (--dry-run)");
    tell(&table.render())
}
