//! Options that verbs share.

use crate::values::{
    Bytes, Cap, DictionaryChoice, EngineChoice, InitChoice, LocalChoice, MethodChoice, Precision, ScheduleChoice, Size,
    StartChoice, one_of,
};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use lobcod::base::Base;
use lobcod::{Border, Decay, Step};
use lobcod_image::Axes;
use std::path::PathBuf;

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
    /// Dictionary: a .npy or .npz file, natural, natural-12x12-128 or natural-rgb-8x8-96 (learnt from photographs), or dct (cosines)
    /// [default: natural for pictures, otherwise or with --size dct].
    #[arg(long, value_name = "FILE|natural|dct", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: Option<DictionaryChoice>,
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
    /// What lies beyond the edge: anything (free), zeros (zero) or the opposite edge (periodic).
    #[arg(long, value_name = "BORDER", default_value_t = Border::Free, value_parser = one_of::<Border, _>(["free", "zero", "periodic"]))]
    pub border: Border,
}

/// What else is asked of the codes.
#[derive(Args)]
#[command(next_help_heading = "Problem")]
pub struct CodesArgs {
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

/// How the codes are found.
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
    /// Sweeps over all needles allowed.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_sweeps: usize,
}

/// How dictionaries are learnt.
#[derive(Args)]
#[command(next_help_heading = "Learning")]
pub struct LearningArgs {
    /// Number of atoms [default: 81, or those of the file of --init].
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub atoms: Option<u32>,
    /// Box of an atom: 16, 8x8 or 5x5x5 [default: by the number of axes, or that of the file of --init].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// Way to learn.
    #[arg(long, value_enum, default_value_t = MethodChoice::Atomwise)]
    pub method: MethodChoice,
    /// Step of --method stochastic [default: paper].
    #[arg(long, value_name = "RULE", value_parser = one_of::<Step, _>(["paper", "sgd", "sgd-literal", "momentum", "adagrad", "adadelta", "adam"]))]
    pub step: Option<Step>,
    /// Length of that step [default: by the rule].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub step_size: Option<f64>,
    /// How the steps of --method stochastic shrink: none, online, online:N or exponential:F [default: none].
    #[arg(long, value_name = "RULE")]
    pub decay: Option<Decay>,
    /// Passes over all pictures [default: 40; with --stream 1].
    #[arg(long, value_name = "N")]
    pub passes: Option<usize>,
    /// Read one picture at a time and learn from it before the next, for sets larger than memory.
    ///
    /// Memory holds one picture and the model, and what was seen long ago fades. A relative penalty refers to the first picture,
    /// and --init patches takes its patches from it. No pursuit over the whole set ends the learning: --tolerance has no effect,
    /// gap and relative_gap are null in --json, and the objective is the sum of what each picture cost when it was learnt from
    /// for the last time. A checkpoint counts the pictures seen, so more may be named after them when it is resumed.
    #[arg(long)]
    pub stream: bool,
    /// Objective at which the learning ends (not with --stream).
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub target_objective: Option<f64>,
    /// First atoms: random numbers, patches of the pictures (of the first one with --stream), dct (cosines), or those of a .npy or .npz file.
    #[arg(long, value_name = "random|patches|dct|FILE", default_value = "random", value_parser = OsStringValueParser::new().map(InitChoice::from))]
    pub init: InitChoice,
}

impl LearningArgs {
    /// Passes over all pictures.
    pub fn passes(&self) -> usize {
        self.passes.unwrap_or(if self.stream { 1 } else { 40 })
    }

    /// What to call the way to learn.
    pub fn method_name(&self) -> &'static str {
        if self.stream { "stream" } else { self.method.name() }
    }

    /// An option that was given although the method has no use for it.
    pub fn idle_option(&self) -> Option<&'static str> {
        let given =
            [("--step", self.step.is_some()), ("--step-size", self.step_size.is_some()), ("--decay", self.decay.is_some())];
        given.iter().find(|(_, given)| *given && self.method != MethodChoice::Stochastic).map(|(option, _)| *option)
    }
}

/// How the work is run, and how far.
#[derive(Args)]
#[command(next_help_heading = "Solver")]
pub struct RunArgs {
    /// Relative duality gap to reach.
    #[arg(long, value_name = "T", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub tolerance: f64,
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
    /// Seed of all that is drawn at random.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Memory of the whole process, such as 500M or 2G (powers of 1024); work that needs more is refused, or coded in bands.
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
}

/// What a run that is broken off leaves behind, and where it goes on.
#[derive(Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Keep the run in a file while it works, to go on from if it is broken off.
    ///
    /// The file is written anew every few seconds, and once more when a limit or Ctrl-C ends the run. A run that converges
    /// leaves it as it is.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from a checkpoint, to the answer of the unbroken run.
    ///
    /// Pictures and options must be those the checkpoint was made with, but for threads, limits and outputs. The file may be
    /// that of --checkpoint.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

/// How the outcome is told.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct TellingArgs {
    /// The report as JSON on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub quiet: bool,
    /// Keep a log on standard error: what is read, every sweep, what is written.
    #[arg(short, long)]
    pub verbose: bool,
}
