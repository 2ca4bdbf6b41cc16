//! Dictionaries by name or file.

use crate::output::table::plural;
use crate::output::warn;
use crate::values::DictionaryChoice;
use anyhow::{Result, bail, ensure};
use lobcod::{Dictionary, Extent, Real};
use lobcod_image::read_dictionary;

/// A dictionary, and what to call it.
pub struct Chosen<T> {
    /// The atoms.
    pub dictionary: Dictionary<T>,
    /// `dct`, or the file it came from.
    pub name: String,
}

impl<T: Real> Chosen<T> {
    /// Makes or reads the dictionary; `size` is the box of made atoms.
    pub fn load(choice: &DictionaryChoice, size: Extent) -> Result<Self> {
        Ok(match choice {
            DictionaryChoice::Dct => Self { dictionary: Dictionary::dct(size, 1, dct_atoms(size))?, name: "dct".into() },
            DictionaryChoice::Natural => {
                bail!("this build has no dictionary called natural; use --dictionary dct or name a .npz or .npy file")
            }
            DictionaryChoice::File(path) => Self { dictionary: read_dictionary(path)?, name: path.display().to_string() },
        })
    }

    /// Error unless the atoms have as many axes as the signal.
    pub fn check_fits(&self, signal: Extent) -> Result<()> {
        let atom = self.dictionary.extent();
        let axes = |extent: Extent| format!("{} {}", extent.rank(), if extent.rank() == 1 { "axis" } else { "axes" });
        ensure!(
            atom.rank() == signal.rank(),
            "the atoms of {} have {} ({atom}), but the signal has {} ({signal}); use other atoms or --size, or name the axes with --axes",
            self.name,
            axes(atom),
            axes(signal)
        );
        Ok(())
    }

    /// Says how many atoms had to be normalised, if any.
    pub fn warn_if_normalised(&self) {
        let (changed, all) = (self.dictionary.normalised(), self.dictionary.len());
        if self.was_read() && changed > 0 {
            warn(&format!("{changed} of the {} of {} were not of unit norm and were normalised", plural(all, "atom"), self.name));
        }
    }

    /// Atoms of a file that were not of unit norm; made atoms are normalised as a matter of course.
    pub fn normalised(&self) -> usize {
        if self.was_read() { self.dictionary.normalised() } else { 0 }
    }

    /// `dct, 81 atoms of 8x8`.
    pub fn words(&self) -> String {
        let colour =
            if self.dictionary.channels() > 1 { format!(", {} channels", self.dictionary.channels()) } else { String::new() };
        format!("{}, {} of {}{colour}", self.name, plural(self.dictionary.len(), "atom"), self.dictionary.extent())
    }

    fn was_read(&self) -> bool {
        self.name != "dct"
    }
}

/// Box of made atoms for signals with that many axes.
pub fn usual_size(rank: usize) -> lobcod::Result<Extent> {
    Extent::new(match rank {
        1 => &[16],
        2 => &[8, 8],
        _ => &[5, 5, 5],
    })
}

/// One frequency more than samples along every axis: 81 atoms of 8x8.
fn dct_atoms(size: Extent) -> usize {
    size.axes().iter().map(|n| n + 1).product()
}
