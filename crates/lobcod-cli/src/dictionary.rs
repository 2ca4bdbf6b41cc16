//! Dictionaries by name or file.

use crate::args::DictionaryArgs;
use crate::output::table::plural;
use crate::output::warn;
use crate::values::{DictionaryChoice, Size};
use anyhow::{Result, bail, ensure};
use lobcod::{Dictionary, Embedded, Extent, Real};
use lobcod_image::read_dictionary;
use std::path::Path;

/// A dictionary, and what to call it.
pub struct Chosen<T> {
    /// The atoms.
    pub dictionary: Dictionary<T>,
    /// `dct` or the like, or the file it came from.
    pub name: String,
    read: bool,
}

impl<T: Real> Chosen<T> {
    /// The dictionary asked for, or the usual one for signals with that many axes.
    pub fn of(args: &DictionaryArgs, rank: usize) -> Result<Self> {
        let natural = rank == 2 && args.size.is_none();
        let usual = if natural { DictionaryChoice::Embedded(Embedded::Natural) } else { DictionaryChoice::Dct };
        Self::load(args.dictionary.as_ref().unwrap_or(&usual), args.size, rank)
    }

    /// Makes or reads the dictionary; `size` is the box of made atoms, which have `rank` axes otherwise.
    pub fn load(choice: &DictionaryChoice, size: Option<Size>, rank: usize) -> Result<Self> {
        Ok(match (choice, size) {
            (DictionaryChoice::Dct, size) => {
                let size = size.map_or_else(|| usual_size(rank), |size| Ok(size.0))?;
                Self::made(Dictionary::dct(size, 1, dct_atoms(size))?, "dct")
            }
            (DictionaryChoice::Embedded(which), Some(size)) => {
                bail!("--size {} is for atoms that are made, not for those of {which}; leave it out, or use dct", size.0)
            }
            (DictionaryChoice::Embedded(which), None) => Self::made(Dictionary::embedded(*which), which.name()),
            (DictionaryChoice::File(path), _) => Self::read(path)?,
        })
    }

    /// A dictionary that was made, and the name of its kind.
    pub fn made(dictionary: Dictionary<T>, name: &str) -> Self {
        Self { dictionary, name: name.into(), read: false }
    }

    /// Reads the dictionary of a file.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self { dictionary: read_dictionary(path)?, name: path.display().to_string(), read: true })
    }

    /// Error unless the atoms have as many axes as the signal. Those of a file must not be larger either: they were made for other
    /// signals. Atoms that come with the program code the smallest pictures too, across their borders.
    pub fn check_fits(&self, signal: Extent) -> Result<()> {
        let (what, atom) = (format!("the atoms of {}", self.name), self.dictionary.extent());
        check_axes(&what, atom, signal)?;
        if self.read { check_size(&what, atom, signal) } else { Ok(()) }
    }

    /// Error unless the atoms have one channel, which `why` says is needed.
    pub fn check_grey(&self, why: &str) -> Result<()> {
        let channels = self.dictionary.channels();
        ensure!(channels == 1, "the atoms of {} have {channels} channels, but {why}; use a grey dictionary", self.name);
        Ok(())
    }

    /// Says how many atoms had to be normalised, if any.
    pub fn warn_if_normalised(&self) {
        let (changed, all) = (self.dictionary.normalised(), self.dictionary.len());
        if self.read && changed > 0 {
            warn(&format!("{changed} of the {} of {} were not of unit norm and were normalised", plural(all, "atom"), self.name));
        }
    }

    /// Atoms of a file that were not of unit norm; made atoms are normalised as a matter of course.
    pub fn normalised(&self) -> usize {
        if self.read { self.dictionary.normalised() } else { 0 }
    }

    /// `dct, 81 atoms of 8x8`.
    pub fn words(&self) -> String {
        let colour =
            if self.dictionary.channels() > 1 { format!(", {} channels", self.dictionary.channels()) } else { String::new() };
        format!("{}, {} of {}{colour}", self.name, plural(self.dictionary.len(), "atom"), self.dictionary.extent())
    }
}

/// Error unless atoms, which `what` names, have as many axes as the signal.
pub fn check_axes(what: &str, atom: Extent, signal: Extent) -> Result<()> {
    let axes = |extent: Extent| format!("{} {}", extent.rank(), if extent.rank() == 1 { "axis" } else { "axes" });
    ensure!(
        atom.rank() == signal.rank(),
        "{what} have {} ({atom}), but the signal has {} ({signal}); use other atoms or --size, or name the axes with --axes",
        axes(atom),
        axes(signal)
    );
    Ok(())
}

/// Error if atoms, which `what` names, have more samples than the signal.
pub fn check_size(what: &str, atom: Extent, signal: Extent) -> Result<()> {
    ensure!(
        atom.volume() <= signal.volume(),
        "{what} ({atom}) are larger than the signal ({signal}); use smaller atoms or a larger picture"
    );
    Ok(())
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
