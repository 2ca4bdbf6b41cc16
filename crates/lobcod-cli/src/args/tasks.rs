//! Options of `fuse`, `denoise`, `separate` and `compare`.

use super::{ConsoleArgs, DictionaryArgs, RunArgs, USUAL_SCALE};
use crate::values::{
    ActivityChoice, AlignChoice, ComposeChoice, FuseBaseChoice, MethodOfDenoising, ModeChoice,
    NoiseChoice, PreferChoice,
};
use clap::Args;
use lobcod::base::Base;
use std::path::PathBuf;

pub(super) const FUSE_EXAMPLES: &str = "Examples:
  lobcod fuse near.png far.png -o sharp.png
  lobcod fuse stack/*.tif -o sharp.tif --decision-map from.png --depth-map depth.tif
  lobcod fuse *.jpg -o sharp.png --align similarity     hand-held, or focus breathing
  lobcod fuse dark.jpg bright.jpg -o good.png --mode exposure
  lobcod fuse large/*.png -o sharp.png --fast           activity at half resolution";

pub(super) const DENOISE_EXAMPLES: &str = "Examples:
  lobcod denoise photo.jpg -o clean.png                         estimates the noise
  lobcod denoise photo.jpg -o clean.png --strength 0.7          removes less
  lobcod denoise photo.png -o clean.png --noise 25              white noise, standard deviation 25
  lobcod denoise counts.npy -o clean.npy --noise poisson        estimates the gain
  lobcod denoise raw.tif -o clean.tif --noise mixed:0.5,3       gain 0.5, read noise 3
  lobcod denoise page.png -o clean.png --noise impulse          salt and pepper";

pub(super) const SEPARATE_EXAMPLES: &str = "Examples:
  lobcod separate photo.png --smooth-out smooth.png --texture-out texture.png
  lobcod separate photo.png --smooth-out smooth.npy --texture-out texture.npy --smooth 20 --penalty 10";

/// Scoring against a reference.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub struct ScoringArgs {
    /// Ground truth for scoring the result (PSNR, SSIM).
    #[arg(long, value_name = "ORIGINAL")]
    pub reference: Option<PathBuf>,
    /// Peak value for PSNR and SSIM [default: the white level, see --scale].
    #[arg(long, value_name = "P")]
    pub peak: Option<f64>,
    /// Write a self-contained HTML report with images, curves and parameters.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Report what would run and the memory and time it needs, without running it.
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of `fuse`.
#[derive(Args, Clone)]
pub struct FuseArgs {
    /// Two or more images of the same scene and size, ordered from front to back.
    #[arg(required = true, value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Output image: png, jpeg, tiff, npy or npz, chosen by the file extension.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// What differs between the images.
    #[arg(long, value_enum, default_value_t = ModeChoice::Auto)]
    pub mode: ModeChoice,
    /// Side of the window over which activity is averaged, in pixels.
    #[arg(long, value_name = "S", default_value_t = 9)]
    pub window: usize,
    /// Weight of the squared gradient of the smooth layers.
    #[arg(long, value_name = "MU", default_value_t = Base::DEFAULT_MU, allow_negative_numbers = true)]
    pub smooth: f64,
    /// How smooth layers are combined; average implies --compose codes.
    #[arg(long, value_enum, default_value_t = FuseBaseChoice::Select)]
    pub fuse_base: FuseBaseChoice,
    /// What the fused image is composed of [default: pixels].
    #[arg(long, value_enum)]
    pub compose: Option<ComposeChoice>,
    /// How codes are weighted in the activity measure.
    #[arg(long, value_enum, default_value_t = ActivityChoice::Rough)]
    pub activity: ActivityChoice,
    /// Image to use where the activity does not decide: the first or the last.
    #[arg(long, value_enum, default_value_t = PreferChoice::Front)]
    pub prefer: PreferChoice,
    /// Alignment of the images before fusion.
    #[arg(long, value_enum, default_value_t = AlignChoice::Auto)]
    pub align: AlignChoice,
    /// Measure activity at half resolution: about four times faster.
    #[arg(long)]
    pub fast: bool,
    /// Write the index of the image each pixel was taken from, scaled to the range of grey values
    /// (npy: the index itself).
    #[arg(long, value_name = "FILE")]
    pub decision_map: Option<PathBuf>,
    /// Write a smoothed decision map, an estimate of the scene depth.
    #[arg(long, value_name = "FILE")]
    pub depth_map: Option<PathBuf>,
    /// Signal value of the full range of integer images [default: 255].
    ///
    /// Integer samples map to 0..S. Values in float files are used unchanged; there, S is the white
    /// level.
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Weight of the l1 penalty, for lightness from 0 to 100.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    pub penalty: f64,
    /// Number of alternations between pursuit and smooth layer; 0 keeps the smooth layer of each
    /// image itself.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub alternations: usize,
    /// The dictionary.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Scoring against a reference.
    #[command(flatten)]
    pub scoring: ScoringArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl FuseArgs {
    /// Signal value of the full integer range.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(USUAL_SCALE)
    }
}

/// Options of `denoise`.
#[derive(Args, Clone)]
pub struct DenoiseArgs {
    /// The noisy image.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// More images; folders and patterns such as '*.jpg' stand for the images in them. With several
    /// images the outputs are folders, and masks and references may be folders or patterns with {}
    /// for the name of the image.
    #[arg(value_name = "IMAGE")]
    pub more: Vec<PathBuf>,
    /// Output image: png, jpeg, tiff, npy or npz, chosen by the file extension.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Noise model: auto, gaussian, correlated, poisson or impulse, with an estimated level; or
    /// with a given level: gaussian:SIGMA, correlated:SIGMA, poisson:GAIN, mixed:GAIN,SIGMA or
    /// impulse:FRACTION.
    ///
    /// A number alone is the SIGMA of Gaussian noise.
    #[arg(long, value_name = "KIND", default_value = "auto")]
    pub noise: NoiseChoice,
    /// Factor applied to the noise level: below 1 keeps more detail and noise, above 1 smooths
    /// more.
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_negative_numbers = true)]
    pub strength: f64,
    /// Method for white Gaussian noise.
    #[arg(long, value_enum, default_value_t = MethodOfDenoising::Local)]
    pub method: MethodOfDenoising,
    /// Use the dictionary unchanged instead of adapting it to the image.
    #[arg(long)]
    pub keep_atoms: bool,
    /// Signal value of the full range of integer images [default: 255].
    ///
    /// Integer samples map to 0..S. Values in float files are used unchanged; there, S is the white
    /// level for scores and integer output [default: inferred from the values].
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Weight of the l1 penalty [default: derived from the noise level].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub penalty: Option<f64>,
    /// The dictionary.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Scoring against a reference.
    #[command(flatten)]
    pub scoring: ScoringArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl DenoiseArgs {
    /// Signal value of the full integer range.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(USUAL_SCALE)
    }
}

/// Options of `separate`.
#[derive(Args, Clone)]
pub struct SeparateArgs {
    /// The image to split.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// More images; folders and patterns such as '*.jpg' stand for the images in them. With several
    /// images the outputs are folders, and masks and references may be folders or patterns with {}
    /// for the name of the image.
    #[arg(value_name = "IMAGE")]
    pub more: Vec<PathBuf>,
    /// Output file for the smooth layer.
    #[arg(long, value_name = "F")]
    pub smooth_out: PathBuf,
    /// Output file for the texture; in integer images, zero is mid-grey.
    #[arg(long, value_name = "F")]
    pub texture_out: PathBuf,
    /// Weight of the squared gradient of the smooth layer.
    #[arg(long, value_name = "MU", default_value_t = Base::DEFAULT_MU, allow_negative_numbers = true)]
    pub smooth: f64,
    /// Signal value of the full range of integer images [default: 255].
    ///
    /// Integer samples map to 0..S. Values in float files are used unchanged; there, S is the white
    /// level for scores and integer output [default: inferred from the values].
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
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
    /// Number of alternations between pursuit and smooth layer; 0 keeps the smooth layer of the
    /// image itself.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub alternations: usize,
    /// The dictionary.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
    /// Report what would run and the memory and time it needs, without running it.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Write a self-contained HTML report.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl SeparateArgs {
    /// Signal value of the full integer range.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(USUAL_SCALE)
    }
}

/// Options of `compare`.
#[derive(Args, Clone)]
pub struct CompareArgs {
    /// The first image.
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The second image, of the same shape.
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Write the absolute difference as an image.
    #[arg(short, long, value_name = "DIFFERENCE.png")]
    pub output: Option<PathBuf>,
    /// Signal value of the full range of integer images [default: 255].
    ///
    /// Integer samples map to 0..S. Values in float files are used unchanged; there, S is the white
    /// level [default: inferred from the values].
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Peak value for PSNR and SSIM [default: the white level, see --scale].
    #[arg(long, value_name = "P")]
    pub peak: Option<f64>,
    /// Write a self-contained HTML report.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}

impl CompareArgs {
    /// Signal value of the full integer range.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(USUAL_SCALE)
    }
}
