//! `lobcod show`: draws the atoms of a dictionary, and shows how often codes use them.

use crate::Outcome;
use crate::args::{ConsoleArgs, ShowArgs};
use crate::command::Command;
use crate::dictionary::Chosen;
use crate::json;
use crate::mosaic::mosaic;
use crate::output::paths::{check_answer, keep_inputs};
use crate::output::print;
use crate::output::table::{Table, columns, count, number, plural};
use crate::uses::Uses;
use crate::values::DictionaryChoice;
use anyhow::Result;
use lobcod_io::{CodesFile, WriteOptions, is_codes, read_codes, write_image};
use std::path::Path;

impl Command for ShowArgs {
    fn run(&self) -> Result<Outcome> {
        run(self).map(|()| Outcome::Done)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }
}

/// Draws the atoms and prints a summary.
fn run(args: &ShowArgs) -> Result<()> {
    check_answer(&args.output)?;
    keep_inputs(args.dictionary.file(), [&args.output])?;
    let codes = read_uses(args)?;
    let (chosen, uses) = match codes {
        Some((chosen, uses)) => (chosen, Some(uses)),
        None => (Chosen::<f32>::load(&args.dictionary, args.size.size, 2)?, None),
    };
    if !args.console.quiet {
        chosen.warn_if_normalised();
    }
    let image =
        mosaic(&chosen.dictionary, args.columns.map(usize::from), args.zoom.map(usize::from))?;
    write_image(&args.output, &image, &WriteOptions::default())?;

    let dictionary = &chosen.dictionary;
    let coherence = coherence(&dictionary.gram(), dictionary.len());
    if args.console.json {
        let shape = dictionary.extent().axes().to_vec();
        let report = json::Show {
            dictionary: chosen.name.clone(),
            atoms: dictionary.len(),
            atom_shape: shape.clone(),
            shape,
            channels: dictionary.channels(),
            normalised_atoms: chosen.normalised(),
            coherence: coherence.into(),
            uses: uses.as_ref().map(uses_json),
            output: json::file(&args.output),
        };
        json::print("show", report)?;
    } else if !args.console.quiet {
        let mut table = Table::default();
        table
            .row("dictionary", chosen.words())
            .row("coherence", format!("{coherence:.4} (largest inner product of two atoms)"))
            .row("image", format!("{}, {}", args.output.display(), image.extent()));
        if let Some(uses) = &uses {
            table.row(
                "used",
                format!("{} of {}", count(uses.used()), plural(dictionary.len(), "atom")),
            );
        }
        let uses = uses.map_or(String::new(), |uses| format!("\n{}", uses_table(&uses, args.rows)));
        print(&(table.render() + &uses))?;
    }
    Ok(())
}

/// The atoms of a codes file and their usage; `None` for any other file.
fn read_uses(args: &ShowArgs) -> Result<Option<(Chosen<f32>, Uses)>> {
    let DictionaryChoice::File(path) = &args.dictionary else { return Ok(None) };
    if !is_codes(path) {
        return Ok(None);
    }
    let CodesFile { needles, dictionary, .. } = read_codes::<f32>(path, None)?;
    let uses = Uses::count(dictionary.len(), &[needles]);
    Ok(Some((Chosen::made(dictionary, &format!("dictionary of {}", path.display())), uses)))
}

fn uses_json(uses: &Uses) -> Vec<json::Use> {
    let row = |k| json::Use {
        atom: k,
        times: uses.counts[k],
        share: uses.share(k) / 100.0,
        mean_size: uses.mean(k),
    };
    uses.order().into_iter().map(row).collect()
}

fn uses_table(uses: &Uses, most: usize) -> String {
    let order = uses.order();
    let mut rows =
        vec![["atom", "times", "% of the non-zeros", "mean |value|"].map(String::from).to_vec()];
    rows.extend(order.iter().take(most).map(|&k| {
        vec![
            k.to_string(),
            count(uses.counts[k]),
            format!("{:.2}", uses.share(k)),
            number(uses.mean(k)),
        ]
    }));
    let more = order.len().saturating_sub(most);
    let rest = if more > 0 {
        format!("and {} more; use --rows {} to show all\n", plural(more, "atom"), order.len())
    } else {
        String::new()
    };
    columns(&rows, &[0, 1, 2, 3]) + &rest
}

/// Largest absolute inner product of two different atoms.
fn coherence(gram: &[f32], atoms: usize) -> f32 {
    let off_diagonal = gram.iter().enumerate().filter(|(i, _)| i / atoms != i % atoms);
    off_diagonal.fold(0.0, |largest, (_, product)| largest.max(product.abs()))
}
