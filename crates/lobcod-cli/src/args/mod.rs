//! The command tree: commands, their options and examples. Each command is implemented in its own
//! module.

#[cfg(test)]
mod defaults;
mod find_damage;
mod groups;
mod help;
mod inpaint;
mod manual;
mod models;
mod studio;
mod tasks;

pub use find_damage::FindDamageArgs;
pub use inpaint::InpaintArgs;
pub use manual::{CompletionsArgs, ManualArgs};
pub use models::ModelArgs;
pub use studio::StudioArgs;

pub use groups::{
    CheckpointArgs, CodesArgs, ConsoleArgs, DictionaryArgs, ImagesArgs, InputArgs, LearningArgs,
    PageArgs, PeakArgs, PenaltyArgs, PlanArgs, ProblemArgs, RunArgs, ScaleArgs, ScoringArgs,
    SizeArgs, SmoothArgs, SolverArgs, ThreadsArgs, USUAL_SCALE,
};

pub use tasks::{CompareArgs, DenoiseArgs, FuseArgs, SeparateArgs};

use crate::command::Command;
use crate::output::{self, paths::STDOUT};
use crate::values::{DictionaryChoice, MethodChoice, one_of};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
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
    pub command: AnyCommand,
}

impl Cli {
    /// Parses the command line. Exits with a usage message if options contradict each other, and
    /// warns about options without effect.
    pub fn parse_or_exit() -> Self {
        let matches = Self::tree().get_matches();
        let mut cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let command = cli.command.get();
        let refuse = |message: String| -> ! {
            Self::tree().error(ErrorKind::ArgumentConflict, message).exit()
        };
        if let Some(message) = command.conflict() {
            refuse(message);
        }
        let to_stdout = command.output() == Some(Path::new(STDOUT));
        let scored = command.scoring().is_some_and(|scoring| scoring.reference.is_some());
        if let (Some(console), true) = (command.console(), to_stdout) {
            if console.json {
                refuse(
                    "--json and -o - both write to standard output; give a file name with -o"
                        .into(),
                );
            }
            if scored {
                refuse(
                    "--reference scores the written file, but -o - writes none; give a file name \
                     with -o"
                        .into(),
                );
            }
            console.quiet = true;
        }
        if command.console().is_some_and(|console| console.quiet) {
            output::be_quiet();
        }
        help::options_without_effect(&matches).iter().for_each(|warning| output::warn(warning));
        cli
    }

    /// The command tree.
    pub fn tree() -> clap::Command {
        help::arrange(Self::command())
    }
}

/// The commands, tasks first.
#[derive(Subcommand)]
pub enum AnyCommand {
    /// Fill in missing pixels.
    #[command(after_help = inpaint::EXAMPLES)]
    Inpaint(Box<InpaintArgs>),
    /// Fuse images of a scene into one that is in focus or well exposed everywhere.
    #[command(after_help = tasks::FUSE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.5")))]
    Fuse(Box<FuseArgs>),
    /// Remove noise from an image.
    #[command(
        after_help = tasks::DENOISE_EXAMPLES,
        mut_arg("tolerance", |a| a.default_value("0.01"))
    )]
    Denoise(Box<DenoiseArgs>),
    /// Split an image into a smooth layer and a texture layer.
    #[command(
        after_help = tasks::SEPARATE_EXAMPLES,
        override_usage = "lobcod separate [OPTIONS] --smooth-out <F> --texture-out <F> <IMAGE>...",
        mut_arg("tolerance", |a| a.default_value("0.01"))
    )]
    Separate(Box<SeparateArgs>),
    /// Encode images as sparse sums of atoms, with a certificate of optimality.
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<EncodeArgs>),
    /// Learn a dictionary from images.
    #[command(after_help = LEARN_EXAMPLES)]
    Learn(Box<LearnArgs>),
    /// Reconstruct an image from codes.
    #[command(after_help = "Example:\n  lobcod decode codes.npz -o image.png")]
    Decode(DecodeArgs),
    /// Draw the atoms of a dictionary, or show how often codes use them.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Propose a mask of scratches, creases, dust and printed dates, for review.
    #[command(after_help = find_damage::EXAMPLES)]
    FindDamage(FindDamageArgs),
    /// Compare two images: PSNR, SSIM and a difference image.
    #[command(after_help = tasks::COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Open a page in which all this can be done by hand, on this machine.
    #[command(after_help = studio::EXAMPLES)]
    Studio(StudioArgs),
    /// Run every main task on built-in images and write an HTML report.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
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

impl AnyCommand {
    /// The command that was given.
    pub fn get(&mut self) -> &mut dyn Command {
        match self {
            Self::Inpaint(args) => &mut **args,
            Self::Fuse(args) => &mut **args,
            Self::Denoise(args) => &mut **args,
            Self::Separate(args) => &mut **args,
            Self::Encode(args) => &mut **args,
            Self::Learn(args) => &mut **args,
            Self::Decode(args) => args,
            Self::Show(args) => args,
            Self::FindDamage(args) => args,
            Self::Compare(args) => args,
            Self::Studio(args) => args,
            Self::Demo(args) => args,
            Self::Doctor(args) => args,
            Self::Completions(args) => args,
            Self::Manual(args) => args,
        }
    }
}

const ENCODE_EXAMPLES: &str = "Examples:
  lobcod encode photo.png -o codes.npz
  lobcod encode photo.png --dictionary atoms.npz --penalty 20 --json
  lobcod encode damaged.png --holes mask.png -o codes.npz
  lobcod encode sound.wav --axes t --size 64 -o codes.npz
  lobcod encode photo.png --report report.html
  lobcod encode big.tif --dry-run                 # estimate memory and time
  lobcod encode a.png b.png c.png -o codes/       # several images as one problem
  lobcod encode big.tif -o big.npz --max-memory 2G                    # in bands
  lobcod encode big.tif -o big.npz --checkpoint big.checkpoint
  lobcod encode big.tif -o big.npz --resume big.checkpoint";

const LEARN_EXAMPLES: &str = "Examples:
  lobcod learn photos/ -o atoms.npz               # all images in a folder
  lobcod learn photo.png -o atoms.npz --atoms 128 --size 12x12 --penalty 20
  lobcod learn photos/ -o atoms.npz --time-limit 60 --init patches
  lobcod learn photos/ -o better.npz --init atoms.npz
  lobcod learn damaged.png --holes mask.png -o atoms.npz
  lobcod learn photos/ -o atoms.npz --report report.html
  lobcod learn photos/ -o atoms.npz --checkpoint run.checkpoint
  lobcod learn photos/ -o atoms.npz --resume run.checkpoint --passes 80
  lobcod learn archive/ -o atoms.npz --stream     # one image in memory at a time
  lobcod learn ecg.npy --axes t -o beats.npz --nonnegative --atoms 3 --size 300
  lobcod learn photo.png -o more.npz --freeze atoms.npz --atoms 20";

const DECODE_SCALE: &str =
    "Signal value of the full range of integer images [default: as stored in the codes]";

const SHOW_EXAMPLES: &str = "Examples:
  lobcod show dictionary.npz -o atoms.png
  lobcod show natural -o atoms.png
  lobcod show dct --size 11x11 -o atoms.png
  lobcod show codes.npz -o atoms.png              # how often each atom is used";

const DEMO_EXAMPLES: &str = "Examples:
  lobcod demo
  lobcod demo -o somewhere --open
  lobcod demo --only-examples -o examples         # files for the other commands";

/// Options of `demo`.
#[derive(Args, Clone)]
pub struct DemoArgs {
    /// Folder for the images and the HTML report; created if it does not exist.
    #[arg(short, long, value_name = "DIR", default_value = "lobcod-demo")]
    pub output: PathBuf,
    /// Write only the example files (images, a sound and a focus stack) for trying the other
    /// commands.
    #[arg(long, conflicts_with = "open")]
    pub only_examples: bool,
    /// Open the HTML report in the default browser.
    #[arg(long)]
    pub open: bool,
    /// Threads.
    #[command(flatten)]
    pub threads: ThreadsArgs,
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
    /// Ground truth for scoring the reconstruction (PSNR, SSIM). Repeat it once per image, in the
    /// same order.
    #[arg(long, value_name = "ORIGINAL", help_heading = "Output")]
    pub reference: Vec<PathBuf>,
    /// Peak value of scores.
    #[command(flatten)]
    pub score: PeakArgs,
    /// HTML report.
    #[command(flatten)]
    pub page: PageArgs,
    /// Dry run.
    #[command(flatten)]
    pub plan: PlanArgs,
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
    /// Constraints on codes and atoms.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The optimization problem.
    #[command(flatten)]
    pub problem: ProblemArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Checkpoints, for resuming an interrupted run.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Peak value of the PSNR of each pass.
    #[command(flatten)]
    pub score: PeakArgs,
    /// HTML report.
    #[command(flatten)]
    pub page: PageArgs,
    /// Dry run.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl EncodeArgs {
    /// The model of the codes, for reports.
    pub fn model_words(&self) -> Vec<String> {
        self.codes.words().into_iter().chain(self.problem.joint_base()).collect()
    }
}

impl LearnArgs {
    /// The constraints on codes and atoms, for reports.
    pub fn model_words(&self) -> Vec<String> {
        let mut words = self.model.words();
        words.extend(self.problem.joint_base());
        let several = self.learning.size.as_ref().filter(|sizes| !sizes.of_atoms().is_empty());
        words.extend(several.map(|sizes| format!("sizes {sizes}")));
        words
    }

    /// Describes the first pair of options that conflict.
    pub fn conflicting_options(&self) -> Option<String> {
        let learning = &self.learning;
        if learning.stream && learning.method != MethodChoice::Atomwise {
            let method = learning.method.name();
            return Some(format!(
                "--stream uses its own learning method and cannot be combined with --method \
                 {method}; remove one of the two"
            ));
        }
        let whole_set_only = [
            ("--target-objective", learning.target_objective.is_some()),
            ("--peak", self.score.peak.is_some()),
            ("--grow", self.model.grow),
            ("--sort", self.model.sort.is_some()),
        ];
        if let Some((option, _)) =
            whole_set_only.iter().find(|(_, given)| *given && learning.stream)
        {
            return Some(format!(
                "{option} has no meaning with --stream, which never sees all images at once; \
                 remove one of the two"
            ));
        }
        let unused =
            |option| format!("{option} requires --method stochastic; add it, or remove {option}");
        learning.unused_option().map(unused)
    }
}

/// Options of `decode`.
#[derive(Args)]
#[command(mut_arg("scale", |scale| scale.help(DECODE_SCALE).long_help(DECODE_SCALE)))]
pub struct DecodeArgs {
    /// Codes written by encode.
    #[arg(value_name = "CODES.npz")]
    pub codes: PathBuf,
    /// Output image: png, jpeg, tiff, npy, npz or wav, chosen by the file extension; - writes a
    /// png to standard output.
    #[arg(short, long, value_name = "IMAGE")]
    pub output: PathBuf,
    /// Sample type of the output [default: that of the encoded image].
    #[arg(
        long,
        value_name = "DEPTH",
        value_parser = one_of::<Depth, _>(["u8", "u16", "i16", "i24", "i32", "f32", "f64"])
    )]
    pub depth: Option<Depth>,
    /// Scale of the output.
    #[command(flatten)]
    pub scale: ScaleArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Options of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// Dictionary to draw: a .npy or .npz file, natural, natural-12x12-128, natural-rgb-8x8-96 or
    /// dct; or codes, to draw the atoms they use.
    #[arg(
        value_name = "DICT|CODES.npz",
        value_parser = OsStringValueParser::new().map(DictionaryChoice::from)
    )]
    pub dictionary: DictionaryChoice,
    /// Atom size.
    #[command(flatten)]
    pub size: SizeArgs,
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
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}
