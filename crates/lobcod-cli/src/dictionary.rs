//! Dictionaries, selected by name or file.

use crate::args::DictionaryArgs;
use crate::output::table::plural;
use crate::output::warn;
use crate::values::{DictionaryChoice, Size};
use anyhow::{Result, anyhow, bail, ensure};
use lobcod::dictionary::Embedded;
use lobcod::{Dictionary, Extent, Real};
use lobcod_io::{dictionary_penalty, read_dictionary};
use std::path::Path;

/// A dictionary and its name.
pub struct Chosen<T> {
    /// The atoms.
    pub dictionary: Dictionary<T>,
    /// A name such as `dct`, or the file it was read from.
    pub name: String,
    /// Penalty it was learnt with, if the file records it.
    pub penalty: Option<f64>,
    /// Number of its leading atoms that learning keeps as they are.
    pub frozen: usize,
    read: bool,
    /// Number of atoms in a file that did not have unit norm.
    normalised: usize,
}

impl<T: Real> Chosen<T> {
    /// The requested dictionary, or the default for signals with `rank` axes.
    pub fn of(args: &DictionaryArgs, rank: usize) -> Result<Self> {
        let natural = rank == 2 && args.size.size.is_none();
        let usual = if natural {
            DictionaryChoice::Embedded(Embedded::Natural)
        } else {
            DictionaryChoice::Dct
        };
        Self::load(args.dictionary.as_ref().unwrap_or(&usual), args.size.size, rank)
    }

    /// Generates or reads the dictionary. `size` is the size of generated atoms, which have `rank`
    /// axes otherwise.
    pub fn load(choice: &DictionaryChoice, size: Option<Size>, rank: usize) -> Result<Self> {
        Ok(match (choice, size) {
            (DictionaryChoice::Dct, size) => {
                let size = size.map_or_else(|| usual_size(rank), |size| Ok(size.0))?;
                Self::made(Dictionary::dct(size, 1, dct_atoms(size))?, "dct")
            }
            (DictionaryChoice::Embedded(which), Some(size)) => {
                bail!(
                    "--size {} applies only to dct, not to {which}; remove it, or use dct",
                    size.0
                )
            }
            (DictionaryChoice::Embedded(which), None) => {
                Self::made(Dictionary::embedded(*which), which.name())
            }
            (DictionaryChoice::File(path), _) => Self::read(path)?,
        })
    }

    /// A generated dictionary and the name of its kind.
    pub fn made(dictionary: Dictionary<T>, name: &str) -> Self {
        let name = name.into();
        Self { dictionary, name, penalty: None, frozen: 0, read: false, normalised: 0 }
    }

    /// Reads a dictionary from a file.
    pub fn read(path: &Path) -> Result<Self> {
        let dictionary: Dictionary<T> = read_dictionary(path)?;
        Ok(Self {
            normalised: dictionary.normalised(),
            frozen: 0,
            dictionary,
            name: path.display().to_string(),
            penalty: dictionary_penalty(path)?,
            read: true,
        })
    }

    /// These atoms after those of a file, which learning keeps as they are.
    pub fn after(self, frozen: &Path) -> Result<Self> {
        let frozen = Self::read(frozen)?;
        let dictionary = frozen.dictionary.followed_by(&self.dictionary).map_err(|error| {
            anyhow!("{error}; give the --size of the frozen atoms, {}", frozen.dictionary.extent())
        })?;
        Ok(Self {
            dictionary,
            name: format!("{} and {}", frozen.name, self.name),
            penalty: self.penalty,
            frozen: frozen.dictionary.len(),
            read: true,
            normalised: frozen.normalised + self.normalised,
        })
    }

    /// Error unless the atoms have as many axes as the signal. Atoms from a file must not be larger
    /// either, because they were made for other signals. Built-in atoms also code very small
    /// images, across their borders.
    pub fn check_fits(&self, signal: Extent) -> Result<()> {
        let (what, atom) = (format!("the atoms of {}", self.name), self.dictionary.extent());
        check_axes(&what, atom, signal)?;
        if self.read { check_size(&what, atom, signal) } else { Ok(()) }
    }

    /// Error unless the atoms have one channel; `why` is the reason in the message.
    pub fn check_grey(&self, why: &str) -> Result<()> {
        let channels = self.dictionary.channels();
        ensure!(
            channels == 1,
            "the atoms of {} have {channels} channels, but {why}; use a greyscale dictionary",
            self.name
        );
        Ok(())
    }

    /// Warns if atoms had to be normalised.
    pub fn warn_if_normalised(&self) {
        let (changed, all) = (self.normalised, self.dictionary.len());
        if changed > 0 {
            warn(&format!(
                "{changed} of the {} of {} did not have unit norm and were normalised",
                plural(all, "atom"),
                self.name
            ));
        }
    }

    /// Number of atoms in a file without unit norm; generated atoms are always normalised.
    pub fn normalised(&self) -> usize {
        self.normalised
    }

    /// `dct, 81 atoms of 8x8`.
    pub fn words(&self) -> String {
        let colour = if self.dictionary.channels() > 1 {
            format!(", {} channels", self.dictionary.channels())
        } else {
            String::new()
        };
        format!(
            "{}, {} of {}{colour}",
            self.name,
            plural(self.dictionary.len(), "atom"),
            self.dictionary.extent()
        )
    }
}

/// Error unless the atoms (called `what` in the message) have as many axes as the signal.
pub fn check_axes(what: &str, atom: Extent, signal: Extent) -> Result<()> {
    let axes = |extent: Extent| {
        format!("{} {}", extent.rank(), if extent.rank() == 1 { "axis" } else { "axes" })
    };
    ensure!(
        atom.rank() == signal.rank(),
        "{what} have {} ({atom}), but the signal has {} ({signal}); use other atoms or --size, or \
         set the axes with --axes",
        axes(atom),
        axes(signal)
    );
    Ok(())
}

/// Error if the atoms (called `what` in the message) have more samples than the signal.
pub fn check_size(what: &str, atom: Extent, signal: Extent) -> Result<()> {
    ensure!(
        atom.volume() <= signal.volume(),
        "{what} ({atom}) are larger than the signal ({signal}); use smaller atoms or a larger \
         image"
    );
    Ok(())
}

/// Default size of generated atoms for signals with `rank` axes.
pub fn usual_size(rank: usize) -> lobcod::Result<Extent> {
    Extent::new(match rank {
        1 => &[16],
        2 => &[8, 8],
        _ => &[5, 5, 5],
    })
}

/// One more frequency than samples along each axis: 81 atoms of 8x8.
fn dct_atoms(size: Extent) -> usize {
    size.axes().iter().map(|n| n + 1).product()
}
