//! The command tree: verbs, options, and how they are written. What they mean is said in the file of each verb.

use crate::output::paths::STDOUT;
use crate::values::{
    Bytes, Cap, DictionaryChoice, EngineChoice, LocalChoice, Precision, ScheduleChoice, Size, StartChoice, one_of,
};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use lobcod::Border;
use lobcod::base::Base;
use lobcod_image::{Axes, Depth};
use std::path::{Path, PathBuf};

/// Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.
#[derive(Parser)]
#[command(name = "lobcod", version, arg_required_else_help = true, after_help = "Start with: lobcod demo")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Cli {
    /// The command line as given; ends the program with a usage message where it makes no sense.
    pub fn parse_or_exit() -> Self {
        let cli = Self::parse();
        let outputs = match &cli.verb {
            Verb::Encode(args) => (args.telling.json, args.output.as_deref()),
            Verb::Decode(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Show(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Demo(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Doctor(_) => (false, None),
        };
        if outputs == (true, Some(Path::new(STDOUT))) {
            let message = "--json and -o - both want standard output; name a file with -o";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        cli
    }
}

/// What lobcod can do.
#[derive(Subcommand)]
pub enum Verb {
    /// Code an embedded picture and write it, its reconstruction and the dictionary as pictures.
    Demo(DemoArgs),
    /// Code pictures as sparse needles, with a certificate.
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<EncodeArgs>),
    /// Make a picture from codes.
    #[command(after_help = "Example:\n  lobcod decode codes.npz -o picture.png")]
    Decode(DecodeArgs),
    /// Draw the atoms of a dictionary as one picture.
    #[command(after_help = "Examples:\n  lobcod show dictionary.npz -o atoms.png\n  lobcod show dct --size 11x11 -o atoms.png")]
    Show(ShowArgs),
    /// Tell what this machine offers, and what to do about what is missing.
    Doctor(DoctorArgs),
}

const ENCODE_EXAMPLES: &str = "Examples:
  lobcod encode photo.png -o codes.npz
  lobcod encode photo.png --dictionary atoms.npz --penalty 20 --json
  lobcod encode a.png b.png c.png -o codes/            several pictures as one problem
  lobcod encode damaged.png --holes mask.png -o codes.npz
  lobcod encode sound.wav --axes t --size 64 -o codes.npz
  lobcod encode big.tif --dry-run                      the memory it needs";

/// Options of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// Folder the pictures go to; made if it is not there.
    #[arg(short, long, value_name = "DIR", default_value = "lobcod-demo")]
    pub output: PathBuf,
    /// Worker threads; 0 means all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `encode`.
#[derive(Args)]
pub struct EncodeArgs {
    /// Pictures (png, jpeg, tiff), arrays (npy) or sounds (wav); several are solved together as one problem.
    #[arg(required = true, value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Where the codes go: a .npz file, or a folder for several pictures.
    #[arg(short, long, value_name = "CODES.npz")]
    pub output: Option<PathBuf>,
    /// How pictures are read.
    #[command(flatten)]
    pub picture: PictureArgs,
    /// What the pictures are made of.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// The problem that is solved.
    #[command(flatten)]
    pub problem: ProblemArgs,
    /// How it is solved.
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Only say what would run and the memory it needs.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// The true picture, to score the reconstruction (PSNR, SSIM); once for each picture, in the same order.
    #[arg(long, value_name = "ORIGINAL", help_heading = "Output")]
    pub reference: Vec<PathBuf>,
    /// Largest value of a picture, for the scores [default: the scale].
    #[arg(long, value_name = "P", help_heading = "Output")]
    pub peak: Option<f64>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `decode`.
#[derive(Args)]
pub struct DecodeArgs {
    /// Codes written by encode.
    #[arg(value_name = "CODES.npz")]
    pub codes: PathBuf,
    /// Picture to write; its name's ending says the format.
    #[arg(short, long, value_name = "IMAGE")]
    pub output: PathBuf,
    /// Type of its samples [default: that of the picture the codes were made from].
    #[arg(long, value_name = "DEPTH", value_parser = one_of::<Depth, _>(["u8", "u16", "i16", "i24", "i32", "f32", "f64"]))]
    pub depth: Option<Depth>,
    /// What the full range of integer samples stands for [default: as in the codes].
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// Dictionary: a .npy or .npz file, or dct.
    #[arg(value_name = "DICT", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: DictionaryChoice,
    /// Box of an atom of dct: 16, 8x8 or 5x5x5.
    #[arg(long, value_name = "SIZE", default_value = "8x8")]
    pub size: Size,
    /// Picture to write (png).
    #[arg(short, long, value_name = "MOSAIC.png")]
    pub output: PathBuf,
    /// Atoms in a row [default: as wide as high].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub columns: Option<u16>,
    /// Pixels drawn for a sample [default: as many as make atoms easy to see].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub zoom: Option<u16>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `doctor`.
#[derive(Args)]
pub struct DoctorArgs {
    /// Answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// How pictures and masks are read.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct PictureArgs {
    /// Integer pictures: their full range maps to 0..S (numbers of float files are taken as they are).
    #[arg(long, value_name = "S", default_value_t = 255.0)]
    pub scale: f64,
    /// Order of the axes [default: hw, and hwc for colour pictures].
    #[arg(long, value_name = "AXES", value_parser = one_of::<Axes, _>(["t", "hw", "hwc", "chw", "dhw", "dhwc"]))]
    pub axes: Option<Axes>,
    /// Mask of what is observed (non-zero = observed); transparent and NaN pixels are missing too.
    #[arg(long, value_name = "MASK", conflicts_with = "holes")]
    pub known: Option<PathBuf>,
    /// Mask of what is missing (non-zero = missing).
    #[arg(long, value_name = "MASK")]
    pub holes: Option<PathBuf>,
}

/// What pictures are made of.
#[derive(Args)]
#[command(next_help_heading = "Dictionary")]
pub struct DictionaryArgs {
    /// Dictionary: a .npy or .npz file, or dct (cosines).
    #[arg(long, value_name = "FILE|dct", default_value = "dct", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: DictionaryChoice,
    /// Box of an atom of dct: 16, 8x8 or 5x5x5 [default: by the number of axes].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
}

/// The problem that is solved.
#[derive(Args)]
#[command(next_help_heading = "Problem")]
pub struct ProblemArgs {
    /// Penalty on the codes, in units of the signal.
    #[arg(long, value_name = "X", conflicts_with = "relative_penalty", allow_negative_numbers = true)]
    pub penalty: Option<f64>,
    /// Penalty as a share of penalty_max, the smallest one with an all-zero answer [default: 0.05].
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub relative_penalty: Option<f64>,
    /// Layer taken off before coding: local-mean, smooth, smooth:WEIGHT or none.
    #[arg(long, value_name = "BASE", default_value_t = Base::LocalMean)]
    pub base: Base,
    /// What lies beyond the edge.
    #[arg(long, value_name = "BORDER", default_value_t = Border::Free, value_parser = one_of::<Border, _>(["free", "zero", "periodic"]))]
    pub border: Border,
    /// Codes must not be negative.
    #[arg(long)]
    pub nonnegative: bool,
    /// Penalty weight of every atom (npy, one number an atom).
    #[arg(long, value_name = "FILE")]
    pub atom_weights: Option<PathBuf>,
    /// Penalty weight of every position (a picture or array of the signal's or the positions' shape).
    #[arg(long, value_name = "FILE")]
    pub penalty_map: Option<PathBuf>,
    /// Cap on the non-zero codes of a needle: one number, or a map as for --penalty-map.
    #[arg(long, value_name = "K|FILE", value_parser = OsStringValueParser::new().map(Cap::from))]
    pub max_nonzeros: Option<Cap>,
}

/// How the problem is solved.
#[derive(Args)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// First codes: zero, spread, or codes written earlier (a folder of them for several pictures).
    #[arg(long, value_name = "zero|spread|CODES.npz", default_value = "zero", value_parser = OsStringValueParser::new().map(StartChoice::from))]
    pub start: StartChoice,
    /// Order in which needles are visited.
    #[arg(long, value_enum, default_value_t = ScheduleChoice::Tiles)]
    pub schedule: ScheduleChoice,
    /// Solver of one needle.
    #[arg(long, value_enum, default_value_t = LocalChoice::Coordinate)]
    pub local: LocalChoice,
    /// Positions a tile has along an axis [default: by the number of axes].
    #[arg(long, value_name = "N")]
    pub tile: Option<usize>,
    /// Relative duality gap to reach.
    #[arg(long, value_name = "T", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub tolerance: f64,
    /// Sweeps over all needles allowed.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_sweeps: usize,
    /// Seconds allowed.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Precision of the arithmetic.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    pub precision: Precision,
    /// Worker threads; 0 means all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// What does the work.
    #[arg(long, value_enum, default_value_t = EngineChoice::Cpu)]
    pub engine: EngineChoice,
    /// Seed of random orders.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Memory the solver may use, such as 500M or 2G (powers of 1024).
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
}

/// How the outcome is told.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct TellingArgs {
    /// The report as JSON on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Only errors.
    #[arg(long)]
    pub quiet: bool,
}
