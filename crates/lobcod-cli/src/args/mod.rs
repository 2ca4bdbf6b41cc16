//! The command tree: commands, their options and examples. Each command is implemented in its own
//! module.

mod groups;
mod inpaint;
mod manual;
mod tasks;

pub use inpaint::InpaintArgs;
pub use manual::{CompletionsArgs, ManualArgs};

pub use groups::{
    CheckpointArgs, CodesArgs, ConsoleArgs, DictionaryArgs, InputArgs, LearningArgs, ProblemArgs,
    RunArgs, SolverArgs, USUAL_SCALE,
};

pub use tasks::{CompareArgs, DenoiseArgs, FuseArgs, ScoringArgs, SeparateArgs};

use crate::output::paths::STDOUT;
use crate::values::{DictionaryChoice, MethodChoice, Size, one_of};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use lobcod_io::Depth;
use std::path::{Path, PathBuf};

/// Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.
///
/// Represents images, volumes and sounds as sums of a few small patterns, the atoms of a
/// dictionary, and reports an upper bound on how far each solution is from the optimum.
#[derive(Parser)]
#[command(
    name = "lobcod",
    version,
    arg_required_else_help = true,
    after_help = "Start with: lobcod demo"
)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

impl Command {
    /// The run options of a command that has them.
    pub fn run_args(&mut self) -> Option<&mut RunArgs> {
        match self {
            Command::Encode(args) => Some(&mut args.run),
            Command::Learn(args) => Some(&mut args.run),
            Command::Inpaint(args) => Some(&mut args.run),
            Command::Fuse(args) => Some(&mut args.run),
            Command::Denoise(args) => Some(&mut args.run),
            Command::Separate(args) => Some(&mut args.run),
            _ => None,
        }
    }

    /// The console options of a command that has them.
    pub fn console(&self) -> Option<&ConsoleArgs> {
        match self {
            Command::Demo(args) => Some(&args.console),
            Command::Encode(args) => Some(&args.console),
            Command::Learn(args) => Some(&args.console),
            Command::Inpaint(args) => Some(&args.console),
            Command::Decode(args) => Some(&args.console),
            Command::Fuse(args) => Some(&args.console),
            Command::Denoise(args) => Some(&args.console),
            Command::Separate(args) => Some(&args.console),
            Command::Compare(args) => Some(&args.console),
            Command::Show(args) => Some(&args.console),
            Command::Doctor(_) | Command::Completions(_) | Command::Manual(_) => None,
        }
    }
}

impl Cli {
    /// Parses the command line; exits with a usage message if options contradict each other.
    pub fn parse_or_exit() -> Self {
        let mut cli = Self::parse();
        let outputs = match &cli.command {
            Command::Encode(args) => (args.console.json, args.output.as_deref()),
            Command::Learn(args) => (args.console.json, Some(args.output.as_path())),
            Command::Inpaint(args) => (args.console.json, Some(args.output.as_path())),
            Command::Decode(args) => (args.console.json, Some(args.output.as_path())),
            Command::Show(args) => (args.console.json, Some(args.output.as_path())),
            Command::Demo(args) => (args.console.json, Some(args.output.as_path())),
            Command::Fuse(args) => (args.console.json, Some(args.output.as_path())),
            Command::Denoise(args) => (args.console.json, Some(args.output.as_path())),
            Command::Compare(args) => (args.console.json, args.output.as_deref()),
            Command::Separate(args) => (args.console.json, Some(args.smooth_out.as_path())),
            Command::Doctor(_) | Command::Completions(_) | Command::Manual(_) => (false, None),
        };
        if outputs == (true, Some(Path::new(STDOUT))) {
            let message = "--json and -o - both write to standard output; give a file name with -o";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        if outputs.1 == Some(Path::new(STDOUT)) {
            cli.keep_stdout_for_image();
        }
        if let Command::Learn(args) = &cli.command
            && let Some(message) = args.conflict()
        {
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        cli
    }

    /// Suppresses the report when the image is written to standard output.
    fn keep_stdout_for_image(&mut self) {
        let (console, scoring) = match &mut self.command {
            Command::Inpaint(args) => (&mut args.console, Some(&args.scoring)),
            Command::Fuse(args) => (&mut args.console, Some(&args.scoring)),
            Command::Denoise(args) => (&mut args.console, Some(&args.scoring)),
            Command::Decode(args) => (&mut args.console, None),
            Command::Show(args) => (&mut args.console, None),
            Command::Compare(args) => (&mut args.console, None),
            _ => return,
        };
        if scoring.is_some_and(|scoring| scoring.reference.is_some()) {
            let message = "--reference scores the written file, but -o - writes none; give a file name with -o";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        console.quiet = true;
    }
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run every main task on built-in images and write an HTML report.
    #[command(
        after_help = "Examples:\n  lobcod demo\n  lobcod demo -o somewhere\n  lobcod demo --only-examples -o examples    example files for the other commands"
    )]
    Demo(DemoArgs),
    /// Encode images as sparse sums of atoms, with a certificate of optimality.
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<EncodeArgs>),
    /// Learn a dictionary from images.
    #[command(after_help = LEARN_EXAMPLES)]
    Learn(Box<LearnArgs>),
    /// Fill in missing pixels.
    #[command(after_help = inpaint::EXAMPLES)]
    Inpaint(Box<InpaintArgs>),
    /// Reconstruct an image from codes.
    #[command(after_help = "Example:\n  lobcod decode codes.npz -o image.png")]
    Decode(DecodeArgs),
    /// Fuse several images of a scene into one that is in focus or well exposed everywhere.
    #[command(after_help = tasks::FUSE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.5")))]
    Fuse(Box<FuseArgs>),
    /// Remove noise from an image.
    #[command(after_help = tasks::DENOISE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.01")))]
    Denoise(Box<DenoiseArgs>),
    /// Split an image into a smooth layer and a texture layer.
    #[command(after_help = tasks::SEPARATE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.01")))]
    Separate(Box<SeparateArgs>),
    /// Compare two images: PSNR, SSIM and a difference image.
    #[command(
        after_help = "Examples:\n  lobcod compare a.png b.png\n  lobcod compare a.png b.png -o difference.png --json\n  lobcod compare a.png b.png --report report.html        both images under a slider"
    )]
    Compare(CompareArgs),
    /// Draw the atoms of a dictionary, or show how often codes use them.
    #[command(
        after_help = "Examples:\n  lobcod show dictionary.npz -o atoms.png\n  lobcod show natural -o atoms.png\n  lobcod show dct --size 11x11 -o atoms.png\n  lobcod show codes.npz -o atoms.png                   how often each atom is used"
    )]
    Show(ShowArgs),
    /// Show what this machine supports, and how to enable what is missing.
    #[command(after_help = "Example:\n  lobcod doctor")]
    Doctor(DoctorArgs),
    /// Print a shell completion script.
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write man pages: one for the program and one for each command.
    #[command(after_help = "Example:\n  lobcod manual -o ~/.local/share/man/man1")]
    Manual(ManualArgs),
}

const ENCODE_EXAMPLES: &str = "Examples:
  lobcod encode photo.png -o codes.npz
  lobcod encode photo.png --dictionary atoms.npz --penalty 20 --json
  lobcod encode a.png b.png c.png -o codes/            several images as one problem
  lobcod encode damaged.png --holes mask.png -o codes.npz
  lobcod encode sound.wav --axes t --size 64 -o codes.npz
  lobcod encode photo.png --report report.html         an HTML report
  lobcod encode big.tif --dry-run                      estimate memory and time
  lobcod encode big.tif -o big.npz --max-memory 2G     in bands, if the image needs more
  lobcod encode big.tif -o big.npz --checkpoint big.checkpoint
  lobcod encode big.tif -o big.npz --resume big.checkpoint";

const LEARN_EXAMPLES: &str = "Examples:
  lobcod learn photos/ -o atoms.npz                    all images in a folder
  lobcod learn photo.png -o atoms.npz --atoms 128 --size 12x12 --penalty 20
  lobcod learn photos/ -o atoms.npz --time-limit 60 --init patches
  lobcod learn photos/ -o better.npz --init atoms.npz  start from existing atoms
  lobcod learn damaged.png --holes mask.png -o atoms.npz
  lobcod learn photos/ -o atoms.npz --report report.html
  lobcod learn photos/ -o atoms.npz --checkpoint run.checkpoint
  lobcod learn photos/ -o atoms.npz --resume run.checkpoint --passes 80
  lobcod learn archive/ -o atoms.npz --stream          one image in memory at a time";

/// Options of `demo`.
#[derive(Args, Clone)]
pub struct DemoArgs {
    /// Folder for the images and the HTML report; created if it does not exist.
    #[arg(short, long, value_name = "DIR", default_value = "lobcod-demo")]
    pub output: PathBuf,
    /// Write only the example files (images, a sound and a focus stack) for trying the other
    /// commands.
    #[arg(long)]
    pub only_examples: bool,
    /// Worker threads; 0 means all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Options of `encode`.
#[derive(Args)]
pub struct EncodeArgs {
    /// Images (png, jpeg, tiff), arrays (npy) or sounds (wav).
    ///
    /// Folders and patterns such as 'x*.png' are expanded; - reads standard input. Several images
    /// are solved together as one problem.
    #[arg(required = true, value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Output file for the codes (.npz), or a folder if there are several images.
    #[arg(short, long, value_name = "CODES.npz")]
    pub output: Option<PathBuf>,
    /// How images are read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The dictionary.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// The optimization problem.
    #[command(flatten)]
    pub problem: ProblemArgs,
    /// Constraints on the codes.
    #[command(flatten)]
    pub codes: CodesArgs,
    /// The solver.
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Checkpoints, for resuming an interrupted run.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Report what would run and the memory and time it needs, without running it.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Ground truth for scoring the reconstruction (PSNR, SSIM). Repeat it once per image, in the
    /// same order.
    #[arg(long, value_name = "ORIGINAL", help_heading = "Output")]
    pub reference: Vec<PathBuf>,
    /// Peak value for PSNR and SSIM [default: the scale].
    #[arg(long, value_name = "P", help_heading = "Output")]
    pub peak: Option<f64>,
    /// Write a self-contained HTML report with images, curves and parameters.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Options of `learn`.
#[derive(Args)]
pub struct LearnArgs {
    /// Images (png, jpeg, tiff), arrays (npy) or sounds (wav), or folders of them.
    ///
    /// Folders and patterns such as 'x*.png' are expanded and sorted by name; - reads standard
    /// input.
    #[arg(required = true, value_name = "IMAGE|DIR")]
    pub images: Vec<PathBuf>,
    /// Output file for the dictionary: .npz, which also records how it was learnt, or .npy.
    #[arg(short, long, value_name = "DICT.npz")]
    pub output: PathBuf,
    /// How images are read.
    #[command(flatten)]
    pub input: InputArgs,
    /// How the dictionary is learnt.
    #[command(flatten)]
    pub learning: LearningArgs,
    /// The optimization problem.
    #[command(flatten)]
    pub problem: ProblemArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Checkpoints, for resuming an interrupted run.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Report what would run and the memory and time it needs, without running it.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Peak value for the PSNR of each pass (not with --stream) [default: the scale].
    #[arg(long, value_name = "P", help_heading = "Output")]
    pub peak: Option<f64>,
    /// Write a self-contained HTML report with atoms, images, curves and parameters.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl LearnArgs {
    /// Describes the first pair of options that conflict.
    fn conflict(&self) -> Option<String> {
        let learning = &self.learning;
        if learning.stream && learning.method != MethodChoice::Atomwise {
            let method = learning.method.name();
            return Some(format!(
                "--stream uses its own learning method and cannot be combined with --method {method}; remove one of the two"
            ));
        }
        let whole_set_only = [
            ("--target-objective", learning.target_objective.is_some()),
            ("--peak", self.peak.is_some()),
        ];
        if let Some((option, _)) =
            whole_set_only.iter().find(|(_, given)| *given && learning.stream)
        {
            return Some(format!(
                "{option} has no meaning with --stream, which never sees all images at once; remove one of the two"
            ));
        }
        let unused =
            |option| format!("{option} requires --method stochastic; add it, or remove {option}");
        learning.unused_option().map(unused)
    }
}

/// Options of `decode`.
#[derive(Args)]
pub struct DecodeArgs {
    /// Codes written by encode.
    #[arg(value_name = "CODES.npz")]
    pub codes: PathBuf,
    /// Output image: png, jpeg, tiff, npy, npz or wav, chosen by the file extension; - writes a png
    /// to standard output.
    #[arg(short, long, value_name = "IMAGE")]
    pub output: PathBuf,
    /// Sample type of the output [default: that of the encoded image].
    #[arg(long, value_name = "DEPTH", value_parser = one_of::<Depth, _>(["u8", "u16", "i16", "i24", "i32", "f32", "f64"]))]
    pub depth: Option<Depth>,
    /// Signal value that corresponds to the full range of integer samples [default: as stored in
    /// the codes].
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Options of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// Dictionary to draw: a .npy or .npz file, natural, natural-12x12-128, natural-rgb-8x8-96 or
    /// dct; or codes, to draw the atoms they use.
    #[arg(value_name = "DICT|CODES.npz", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: DictionaryChoice,
    /// Atom size for dct: 16, 8x8 or 5x5x5 [default: 8x8].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// Output image (png); - writes it to standard output.
    #[arg(short, long, value_name = "MOSAIC.png")]
    pub output: PathBuf,
    /// Number of atoms per row [default: chosen for a square mosaic].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub columns: Option<u16>,
    /// Magnification: output pixels per atom sample [default: chosen for legibility].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub zoom: Option<u16>,
    /// Number of rows in the usage table, most used atoms first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Options of `doctor`.
#[derive(Args)]
pub struct DoctorArgs {
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}
