//! Options of `inpaint`.

use super::{PictureArgs, RunArgs, ScoringArgs, TellingArgs};
use crate::values::{DictionaryChoice, LearnChoice, PenaltyChoice, Preset, Size};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use std::path::PathBuf;

/// Shown below the help of `inpaint`.
pub const EXAMPLES: &str = "Examples:
  lobcod inpaint damaged.png --holes mask.png -o filled.png
  lobcod inpaint damaged.png --known mask.png -o filled.png --learn image
  lobcod inpaint - -o - --holes mask.png < damaged.png > filled.png
  lobcod inpaint transparent.png -o filled.png                holes are where it is transparent
  lobcod inpaint damaged.tif --holes mask.png -o filled.tif --preset best --report filled.html
  lobcod inpaint photo.png --holes mask.png -o filled.png --reference photo.png --json";

/// Options of `inpaint`.
#[derive(Args)]
#[command(mut_arg("tolerance", |tolerance| tolerance.hide(true)))]
pub struct InpaintArgs {
    /// Picture (png, jpeg, tiff), array (npy) or sound (wav) with holes; - reads standard input.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Where the filled picture goes: png, jpeg, tiff, npy, npz or wav, by the ending of its name; - writes a png to
    /// standard output.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// How the picture and its mask are read.
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Dictionary: a .npy or .npz file, natural or dct; given several times, the answers of all are averaged [default: natural for
    /// pictures, otherwise dct].
    #[arg(long, value_name = "FILE|natural|dct", help_heading = "Dictionary", value_parser = OsStringValueParser::new().map(DictionaryChoice::from))]
    pub dictionary: Vec<DictionaryChoice>,
    /// Box of an atom of dct: 16, 8x8 or 5x5x5 [default: by the number of axes].
    #[arg(long, value_name = "SIZE", help_heading = "Dictionary")]
    pub size: Option<Size>,
    /// What the atoms are learnt from besides: nothing, or the damaged picture itself [default: by the preset].
    #[arg(long, value_enum, help_heading = "Dictionary")]
    pub learn: Option<LearnChoice>,
    /// Penalty the codes end at, in units of the signal; auto: the one that predicts held-out pixels best.
    #[arg(long, value_name = "auto|X", default_value = "auto", allow_negative_numbers = true, help_heading = "Problem")]
    pub penalty: PenaltyChoice,
    /// How much work is put in; each preset stands for the options listed with it.
    #[arg(long, value_enum, default_value_t = Preset::Standard, help_heading = "Solver")]
    pub preset: Preset,
    /// Mirrored and turned copies of every dictionary whose answers are averaged [default: 1, and 2 with
    /// --learn image].
    #[arg(long, value_name = "N", help_heading = "Solver")]
    pub variants: Option<usize>,
    /// Windows of the base layer, in lengths of an atom; the answers of all are averaged [default: by the preset].
    #[arg(long, value_name = "W,W,...", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Solver")]
    pub windows: Option<Vec<f64>>,
    /// Penalty of the dense first codes, in standard deviations of the details: smaller is denser, slower and mostly better [default:
    /// by the preset].
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = "Solver")]
    pub density: Option<f64>,
    /// Share of the known pixels held out to judge penalties and answers.
    #[arg(long, value_name = "F", default_value_t = 0.02, allow_negative_numbers = true, help_heading = "Solver")]
    pub held_out: f64,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// Write the fit at known pixels too, instead of keeping them exactly.
    #[arg(long, help_heading = "Output")]
    pub refit_known: bool,
    /// What the answer is scored against.
    #[command(flatten)]
    pub scoring: ScoringArgs,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}
