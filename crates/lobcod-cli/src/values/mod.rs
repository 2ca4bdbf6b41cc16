//! Types of option values: sizes, amounts of memory, names and files.

mod sizes;
mod tasks;

pub use sizes::{Size, Sizes};
pub use tasks::{
    ActivityChoice, AlignChoice, ComposeChoice, FillChoice, FuseBaseChoice, MethodOfDenoising,
    ModeChoice, PreferChoice,
};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lobcod::dictionary::Embedded;
use lobcod::pursuit::{Local, Schedule};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// An amount of memory, written `500M`, `2G`, `1.5GiB` or as plain bytes; the units are powers of
/// 1024.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let power = match text[digits..]
            .to_ascii_lowercase()
            .trim_end_matches("ib")
            .trim_end_matches('b')
        {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            _ => {
                return Err(
                    "expected an amount of memory such as 500M, 2G or a number of bytes".into()
                );
            }
        };
        let number: f64 = text[..digits].parse().map_err(|_| {
            "expected an amount of memory that starts with a number, such as 500M".to_string()
        })?;
        Ok(Bytes((number * f64::powi(1024.0, power)) as u64))
    }
}

/// A colour, written `#ff0000` or `ff0000`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HexColour(pub [u8; 3]);

impl FromStr for HexColour {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6);
        let [_, red, green, blue] =
            number.ok_or("expected a colour such as '#ff0000'")?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl fmt::Display for HexColour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A dictionary by name or file.
#[derive(Clone, Debug, PartialEq)]
pub enum DictionaryChoice {
    /// Cosines, generated at run time.
    Dct,
    /// A built-in dictionary.
    Embedded(Embedded),
    /// Read from a file.
    File(PathBuf),
}

impl DictionaryChoice {
    /// The file it is read from.
    pub fn file(&self) -> Option<&PathBuf> {
        if let Self::File(file) = self { Some(file) } else { None }
    }
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

/// Initial atoms for learning.
#[derive(Clone, Debug, PartialEq)]
pub enum InitChoice {
    /// Normally distributed values.
    Random,
    /// Patches of the images.
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

/// Learning method.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum MethodChoice {
    /// Update one atom at a time, optimally with all else fixed (fastest).
    Atomwise,
    /// A gradient step after each layer (the paper's Algorithm 2).
    Stochastic,
    /// Projected steepest descent between pursuits.
    Batch,
}

impl MethodChoice {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MethodChoice::Atomwise => "atomwise",
            MethodChoice::Stochastic => "stochastic",
            MethodChoice::Batch => "batch",
        }
    }
}

/// Initial codes.
#[derive(Clone, Debug, PartialEq)]
pub enum StartChoice {
    /// All codes zero.
    Zero,
    /// Each needle codes an equal part of its patch.
    Spread,
    /// Codes from an earlier run.
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

/// A maximum number of non-zeros: the same for every needle, or a map.
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

/// Additional atoms for inpainting.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LearnChoice {
    /// Use only the given dictionaries.
    None,
    /// Also learn atoms from the damaged image, and average the results.
    Image,
}

/// Trade-off between speed and quality of inpainting.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Preset {
    /// --learn none --windows 1 --variants 0 --density 2 --groups 1; --variants 1 with
    /// --dictionary
    Fast,
    /// --learn none --windows 1 --variants 2 --density 1.5 --groups 2
    Standard,
    /// --learn image --windows 1,0.5 --variants 2 --density 1 --groups 6 --dictionary
    /// natural-12x12-128 --dictionary natural
    Best,
}

/// A penalty: a number, or chosen automatically.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyChoice(pub Option<f64>);

impl FromStr for PenaltyChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        text.parse().map(|x| Self(Some(x))).map_err(|_| "expected auto or a number".into())
    }
}

/// Order in which needles are visited.
#[derive(Clone, Copy, ValueEnum)]
pub enum ScheduleChoice {
    /// Tiles in parallel colours, with support sweeps and continuation (fastest).
    Tiles,
    /// One layer at a time over the whole signal (the paper's Algorithm 2).
    Layers,
    /// One needle at a time (the paper's Algorithm 1).
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

/// Solver for a single needle.
#[derive(Clone, Copy, ValueEnum)]
pub enum LocalChoice {
    /// Coordinate descent with an active set.
    Coordinate,
    /// Least-angle regression, as in the paper.
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

/// Floating-point precision.
#[derive(Clone, Copy, ValueEnum)]
pub enum Precision {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

/// Where the computation runs.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum EngineChoice {
    /// The CPU cores of this machine.
    Cpu,
    /// An NVIDIA GPU if available, otherwise the CPU.
    Auto,
    /// An NVIDIA GPU.
    Cuda,
    /// Several processes or machines, through MPI.
    Mpi,
}

impl EngineChoice {
    /// Whether the computation uses device memory.
    pub fn is_on_device(self) -> bool {
        matches!(self, Self::Cuda | Self::Auto)
    }
}

/// A parser that accepts these names, lists them in help and errors, and converts them to `T`.
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
        for (text, bytes) in [
            ("0", 0),
            ("1234", 1234),
            ("500M", 500 << 20),
            ("2G", 2 << 30),
            ("1.5k", 1536),
            ("3GiB", 3 << 30),
            ("7kb", 7168),
        ] {
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
