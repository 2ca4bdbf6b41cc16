//! The dictionary that learning starts from.

use crate::args::LearningArgs;
use crate::dictionary::{Chosen, check_axes, check_size, usual_size};
use crate::output::table::plural;
use crate::values::InitChoice;
use anyhow::{Result, ensure};
use lobcod::{Dictionary, Extent, Observed, Real};
use std::path::Path;

/// Atoms that are learnt when no number is given.
const USUAL_ATOMS: usize = 81;

/// First atoms: read from a file, or to be made in boxes of a size.
pub enum First<T> {
    /// From a file.
    Read(Chosen<T>),
    /// Random numbers.
    Random(Extent),
    /// Patches of the signals.
    Patches(Extent),
    /// Cosines.
    Dct(Extent),
}

impl<T: Real> First<T> {
    /// Reads the atoms, or settles their size; error unless they fit the options, and signals like this one.
    pub fn plan(args: &LearningArgs, signal: Extent) -> Result<Self> {
        let make: fn(Extent) -> Self = match &args.init {
            InitChoice::File(path) => return Self::read(path, args, signal),
            InitChoice::Random => Self::Random,
            InitChoice::Patches => Self::Patches,
            InitChoice::Dct => Self::Dct,
        };
        let size = args.size.map_or_else(|| usual_size(signal.rank()), |size| Ok(size.0))?;
        check_axes("the atoms", size, signal)?;
        check_size("the atoms", size, signal)?;
        Ok(make(size))
    }

    fn read(path: &Path, args: &LearningArgs, signal: Extent) -> Result<Self> {
        let chosen = Chosen::<T>::read(path)?;
        chosen.check_fits(signal)?;
        let (atoms, extent) = (chosen.dictionary.len(), chosen.dictionary.extent());
        let agrees = args.atoms.is_none_or(|n| n as usize == atoms) && args.size.is_none_or(|size| size.0 == extent);
        let name = &chosen.name;
        ensure!(agrees, "{name} holds {} of {extent}; leave out --atoms and --size, or name another", plural(atoms, "atom"));
        Ok(Self::Read(chosen))
    }

    /// Box of an atom.
    pub fn extent(&self) -> Extent {
        match self {
            First::Read(chosen) => chosen.dictionary.extent(),
            First::Random(extent) | First::Patches(extent) | First::Dct(extent) => *extent,
        }
    }

    /// The atoms; those that are made span all channels of the signals.
    pub fn make(self, args: &LearningArgs, observed: &[Observed<T>], seed: u64) -> Result<Chosen<T>> {
        let (atoms, channels) = (args.atoms.map_or(USUAL_ATOMS, |n| n as usize), observed[0].signal.channels());
        Ok(match self {
            First::Read(chosen) => chosen,
            First::Random(extent) => Chosen::made(Dictionary::random(extent, channels, atoms, seed)?, "random"),
            First::Dct(extent) => Chosen::made(Dictionary::dct(extent, channels, atoms)?, "dct"),
            First::Patches(extent) => {
                let signals: Vec<_> = observed.iter().map(|o| o.signal.clone()).collect();
                Chosen::made(Dictionary::patches(&signals, extent, atoms, seed)?, "patches")
            }
        })
    }
}
