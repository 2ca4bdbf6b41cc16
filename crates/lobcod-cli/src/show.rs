//! `lobcod show`: the atoms of a dictionary as a picture.

use crate::args::ShowArgs;
use crate::dictionary::Chosen;
use crate::mosaic::mosaic;
use crate::output::paths::check_answer;
use crate::output::table::Table;
use crate::output::tell;
use anyhow::Result;
use lobcod_image::{WriteOptions, write_picture};
use serde_json::json;

/// Draws the atoms, and tells how many there are of what size.
pub fn run(args: &ShowArgs) -> Result<()> {
    check_answer(&args.output)?;
    let chosen = Chosen::<f32>::load(&args.dictionary, args.size, 2)?;
    if !args.telling.quiet {
        chosen.warn_if_normalised();
    }
    let picture = mosaic(&chosen.dictionary, args.columns.map(usize::from), args.zoom.map(usize::from))?;
    write_picture(&args.output, &picture, &WriteOptions::default())?;

    let dictionary = &chosen.dictionary;
    let coherence = coherence(&dictionary.gram(), dictionary.len());
    if args.telling.json {
        let report = json!({
            "dictionary": chosen.name,
            "atoms": dictionary.len(),
            "shape": dictionary.extent().axes(),
            "channels": dictionary.channels(),
            "normalised_atoms": chosen.normalised(),
            "coherence": coherence,
            "output": args.output.display().to_string(),
        });
        tell(&format!("{report:#}"))?;
    } else if !args.telling.quiet {
        let mut table = Table::default();
        table
            .row("dictionary", chosen.words())
            .row("coherence", format!("{coherence:.4}, the largest product of two atoms"))
            .row("picture", format!("{}, {}", args.output.display(), picture.extent()));
        tell(&table.render())?;
    }
    Ok(())
}

/// Largest absolute inner product of two different atoms.
fn coherence(gram: &[f32], atoms: usize) -> f32 {
    let off_diagonal = gram.iter().enumerate().filter(|(i, _)| i / atoms != i % atoms);
    off_diagonal.fold(0.0, |largest, (_, product)| largest.max(product.abs()))
}
