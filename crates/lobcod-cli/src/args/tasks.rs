//! Options of the tasks: fuse, denoise, separate, compare.

use super::{DictionaryArgs, RunArgs, TellingArgs};
use crate::values::{
    ActivityChoice, AlignChoice, ComposeChoice, FuseBaseChoice, MethodOfDenoising, ModeChoice, NoiseChoice, PreferChoice,
};
use anyhow::{Result, ensure};
use clap::Args;
use lobcod::base::Base;
use std::path::PathBuf;

pub(super) const FUSE_EXAMPLES: &str = "Examples:
  lobcod fuse near.png far.png -o sharp.png
  lobcod fuse stack/*.tif -o sharp.tif --decision-map from.png --depth-map depth.tif
  lobcod fuse *.jpg -o sharp.png --align similarity     hand-held, or the lens breathes
  lobcod fuse dark.jpg bright.jpg -o good.png --mode exposure
  lobcod fuse large/*.png -o sharp.png --fast           activity at half the resolution";

pub(super) const DENOISE_EXAMPLES: &str = "Examples:
  lobcod denoise photo.png -o clean.png --noise gaussian        the level is estimated
  lobcod denoise photo.png -o clean.png --noise gaussian:25
  lobcod denoise counts.npy -o clean.npy --noise poisson        the gain is estimated
  lobcod denoise raw.tif -o clean.tif --noise mixed:0.5,3       gain 0.5, read-out noise 3
  lobcod denoise page.png -o clean.png --noise impulse:0.1";

pub(super) const SEPARATE_EXAMPLES: &str = "Examples:
  lobcod separate photo.png --smooth-out smooth.png --texture-out texture.png
  lobcod separate photo.png --smooth-out smooth.npy --texture-out texture.npy --smooth 20 --penalty 10";

/// What a result is scored against.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct ScoringArgs {
    /// The true picture, to score the result (PSNR, SSIM).
    #[arg(long, value_name = "ORIGINAL")]
    pub reference: Option<PathBuf>,
    /// Largest value of a picture, for the scores [default: the scale].
    #[arg(long, value_name = "P")]
    pub peak: Option<f64>,
    /// Write a page to look at: pictures, curves, numbers and parameters, in one file that needs no network.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Only say what would run, and the memory and time it needs.
    #[arg(long)]
    pub dry_run: bool,
}

impl ScoringArgs {
    /// Error unless the peak makes sense.
    pub fn check_peak(&self) -> Result<()> {
        let good = self.peak.is_none_or(|peak| peak.is_finite() && peak > 0.0);
        ensure!(good, "the peak is {}, but must be a number above 0", self.peak.unwrap_or_default());
        Ok(())
    }
}

/// Options of `fuse`.
#[derive(Args)]
pub struct FuseArgs {
    /// Pictures of one scene, all of one size, from front to back; two or more.
    #[arg(required = true, value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Picture to write: png, jpeg, tiff, npy or npz, by the ending of its name.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// What differs between the pictures.
    #[arg(long, value_enum, default_value_t = ModeChoice::Focus)]
    pub mode: ModeChoice,
    /// Side of the box that activity is averaged over.
    #[arg(long, value_name = "S", default_value_t = 9)]
    pub window: usize,
    /// Weight of the squared gradient of the smooth layers.
    #[arg(long, value_name = "MU", default_value_t = Base::DEFAULT_MU, allow_negative_numbers = true)]
    pub smooth: f64,
    /// How smooth layers become one; average composes the picture of codes.
    #[arg(long, value_enum, default_value_t = FuseBaseChoice::Select)]
    pub fuse_base: FuseBaseChoice,
    /// What the picture is put together from [default: pixels].
    #[arg(long, value_enum)]
    pub compose: Option<ComposeChoice>,
    /// How much a code counts as activity.
    #[arg(long, value_enum, default_value_t = ActivityChoice::Rough)]
    pub activity: ActivityChoice,
    /// Picture taken where nothing tells them apart: the first or the last.
    #[arg(long, value_enum, default_value_t = PreferChoice::Front)]
    pub prefer: PreferChoice,
    /// How pictures are brought to cover each other before.
    #[arg(long, value_enum, default_value_t = AlignChoice::None)]
    pub align: AlignChoice,
    /// Measure activity at half the resolution: about four times faster.
    #[arg(long)]
    pub fast: bool,
    /// Write the number of the picture that every pixel was taken from, spread over the range of shades (npy: the number itself).
    #[arg(long, value_name = "FILE")]
    pub decision_map: Option<PathBuf>,
    /// The same, smooth: the depth of the scene.
    #[arg(long, value_name = "FILE")]
    pub depth_map: Option<PathBuf>,
    /// Integer pictures: their full range maps to 0..S (numbers of float files are taken as they are, S being white).
    #[arg(long, value_name = "S", default_value_t = 255.0)]
    pub scale: f64,
    /// Penalty on the codes, for lightness from 0 to 100.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    pub penalty: f64,
    /// Times pursuit and smooth layer take turns; 0: the smooth layer of a picture itself is kept.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub alternations: usize,
    /// What the pictures are made of.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// What the result is scored against.
    #[command(flatten)]
    pub scoring: ScoringArgs,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `denoise`.
#[derive(Args)]
pub struct DenoiseArgs {
    /// The noisy picture.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Picture to write: png, jpeg, tiff, npy or npz, by the ending of its name.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Kind of noise: gaussian, gaussian:SIGMA, poisson, poisson:GAIN, mixed:GAIN,SIGMA, impulse or impulse:SHARE; what is left
    /// out is estimated.
    #[arg(long, value_name = "KIND", default_value = "gaussian")]
    pub noise: NoiseChoice,
    /// Way to take gaussian noise off.
    #[arg(long, value_enum, default_value_t = MethodOfDenoising::Local)]
    pub method: MethodOfDenoising,
    /// Keep the atoms as they are instead of fitting them to the picture.
    #[arg(long)]
    pub keep_atoms: bool,
    /// Integer pictures: their full range maps to 0..S (numbers of float files are taken as they are).
    #[arg(long, value_name = "S", default_value_t = 255.0)]
    pub scale: f64,
    /// Penalty on the codes [default: from the noise level].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub penalty: Option<f64>,
    /// What the picture is made of.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// What the result is scored against.
    #[command(flatten)]
    pub scoring: ScoringArgs,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `separate`.
#[derive(Args)]
pub struct SeparateArgs {
    /// The picture.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Where the smooth layer goes.
    #[arg(long, value_name = "F")]
    pub smooth_out: PathBuf,
    /// Where the texture goes; in pictures of whole numbers it is drawn around mid-grey.
    #[arg(long, value_name = "F")]
    pub texture_out: PathBuf,
    /// Weight of the squared gradient of the smooth layer.
    #[arg(long, value_name = "MU", default_value_t = Base::DEFAULT_MU, allow_negative_numbers = true)]
    pub smooth: f64,
    /// Integer pictures: their full range maps to 0..S (numbers of float files are taken as they are).
    #[arg(long, value_name = "S", default_value_t = 255.0)]
    pub scale: f64,
    /// Penalty on the codes, in units of the signal.
    #[arg(long, value_name = "X", conflicts_with = "relative_penalty", allow_negative_numbers = true)]
    pub penalty: Option<f64>,
    /// Penalty as a share of penalty_max, the smallest one with an all-zero answer [default: 0.05].
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub relative_penalty: Option<f64>,
    /// Times pursuit and smooth layer take turns; 0: the smooth layer of the picture itself is kept.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub alternations: usize,
    /// What the picture is made of.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// How the work is run, and how far.
    #[command(flatten)]
    pub run: RunArgs,
    /// Only say what would run, and the memory and time it needs.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Write a page to look at, in one file that needs no network.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Options of `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// A picture.
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Another of the same shape.
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Write their absolute difference as a picture.
    #[arg(short, long, value_name = "DIFFERENCE.png")]
    pub output: Option<PathBuf>,
    /// Integer pictures: their full range maps to 0..S.
    #[arg(long, value_name = "S", default_value_t = 255.0)]
    pub scale: f64,
    /// Largest value of a picture, for the scores [default: the scale].
    #[arg(long, value_name = "P")]
    pub peak: Option<f64>,
    /// Write a page to look at, in one file that needs no network.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// How the outcome is told.
    #[command(flatten)]
    pub telling: TellingArgs,
}
