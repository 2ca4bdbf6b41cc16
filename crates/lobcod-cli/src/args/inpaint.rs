//! Options of `inpaint`.

use super::{
    ConsoleArgs, ImagesArgs, InputArgs, PageArgs, PlanArgs, RunArgs, ScoringArgs, SizeArgs,
};
use crate::values::{DictionaryChoice, FillChoice, LearnChoice, PenaltyChoice, Preset};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use std::path::PathBuf;

/// Examples in the help of `inpaint`.
pub const EXAMPLES: &str = "Examples:
  lobcod inpaint damaged.png --holes mask.png -o filled.png
  lobcod inpaint damaged.png --known mask.png -o filled.png --learn image
  lobcod inpaint painted.png --holes-colour '#ff0000' -o filled.png
  lobcod inpaint transparent.png -o filled.png    # holes are transparent
  lobcod inpaint damaged.tif --holes mask.png -o filled.tif --preset best
  lobcod inpaint photo.png --holes mask.png -o filled.png --reference photo.png
  lobcod inpaint - -o - --holes mask.png < damaged.png > filled.png";

/// Options of `inpaint`.
#[derive(Args, Clone)]
pub struct InpaintArgs {
    /// The images.
    #[command(flatten)]
    pub files: ImagesArgs,
    /// Output image: png, jpeg, tiff, npy, npz or wav, chosen by the file extension; - writes a
    /// png to standard output.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Reading of the image and its mask.
    #[command(flatten)]
    pub input: InputArgs,
    /// Dictionary: a .npy or .npz file, natural or dct. Repeat it to average the results of
    /// several dictionaries [default: natural for images, otherwise dct].
    #[arg(
        long,
        value_name = "FILE|natural|dct",
        help_heading = "Dictionary",
        value_parser = OsStringValueParser::new().map(DictionaryChoice::from)
    )]
    pub dictionary: Vec<DictionaryChoice>,
    /// Atom size.
    #[command(flatten)]
    pub size: SizeArgs,
    /// Additionally learn atoms from the damaged image [default: depends on the preset].
    #[arg(long, value_enum, help_heading = "Dictionary")]
    pub learn: Option<LearnChoice>,
    /// Final penalty, in signal units; auto chooses the one that best predicts held-out pixels.
    #[arg(
        long,
        value_name = "auto|X",
        default_value = "auto",
        allow_negative_numbers = true,
        help_heading = "Problem"
    )]
    pub penalty: PenaltyChoice,
    /// What wide holes are filled with.
    #[arg(long, value_enum, default_value_t = FillChoice::Auto, help_heading = "Problem")]
    pub fill: FillChoice,
    /// Trade-off between speed and quality; each preset is a shorthand for the options listed.
    #[arg(long, value_enum, default_value_t = Preset::Standard, help_heading = "Solver")]
    pub preset: Preset,
    /// Number of mirrored and rotated copies of each dictionary to average; 0: images are filled by
    /// groups of similar patches alone [default: depends on the preset].
    #[arg(long, value_name = "N", help_heading = "Solver")]
    pub variants: Option<usize>,
    /// Window sizes of the base layer, in atom lengths; the results are averaged [default: depends
    /// on the preset].
    #[arg(
        long,
        value_name = "W,W,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Solver"
    )]
    pub windows: Option<Vec<f64>>,
    /// Penalty of the dense initial codes, in standard deviations of the detail layer. Smaller
    /// values are denser and slower [default: depends on the preset].
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = "Solver")]
    pub density: Option<f64>,
    /// Rounds that improve the result by joint coding of similar patches; 0 is none [default:
    /// depends on the preset].
    #[arg(long, value_name = "N", help_heading = "Solver")]
    pub groups: Option<usize>,
    /// Fraction of known pixels held out to select penalties and weight results.
    ///
    /// Next to few holes, up to 0.06 if that is fewer than 600 pixels.
    #[arg(
        long,
        value_name = "F",
        default_value_t = 0.02,
        allow_negative_numbers = true,
        help_heading = "Solver"
    )]
    pub held_out: f64,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Replace known pixels by the fit too, instead of keeping them exactly.
    #[arg(long, help_heading = "Output")]
    pub refit_known: bool,
    /// Scoring against a reference.
    #[command(flatten)]
    pub scoring: ScoringArgs,
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
