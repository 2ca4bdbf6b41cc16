//! Values of options: sizes, amounts of memory, names and files.

mod noise;
mod tasks;

pub use noise::NoiseChoice;
pub use tasks::{ActivityChoice, AlignChoice, ComposeChoice, FuseBaseChoice, MethodOfDenoising, ModeChoice, PreferChoice};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lobcod::{Embedded, Extent, Local, Schedule};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

/// Box of an atom, written `16`, `8x8` or `5x5x5`.
#[derive(Clone, Copy)]
pub struct Size(pub Extent);

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let axes: Result<Vec<usize>, _> = text.split('x').map(str::parse).collect();
        let axes = axes.map_err(|_| "a size is written 16, 8x8 or 5x5x5".to_string())?;
        Extent::new(&axes).map(Size).map_err(|e| e.to_string())
    }
}

/// An amount of memory, written `500M`, `2G`, `1.5GiB` or as plain bytes; the units are powers of 1024.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let power = match text[digits..].to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            _ => return Err("an amount of memory is written 500M, 2G or in bytes".into()),
        };
        let number: f64 =
            text[..digits].parse().map_err(|_| "an amount of memory starts with a number, such as 500M".to_string())?;
        Ok(Bytes((number * f64::powi(1024.0, power)) as u64))
    }
}

/// A dictionary by name or file.
#[derive(Clone, Debug, PartialEq)]
pub enum DictionaryChoice {
    /// Cosines, made at run time.
    Dct,
    /// One that comes with the program.
    Embedded(Embedded),
    /// Read from a file.
    File(PathBuf),
}

impl From<OsString> for DictionaryChoice {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("dct") => Self::Dct,
            name => match name.and_then(|name| name.parse().ok()) {
                Some(embedded) => Self::Embedded(embedded),
                None => Self::File(text.into()),
            },
        }
    }
}

/// First atoms of a dictionary to be learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum InitChoice {
    /// Normal numbers.
    Random,
    /// Patches of the pictures.
    Patches,
    /// Cosines.
    Dct,
    /// Read from a file.
    File(PathBuf),
}

impl From<OsString> for InitChoice {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("random") => Self::Random,
            Some("patches") => Self::Patches,
            Some("dct") => Self::Dct,
            _ => Self::File(text.into()),
        }
    }
}

/// Way to learn a dictionary.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum MethodChoice {
    /// Atom after atom, each the best while all else holds still: the fast one.
    Atomwise,
    /// A gradient step after every layer: the paper's Algorithm 2.
    Stochastic,
    /// Projected steepest descent between pursuits.
    Batch,
}

impl MethodChoice {
    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MethodChoice::Atomwise => "atomwise",
            MethodChoice::Stochastic => "stochastic",
            MethodChoice::Batch => "batch",
        }
    }
}

/// First needles.
#[derive(Clone, Debug, PartialEq)]
pub enum StartChoice {
    /// All codes zero.
    Zero,
    /// Each needle codes its share of its patch.
    Spread,
    /// Codes written earlier.
    File(PathBuf),
}

impl From<OsString> for StartChoice {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("zero") => Self::Zero,
            Some("spread") => Self::Spread,
            _ => Self::File(text.into()),
        }
    }
}

/// A cap on non-zeros: the same for every needle, or a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Cap {
    /// One number for all needles.
    Count(usize),
    /// A number for every position, in a file.
    File(PathBuf),
}

impl From<OsString> for Cap {
    fn from(text: OsString) -> Self {
        match text.to_str().and_then(|t| t.parse().ok()) {
            Some(count) => Self::Count(count),
            None => Self::File(text.into()),
        }
    }
}

/// What atoms are learnt from besides those given.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LearnChoice {
    /// Nothing: the atoms stay as given.
    None,
    /// The damaged picture itself; the answers of given and learnt atoms are averaged.
    Image,
}

/// How much work inpainting puts in.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Preset {
    /// --learn none --windows 1 --density 1
    Fast,
    /// --learn none --windows 1 --density 0.5
    Standard,
    /// --learn image --windows 1,0.5 --density 0.5 --dictionary natural-12x12-128 --dictionary natural
    Best,
}

/// A penalty: a number, or chosen by the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyChoice(pub Option<f64>);

impl FromStr for PenaltyChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        text.parse().map(|x| Self(Some(x))).map_err(|_| "a penalty is auto or a number".into())
    }
}

/// Order in which needles are visited.
#[derive(Clone, Copy, ValueEnum)]
pub enum ScheduleChoice {
    /// Colours, tiles, layers, needles, with support sweeps and continuation: the fast one.
    Tiles,
    /// Layer after layer over the whole signal: the paper's Algorithm 2.
    Layers,
    /// One needle after another: the paper's Algorithm 1.
    Needles,
}

impl From<ScheduleChoice> for Schedule {
    fn from(choice: ScheduleChoice) -> Self {
        match choice {
            ScheduleChoice::Tiles => Schedule::Tiles,
            ScheduleChoice::Layers => Schedule::Layers,
            ScheduleChoice::Needles => Schedule::Needles,
        }
    }
}

/// Solver of one needle.
#[derive(Clone, Copy, ValueEnum)]
pub enum LocalChoice {
    /// Coordinate descent with an active set.
    Coordinate,
    /// Least-angle regression: the paper's choice.
    Lars,
}

impl From<LocalChoice> for Local {
    fn from(choice: LocalChoice) -> Self {
        match choice {
            LocalChoice::Coordinate => Local::Coordinate,
            LocalChoice::Lars => Local::Lars,
        }
    }
}

/// Precision of the arithmetic.
#[derive(Clone, Copy, ValueEnum)]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    F64,
}

/// What does the work.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum EngineChoice {
    /// Threads of this machine.
    Cpu,
    /// A graphics card of NVIDIA.
    Cuda,
    /// Several machines.
    Mpi,
}

/// Accepts these names, lists them in help and errors, and reads them as a `T`.
pub fn one_of<T, const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory() {
        for (text, bytes) in
            [("0", 0), ("1234", 1234), ("500M", 500 << 20), ("2G", 2 << 30), ("1.5k", 1536), ("3GiB", 3 << 30), ("7kb", 7168)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for wrong in ["", "M", "-1", "5X", "1..2G", "G2", "nan"] {
            assert!(wrong.parse::<Bytes>().is_err(), "{wrong} was accepted");
        }
    }

    #[test]
    fn sizes() {
        for (text, axes) in [("16", vec![16]), ("8x9", vec![8, 9]), ("5x6x7", vec![5, 6, 7])] {
            assert_eq!(text.parse::<Size>().unwrap().0.axes(), axes);
        }
        for wrong in ["", "x", "8x", "0", "8x0", "1x2x3x4", "8,8", "-8"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong} was accepted");
        }
    }
}
