//! Options shared by several commands.

use crate::values::{
    Bytes, Cap, DictionaryChoice, EngineChoice, HexColour, InitChoice, LocalChoice, MethodChoice,
    Precision, ScheduleChoice, Size, Sizes, StartChoice, one_of,
};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use lobcod::Border;
use lobcod::base::Base;
use lobcod::learn::{Decay, Step};
use lobcod::pursuit::Loss;
use lobcod_io::Axes;
use std::path::PathBuf;

/// Signal value of the full integer range unless `--scale` is given.
pub const USUAL_SCALE: f64 = 255.0;

/// One image or several, each processed separately.
#[derive(Args, Clone)]
pub struct ImagesArgs {
    /// Image (png, jpeg, tiff) or array (npy); - reads standard input.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// More images, folders or patterns such as '*.jpg'.
    ///
    /// With several images the outputs are folders. Masks, references and reports may be folders
    /// too, or patterns with {} for the name of the image.
    #[arg(value_name = "IMAGE")]
    pub more: Vec<PathBuf>,
}

/// Scale of integer images.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub struct ScaleArgs {
    /// Signal value of the full range of integer images [default: 255].
    ///
    /// Integer samples map to 0..S. Values in float files are used unchanged; there, S is the
    /// white level for scores and integer output [default: inferred from the values].
    #[arg(long = "scale", id = "scale", value_name = "S")]
    pub given: Option<f64>,
}

impl ScaleArgs {
    /// Signal value of the full integer range.
    pub fn value(&self) -> f64 {
        self.given.unwrap_or(USUAL_SCALE)
    }
}

/// Reading of images and masks.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Scale of integer images.
    #[command(flatten)]
    pub scale: ScaleArgs,
    /// Order of the axes [default: hw; hwc for colour images].
    ///
    /// t is time, d depth, h height, w width and c channels. With time before other axes (thw,
    /// thwc, tdhw, tdhwc) each time point is an image of its own, and outputs are folders; dhw
    /// reads time as a third axis of one volume.
    #[arg(
        long,
        value_name = "AXES",
        value_parser = one_of::<Axes, _>(["t", "hw", "hwc", "chw", "dhw", "dhwc", "thw", "thwc", "tdhw", "tdhwc"])
    )]
    pub axes: Option<Axes>,
    /// Mask of observed pixels (non-zero = observed).
    ///
    /// In antialiased masks, only pixels near white are observed. Transparent and NaN pixels of
    /// the image are always missing.
    #[arg(long, value_name = "MASK", conflicts_with = "holes")]
    pub known: Option<PathBuf>,
    /// Mask of missing pixels (non-zero = missing).
    ///
    /// In antialiased masks, all pixels that are not near black are missing. Transparent and NaN
    /// pixels of the image are always missing.
    #[arg(long, value_name = "MASK")]
    pub holes: Option<PathBuf>,
    /// Colour that marks missing pixels in the image itself, such as '#ff0000'.
    #[arg(long, alias = "holes-color", value_name = "HEX")]
    pub holes_colour: Option<HexColour>,
}

/// The dictionary.
#[derive(Args, Clone)]
#[command(next_help_heading = "Dictionary")]
pub struct DictionaryArgs {
    /// Dictionary: a .npy or .npz file; natural, natural-12x12-128 or natural-rgb-8x8-96, learnt
    /// from photographs; or dct, cosines [default: natural for images; dct for other signals or
    /// with --size].
    #[arg(
        long,
        value_name = "FILE|natural|dct",
        value_parser = OsStringValueParser::new().map(DictionaryChoice::from)
    )]
    pub dictionary: Option<DictionaryChoice>,
    /// Atom size.
    #[command(flatten)]
    pub size: SizeArgs,
}

impl DictionaryArgs {
    /// The file the dictionary is read from.
    pub fn file(&self) -> Option<&PathBuf> {
        self.dictionary.as_ref().and_then(DictionaryChoice::file)
    }
}

/// Size of generated atoms.
#[derive(Args, Clone)]
#[command(next_help_heading = "Dictionary")]
pub struct SizeArgs {
    /// Atom size for dct: 16, 8x8 or 5x5x5 [default: depends on the number of axes].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
}

/// The penalty, absolute or relative.
#[derive(Args, Clone)]
#[command(next_help_heading = "Problem")]
pub struct PenaltyArgs {
    /// Weight of the l1 penalty, in signal units.
    #[arg(
        long,
        value_name = "X",
        conflicts_with = "relative_penalty",
        allow_negative_numbers = true
    )]
    pub penalty: Option<f64>,
    /// Penalty as a fraction of penalty_max, the smallest penalty for which all codes are zero
    /// [default: 0.05].
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub relative_penalty: Option<f64>,
}

/// The smooth layer of a separation.
#[derive(Args, Clone)]
#[command(next_help_heading = "Problem")]
pub struct SmoothArgs {
    /// Weight of the squared gradient of the smooth layer.
    #[arg(
        long,
        value_name = "MU",
        default_value_t = Base::DEFAULT_MU,
        allow_negative_numbers = true
    )]
    pub smooth: f64,
}

/// The optimization problem.
#[derive(Args, Clone)]
#[command(next_help_heading = "Problem")]
pub struct ProblemArgs {
    /// The penalty.
    #[command(flatten)]
    pub penalty: PenaltyArgs,
    /// Base layer: local-mean, smooth or smooth:WEIGHT is subtracted before coding, joint-smooth or
    /// joint-smooth:WEIGHT is estimated together with the codes; or none.
    #[arg(long, value_name = "BASE", default_value_t = Base::LocalMean)]
    pub base: Base,
    /// Boundary condition: unconstrained (free), zeros (zero), wrap-around (periodic) or only
    /// positions whose atoms are inside the signal (inside).
    #[arg(
        long,
        value_name = "BORDER",
        default_value_t = Border::Free,
        value_parser = one_of::<Border, _>(["free", "zero", "periodic", "inside"])
    )]
    pub border: Border,
}

impl ProblemArgs {
    /// The base layer, if it is estimated together with the codes.
    pub fn joint_base(&self) -> Option<String> {
        (self.base.joint_weight() > 0.0).then(|| self.base.to_string())
    }
}

/// Constraints on the codes.
#[derive(Args, Clone)]
#[command(next_help_heading = "Problem")]
pub struct CodesArgs {
    /// Require non-negative codes.
    #[arg(long)]
    pub nonnegative: bool,
    /// Penalty weight of each atom (npy, one number per atom).
    #[arg(long, value_name = "FILE")]
    pub atom_weights: Option<PathBuf>,
    /// Penalty weight of each position (an image or array with the shape of the signal or of the
    /// positions).
    #[arg(long, value_name = "FILE")]
    pub penalty_map: Option<PathBuf>,
    /// Penalty weight of every coefficient (npy: atoms, then positions); 0 leaves it unpenalised,
    /// inf forbids it.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Weight MU of a quadratic term MU/2 ||a||^2 (elastic net).
    #[arg(
        long,
        value_name = "MU",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub elastic: f64,
    /// Weight MU of the l2,1 norm over the channels, next to the l1 penalty: channels coded with a
    /// one-channel dictionary share their support. --penalty may then be 0.
    #[arg(
        long,
        value_name = "MU",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub joint: f64,
    /// Loss of the residual: squares, l1, huber:DELTA (linear beyond DELTA, for outliers) or
    /// cauchy:SCALE (by reweighting, for strong outliers).
    #[arg(long, value_name = "LOSS", default_value_t = Loss::Squares, hide_default_value = true)]
    pub loss: Loss,
    /// Constrained form: the smallest l1 norm whose residual has at most this norm, instead of a
    /// penalty.
    #[arg(
        long,
        value_name = "EPS",
        conflicts_with_all = ["penalty", "relative_penalty"],
        allow_negative_numbers = true
    )]
    pub max_error: Option<f64>,
    /// Replace the codes by least squares on their support.
    #[arg(long)]
    pub debias: bool,
    /// Maximum number of non-zeros per needle: one number, or a map as for --penalty-map.
    #[arg(long, value_name = "K|FILE", value_parser = OsStringValueParser::new().map(Cap::from))]
    pub max_nonzeros: Option<Cap>,
}

impl CodesArgs {
    /// The given options, for reports.
    pub fn words(&self) -> Vec<String> {
        let flags = [
            (self.nonnegative, "nonnegative"),
            (self.atom_weights.is_some(), "atom-weights"),
            (self.penalty_map.is_some(), "penalty-map"),
            (self.weights.is_some(), "weights"),
            (self.max_nonzeros.is_some(), "max-nonzeros"),
            (self.debias, "debias"),
        ];
        let given = flags.into_iter().filter(|(given, _)| *given);
        let mut words: Vec<String> = given.map(|(_, word)| word.into()).collect();
        let numbers = [("elastic", self.elastic), ("joint", self.joint)];
        let numbers = numbers.into_iter().filter(|(_, weight)| *weight != 0.0);
        words.extend(numbers.map(|(name, weight)| format!("{name} {weight}")));
        words.extend(self.max_error.map(|bound| format!("max-error {bound}")));
        words.extend((self.loss != Loss::Squares).then(|| format!("loss {}", self.loss)));
        words
    }
}

/// The solver.
#[derive(Args, Clone)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// Initial codes: zero, spread, or codes from an earlier run (a folder if there are several
    /// images).
    #[arg(
        long,
        value_name = "zero|spread|CODES.npz",
        default_value = "zero",
        value_parser = OsStringValueParser::new().map(StartChoice::from)
    )]
    pub start: StartChoice,
    /// Order in which needles are visited.
    #[arg(long, value_enum, default_value_t = ScheduleChoice::Tiles)]
    pub schedule: ScheduleChoice,
    /// Solver for a single needle.
    #[arg(long, value_enum, default_value_t = LocalChoice::Coordinate)]
    pub local: LocalChoice,
    /// Tile size, in positions along each axis [default: depends on the number of axes].
    #[arg(long, value_name = "N")]
    pub tile: Option<usize>,
    /// Maximum number of sweeps over all needles.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_sweeps: usize,
}

/// Default number of atoms.
const USUAL_ATOMS: usize = 81;

/// Dictionary learning.
#[derive(Args, Clone)]
#[command(next_help_heading = "Learning")]
pub struct LearningArgs {
    /// Number of atoms [default: 81, or as in the --init file].
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub atoms: Option<u32>,
    /// Atom size: 16, 8x8 or 5x5x5, or several sizes with the number of atoms of each, as in
    /// 8x8:16,12x12:32 [default: depends on the number of axes, or as in the --init file].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Sizes>,
    /// Learning method.
    #[arg(long, value_enum, default_value_t = MethodChoice::Atomwise)]
    pub method: MethodChoice,
    /// Step rule for --method stochastic [default: paper; with --rank 1 adagrad].
    #[arg(
        long,
        value_name = "RULE",
        value_parser = one_of::<Step, _>(["paper", "sgd", "momentum", "adagrad", "adadelta", "adam"])
    )]
    pub step: Option<Step>,
    /// Step size for --method stochastic [default: depends on the rule].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub step_size: Option<f64>,
    /// Step decay for --method stochastic: none, online, online:N or exponential:F [default:
    /// none].
    #[arg(long, value_name = "RULE")]
    pub decay: Option<Decay>,
    /// Number of passes over all images [default: 40; with --stream 1].
    #[arg(long, value_name = "N")]
    pub passes: Option<usize>,
    /// Learn from one image at a time, for collections larger than memory.
    ///
    /// Only one image and the model are kept in memory, and the influence of earlier images
    /// decays. A relative penalty refers to the first image, and --init patches takes its
    /// patches from it. There is no final pursuit over the whole collection: --tolerance has
    /// no effect, gap and relative_gap are null in --json, and the objective is the sum of
    /// each image's cost the last time it was used. A checkpoint counts the images processed,
    /// so more images may be appended when it is resumed.
    #[arg(long)]
    pub stream: bool,
    /// Stop learning when the objective reaches F (not with --stream).
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub target_objective: Option<f64>,
    /// Initial atoms: random values, patches of the images (of the first image with --stream), dct
    /// (cosines), or the atoms of a .npy or .npz file.
    #[arg(
        long,
        value_name = "random|patches|dct|FILE",
        default_value = "random",
        value_parser = OsStringValueParser::new().map(InitChoice::from)
    )]
    pub init: InitChoice,
}

impl LearningArgs {
    /// Number of initial atoms that are generated; an error if two options disagree.
    pub fn atoms(&self) -> anyhow::Result<usize> {
        let (given, sizes) =
            (self.atoms.map(|n| n as usize), self.size.as_ref().and_then(Sizes::atoms));
        if let (Some(given), Some(sum)) = (given, sizes) {
            anyhow::ensure!(
                given == sum,
                "--atoms is {given}, but --size has {sum} atoms; remove --atoms"
            );
        }
        Ok(given.or(sizes).unwrap_or(USUAL_ATOMS))
    }

    /// Number of passes over all images.
    pub fn passes(&self) -> usize {
        self.passes.unwrap_or(if self.stream { 1 } else { 40 })
    }

    /// Name of the learning method, for reports.
    pub fn method_name(&self) -> &'static str {
        if self.stream { "stream" } else { self.method.name() }
    }

    /// An option that was given but has no effect with the chosen method.
    pub fn unused_option(&self) -> Option<&'static str> {
        let given = [
            ("--step", self.step.is_some()),
            ("--step-size", self.step_size.is_some()),
            ("--decay", self.decay.is_some()),
        ];
        given
            .iter()
            .find(|(_, given)| *given && self.method != MethodChoice::Stochastic)
            .map(|(option, _)| *option)
    }
}

/// Accuracy, limits and resources.
#[derive(Args, Clone)]
#[command(next_help_heading = "Solver")]
pub struct RunArgs {
    /// Stop when the relative duality gap is at most T.
    #[arg(long, value_name = "T", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub tolerance: f64,
    /// Stop after S seconds and keep the best result so far.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Floating-point precision.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    pub precision: Precision,
    /// Threads.
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Where to run the computation.
    #[arg(long, value_enum, default_value_t = EngineChoice::Cpu)]
    pub engine: EngineChoice,
    /// Seed for the random number generator.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Memory limit for the process, such as 500M or 2G [default: 80 % of free memory].
    ///
    /// Units are powers of 1024. An image that needs more memory is encoded in bands where
    /// possible, and refused otherwise.
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
}

/// Threads.
#[derive(Args, Clone)]
#[command(next_help_heading = "Solver")]
pub struct ThreadsArgs {
    /// Number of threads; 0 chooses by the size of the input, up to all cores.
    #[arg(long = "threads", id = "threads", value_name = "N", default_value_t = 0)]
    pub count: usize,
}

/// Checkpoints, for resuming an interrupted run.
#[derive(Args, Clone)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Save the state of the run to a file, so that it can be resumed.
    ///
    /// The file is rewritten every few seconds, and once more when a limit or Ctrl-C ends the run.
    /// A run that converges leaves the last checkpoint in place.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Resume from a checkpoint; the result is that of an uninterrupted run.
    ///
    /// Images and options must match those of the checkpoint, except for threads, limits and
    /// outputs. The file may be the same as that of --checkpoint.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

/// Console output.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct ConsoleArgs {
    /// Print the report as JSON to standard output, and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long)]
    pub quiet: bool,
    /// Log to standard error: files read, every sweep, files written.
    #[arg(short, long)]
    pub verbose: bool,
}

/// HTML report.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct PageArgs {
    /// Write a self-contained HTML report with images, curves and parameters.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// Dry run.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct PlanArgs {
    /// Print what would run and the memory and time it needs, without running it.
    #[arg(long)]
    pub dry_run: bool,
}

/// Peak value of scores.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct PeakArgs {
    /// Peak value for PSNR and SSIM [default: the white level, see --scale].
    #[arg(long, value_name = "P")]
    pub peak: Option<f64>,
}

/// Scoring against a reference.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct ScoringArgs {
    /// Ground truth for scoring the result (PSNR, SSIM).
    #[arg(long, value_name = "ORIGINAL")]
    pub reference: Option<PathBuf>,
    /// Peak value of scores.
    #[command(flatten)]
    pub score: PeakArgs,
}
