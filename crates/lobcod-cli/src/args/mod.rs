//! The command tree: verbs, options, and how they are written. What they mean is said in the file of each verb.

mod groups;
mod inpaint;
mod manual;
mod tasks;

pub use inpaint::InpaintArgs;
pub use manual::{CompletionsArgs, ManualArgs};

pub use groups::{
    CheckpointArgs, CodesArgs, DictionaryArgs, LearningArgs, PictureArgs, ProblemArgs, RunArgs, SolverArgs, TellingArgs,
};

pub use tasks::{CompareArgs, DenoiseArgs, FuseArgs, ScoringArgs, SeparateArgs};

use crate::output::paths::STDOUT;
use crate::values::{DictionaryChoice, MethodChoice, Size, one_of};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use lobcod_image::Depth;
use std::path::{Path, PathBuf};

/// Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.
///
/// Writes pictures, volumes and sounds as sums of a few small patterns, the atoms of a dictionary, and tells how far the answer
/// can be from the best one.
#[derive(Parser)]
#[command(name = "lobcod", version, arg_required_else_help = true, after_help = "Start with: lobcod demo")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Verb {
    /// How the work is run, where there is some.
    pub fn work(&self) -> Option<&RunArgs> {
        match self {
            Verb::Encode(args) => Some(&args.run),
            Verb::Learn(args) => Some(&args.run),
            Verb::Inpaint(args) => Some(&args.run),
            Verb::Fuse(args) => Some(&args.run),
            Verb::Denoise(args) => Some(&args.run),
            Verb::Separate(args) => Some(&args.run),
            _ => None,
        }
    }

    /// How the outcome is told, where that can be said.
    pub fn telling(&self) -> Option<&TellingArgs> {
        match self {
            Verb::Demo(args) => Some(&args.telling),
            Verb::Encode(args) => Some(&args.telling),
            Verb::Learn(args) => Some(&args.telling),
            Verb::Inpaint(args) => Some(&args.telling),
            Verb::Decode(args) => Some(&args.telling),
            Verb::Fuse(args) => Some(&args.telling),
            Verb::Denoise(args) => Some(&args.telling),
            Verb::Separate(args) => Some(&args.telling),
            Verb::Compare(args) => Some(&args.telling),
            Verb::Show(args) => Some(&args.telling),
            Verb::Doctor(_) | Verb::Completions(_) | Verb::Manual(_) => None,
        }
    }
}

impl Cli {
    /// The command line as given; ends the program with a usage message where it makes no sense.
    pub fn parse_or_exit() -> Self {
        let mut cli = Self::parse();
        let outputs = match &cli.verb {
            Verb::Encode(args) => (args.telling.json, args.output.as_deref()),
            Verb::Learn(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Inpaint(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Decode(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Show(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Demo(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Fuse(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Denoise(args) => (args.telling.json, Some(args.output.as_path())),
            Verb::Compare(args) => (args.telling.json, args.output.as_deref()),
            Verb::Separate(args) => (args.telling.json, Some(args.smooth_out.as_path())),
            Verb::Doctor(_) | Verb::Completions(_) | Verb::Manual(_) => (false, None),
        };
        if outputs == (true, Some(Path::new(STDOUT))) {
            let message = "--json and -o - both want standard output; name a file with -o";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        if outputs.1 == Some(Path::new(STDOUT)) {
            cli.leave_standard_output();
        }
        if let Verb::Learn(args) = &cli.verb
            && let Some(message) = args.conflict()
        {
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        cli
    }

    /// Keeps the report off standard output, where the picture goes.
    fn leave_standard_output(&mut self) {
        let (telling, scoring) = match &mut self.verb {
            Verb::Inpaint(args) => (&mut args.telling, Some(&args.scoring)),
            Verb::Fuse(args) => (&mut args.telling, Some(&args.scoring)),
            Verb::Denoise(args) => (&mut args.telling, Some(&args.scoring)),
            Verb::Decode(args) => (&mut args.telling, None),
            Verb::Show(args) => (&mut args.telling, None),
            Verb::Compare(args) => (&mut args.telling, None),
            _ => return,
        };
        if scoring.is_some_and(|scoring| scoring.reference.is_some()) {
            let message = "--reference scores the written file, but -o - writes none; name a file with -o";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        telling.quiet = true;
    }
}

/// What lobcod can do.
#[derive(Subcommand)]
pub enum Verb {
    /// Learn, encode, inpaint and fuse pictures that come with the program, and write a page to look at.
    #[command(
        after_help = "Examples:\n  lobcod demo\n  lobcod demo -o somewhere\n  lobcod demo --only-examples -o examples    pictures to try the other verbs on"
    )]
    Demo(DemoArgs),
    /// Code pictures as sums of few atoms, with a certificate of optimality.
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<EncodeArgs>),
    /// Learn a dictionary from pictures.
    #[command(after_help = LEARN_EXAMPLES)]
    Learn(Box<LearnArgs>),
    /// Fill what is missing in a picture.
    #[command(after_help = inpaint::EXAMPLES)]
    Inpaint(Box<InpaintArgs>),
    /// Make a picture from codes.
    #[command(after_help = "Example:\n  lobcod decode codes.npz -o picture.png")]
    Decode(DecodeArgs),
    /// Make one picture of several of the same scene: all in focus, or well exposed everywhere.
    #[command(after_help = tasks::FUSE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.5")))]
    Fuse(Box<FuseArgs>),
    /// Take noise off a picture.
    #[command(after_help = tasks::DENOISE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.01")))]
    Denoise(Box<DenoiseArgs>),
    /// Split a picture into a smooth layer and texture.
    #[command(after_help = tasks::SEPARATE_EXAMPLES, mut_arg("tolerance", |a| a.default_value("0.01")))]
    Separate(Box<SeparateArgs>),
    /// Tell how close two pictures are.
    #[command(
        after_help = "Examples:\n  lobcod compare a.png b.png\n  lobcod compare a.png b.png -o difference.png --json\n  lobcod compare a.png b.png --report page.html          both under a slider"
    )]
    Compare(CompareArgs),
    /// Draw the atoms of a dictionary as one picture, and tell how often codes use them.
    #[command(
        after_help = "Examples:\n  lobcod show dictionary.npz -o atoms.png\n  lobcod show natural -o atoms.png\n  lobcod show dct --size 11x11 -o atoms.png\n  lobcod show codes.npz -o atoms.png                   how often codes use every atom"
    )]
    Show(ShowArgs),
    /// Tell what this machine offers, and what to do about what is missing.
    #[command(after_help = "Example:\n  lobcod doctor")]
    Doctor(DoctorArgs),
    /// Print what a shell needs to complete names of verbs and options.
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write manual pages, one of the program and one of every verb.
    #[command(after_help = "Example:\n  lobcod manual -o ~/.local/share/man/man1")]
    Manual(ManualArgs),
}

const ENCODE_EXAMPLES: &str = "Examples:
  lobcod encode photo.png -o codes.npz
  lobcod encode photo.png --dictionary atoms.npz --penalty 20 --json
  lobcod encode a.png b.png c.png -o codes/            several pictures as one problem
  lobcod encode damaged.png --holes mask.png -o codes.npz
  lobcod encode sound.wav --axes t --size 64 -o codes.npz
  lobcod encode photo.png --report report.html         a page to look at
  lobcod encode big.tif --dry-run                      the memory and time it needs
  lobcod encode big.tif -o big.npz --max-memory 2G     in bands, if it needs more
  lobcod encode big.tif -o big.npz --checkpoint big.checkpoint
  lobcod encode big.tif -o big.npz --resume big.checkpoint";

const LEARN_EXAMPLES: &str = "Examples:
  lobcod learn photos/ -o atoms.npz                    all pictures of a folder
  lobcod learn photo.png -o atoms.npz --atoms 128 --size 12x12 --penalty 20
  lobcod learn photos/ -o atoms.npz --time-limit 60 --init patches
  lobcod learn photos/ -o better.npz --init atoms.npz  go on from atoms learnt earlier
  lobcod learn damaged.png --holes mask.png -o atoms.npz
  lobcod learn photos/ -o atoms.npz --report report.html
  lobcod learn photos/ -o atoms.npz --checkpoint run.checkpoint
  lobcod learn photos/ -o atoms.npz --resume run.checkpoint --passes 80
  lobcod learn archive/ -o atoms.npz --stream          one picture in memory at a time";

/// Options of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// Folder the pictures and the page go to; made if it is not there.
    #[arg(short, long, value_name = "DIR", default_value = "lobcod-demo")]
    pub output: PathBuf,
    /// Only write the examples: pictures, a sound and a stack to try the other verbs on.
    #[arg(long)]
    pub only_examples: bool,
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
    /// Pictures (png, jpeg, tiff), arrays (npy) or sounds (wav), folders of them, patterns such as 'x*.png', or - for standard input;
    /// several are solved together as one problem.
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
    /// What else is asked of the codes.
    #[command(flatten)]
    pub codes: CodesArgs,
    /// How they are found.
    #[command(flatten)]
    pub solver: SolverArgs,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// What a run that is broken off leaves behind.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Only say what would run, and the memory and time it needs.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// The true picture, to score the reconstruction (PSNR, SSIM); once for each picture, in the same order.
    #[arg(long, value_name = "ORIGINAL", help_heading = "Output")]
    pub reference: Vec<PathBuf>,
    /// Largest value of a picture, for the scores [default: the scale].
    #[arg(long, value_name = "P", help_heading = "Output")]
    pub peak: Option<f64>,
    /// Write a page to look at: pictures, curves, numbers and parameters, in one file that needs no network.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `learn`.
#[derive(Args)]
pub struct LearnArgs {
    /// Pictures (png, jpeg, tiff), arrays (npy) or sounds (wav); a folder stands for those in it, a pattern such as
    /// 'x*.png' for those it fits, sorted by name, and - for standard input.
    #[arg(required = true, value_name = "IMAGE|DIR")]
    pub images: Vec<PathBuf>,
    /// Where the dictionary goes: a .npz file, which also tells how it was learnt, or a .npy file.
    #[arg(short, long, value_name = "DICT.npz")]
    pub output: PathBuf,
    /// How pictures are read.
    #[command(flatten)]
    pub picture: PictureArgs,
    /// How the dictionary is learnt.
    #[command(flatten)]
    pub learning: LearningArgs,
    /// The problem that is solved.
    #[command(flatten)]
    pub problem: ProblemArgs,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// What a run that is broken off leaves behind.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Only say what would run, and the memory and time it needs.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Largest value of a picture, for the PSNR of every pass (not with --stream) [default: the scale].
    #[arg(long, value_name = "P", help_heading = "Output")]
    pub peak: Option<f64>,
    /// Write a page to look at: atoms, curves, pictures, numbers and parameters, in one file that needs no network.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

impl LearnArgs {
    /// What does not go together, in one sentence.
    fn conflict(&self) -> Option<String> {
        let learning = &self.learning;
        if learning.stream && learning.method != MethodChoice::Atomwise {
            let method = learning.method.name();
            return Some(format!("--stream learns in a way of its own, not by --method {method}; leave one of the two out"));
        }
        let of_the_set = [("--target-objective", learning.target_objective.is_some()), ("--peak", self.peak.is_some())];
        if let Some((option, _)) = of_the_set.iter().find(|(_, given)| *given && learning.stream) {
            return Some(format!(
                "{option} has no meaning with --stream, which never sees the whole set; leave one of the two out"
            ));
        }
        let idle = |option| format!("{option} belongs to --method stochastic; add that, or leave {option} out");
        learning.idle_option().map(idle)
    }
}

/// Options of `decode`.
#[derive(Args)]
pub struct DecodeArgs {
    /// Codes written by encode.
    #[arg(value_name = "CODES.npz")]
    pub codes: PathBuf,
    /// Picture to write: png, jpeg, tiff, npy, npz or wav, by the ending of its name; - writes a png to standard output.
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
    /// Dictionary: a .npy or .npz file, natural, natural-12x12-128, natural-rgb-8x8-96 or dct; or codes, for the atoms they use.
    #[arg(value_name = "DICT|CODES.npz", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: DictionaryChoice,
    /// Box of an atom of dct: 16, 8x8 or 5x5x5 [default: 8x8].
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// Picture to write (png); - writes it to standard output.
    #[arg(short, long, value_name = "MOSAIC.png")]
    pub output: PathBuf,
    /// Atoms in a row [default: as wide as high].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub columns: Option<u16>,
    /// Pixels drawn for a sample [default: as many as make atoms easy to see].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub zoom: Option<u16>,
    /// Atoms in the table of uses, the most used first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
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
