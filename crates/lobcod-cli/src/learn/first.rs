//! The initial dictionary.

use crate::args::{LearnArgs, LearningArgs};
use crate::dictionary::{Chosen, check_axes, check_size, usual_size};
use crate::output::table::plural;
use crate::values::{InitChoice, Sizes};
use anyhow::{Result, ensure};
use lobcod::base::Base;
use lobcod::{Dictionary, Extent, Observed, Real};
use std::path::Path;

/// Initial atoms: read from a file, or generated with a given size.
pub enum First<T> {
    /// Read from a file.
    Read(Chosen<T>),
    /// Random values.
    Random(Extent),
    /// Patches of the signals.
    Patches(Extent),
    /// Cosines.
    Dct(Extent),
}

impl<T: Real> First<T> {
    /// Reads the atoms, or determines their size; error unless they match the options and signals
    /// of this extent.
    pub fn plan(args: &LearningArgs, signal: Extent) -> Result<Self> {
        let make: fn(Extent) -> Self = match &args.init {
            InitChoice::File(path) => return Self::read(path, args, signal),
            InitChoice::Random => Self::Random,
            InitChoice::Patches => Self::Patches,
            InitChoice::Dct => Self::Dct,
        };
        let given = args.size.as_ref().map(Sizes::extent);
        let size = given.map_or_else(|| usual_size(signal.rank()), Ok)?;
        check_axes("the atoms", size, signal)?;
        check_size("the atoms", size, signal)?;
        Ok(make(size))
    }

    fn read(path: &Path, args: &LearningArgs, signal: Extent) -> Result<Self> {
        let chosen = Chosen::<T>::read(path)?;
        chosen.check_fits(signal)?;
        let (atoms, extent) = (chosen.dictionary.len(), chosen.dictionary.extent());
        let size = args.size.as_ref();
        let agrees = args.atoms.is_none_or(|n| n as usize == atoms)
            && size.is_none_or(|size| size.extent() == extent)
            && size.and_then(Sizes::atoms).is_none_or(|n| n == atoms);
        let name = &chosen.name;
        ensure!(
            agrees,
            "{name} contains {} of {extent}; remove --atoms and --size, or use another file",
            plural(atoms, "atom")
        );
        Ok(Self::Read(chosen))
    }

    /// Size of an atom.
    pub fn extent(&self) -> Extent {
        match self {
            First::Read(chosen) => chosen.dictionary.extent(),
            First::Random(extent) | First::Patches(extent) | First::Dct(extent) => *extent,
        }
    }

    /// A dictionary of the same size, for memory estimates.
    pub fn placeholder(self, args: &LearningArgs, channels: usize) -> Result<Dictionary<T>> {
        let atoms = args.atoms()?;
        Ok(match self {
            First::Read(chosen) => chosen.dictionary,
            First::Random(extent) | First::Patches(extent) | First::Dct(extent) => {
                Dictionary::random(extent, channels, atoms, 0)?
            }
        })
    }

    /// The atoms, after the frozen ones; generated ones span all channels of the signals.
    pub fn make(self, args: &LearnArgs, observed: &[Observed<T>]) -> Result<Chosen<T>> {
        let made = self.make_free(args, observed)?;
        match &args.model.freeze {
            Some(frozen) => made.after(frozen),
            None => Ok(made),
        }
    }

    fn make_free(self, args: &LearnArgs, observed: &[Observed<T>]) -> Result<Chosen<T>> {
        let (atoms, channels) = (args.learning.atoms()?, observed[0].signal.channels());
        let (seed, base) = (args.run.seed, args.problem.base);
        Ok(match self {
            First::Read(chosen) => chosen,
            First::Random(extent) => {
                Chosen::made(Dictionary::random(extent, channels, atoms, seed)?, "random")
            }
            First::Dct(extent) => Chosen::made(Dictionary::dct(extent, channels, atoms)?, "dct"),
            First::Patches(extent) => {
                // Layers that are learnt with the atoms are not subtracted yet.
                let signal = |o: &Observed<T>| match base {
                    Base::JointSmooth { .. } => {
                        o.signal.minus(&base.layer(&o.signal, o.mask.as_ref(), extent)?)
                    }
                    _ => Ok(o.signal.clone()),
                };
                let signals = observed.iter().map(signal).collect::<lobcod::Result<Vec<_>>>()?;
                Chosen::made(Dictionary::patches(&signals, extent, atoms, seed)?, "patches")
            }
        })
    }
}
