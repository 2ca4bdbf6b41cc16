//! Options of `fuse`, `denoise`, `separate` and `compare`.

use super::{
    ConsoleArgs, DictionaryArgs, ImagesArgs, PageArgs, PeakArgs, PenaltyArgs, PlanArgs, RunArgs,
    ScaleArgs, ScoringArgs, SmoothArgs,
};
use crate::values::{
    ActivityChoice, AlignChoice, ComposeChoice, FuseBaseChoice, MethodOfDenoising, ModeChoice,
    PreferChoice, Preset, one_of,
};
use clap::Args;
use lobcod_io::Axes;
use lobcod_tasks::denoise::Noise;
use std::path::PathBuf;

pub(super) const FUSE_EXAMPLES: &str = "Examples:
  lobcod fuse near.png far.png -o sharp.png
  lobcod fuse stack/*.tif -o sharp.tif --decision-map from.png
  lobcod fuse *.jpg -o sharp.png --align similarity             # hand-held
  lobcod fuse dark.jpg bright.jpg -o good.png --mode exposure
  lobcod fuse large/*.png -o sharp.png --fast                   # half resolution";

pub(super) const DENOISE_EXAMPLES: &str = "Examples:
  lobcod denoise photo.jpg -o clean.png                         # any noise
  lobcod denoise photo.jpg -o clean.png --strength 0.7          # removes less
  lobcod denoise photo.png -o clean.png --noise 25              # white noise
  lobcod denoise counts.npy -o clean.npy --noise poisson
  lobcod denoise raw.tif -o clean.tif --noise mixed:0.5,3       # gain, read noise
  lobcod denoise page.png -o clean.png --noise impulse          # salt and pepper";

pub(super) const SEPARATE_EXAMPLES: &str = "Examples:
  lobcod separate photo.png --smooth-out smooth.png --texture-out texture.png
  lobcod separate photo.png --smooth-out smooth.npy --texture-out texture.npy \\
      --smooth 20 --penalty 10";

pub(super) const COMPARE_EXAMPLES: &str = "Examples:
  lobcod compare a.png b.png
  lobcod compare a.png b.png -o difference.png --json
  lobcod compare a.png b.png --report report.html               # with a slider";

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
    /// The smooth layer.
    #[command(flatten)]
    pub smooth: SmoothArgs,
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
    /// Take pixels from the images that this map names, in the form of --decision-map; where it is
    /// NaN or transparent, the image is fused as usual.
    ///
    /// The map has the size of the fused image. lobcod studio exports what is painted there.
    #[arg(long, value_name = "FILE")]
    pub decision: Option<PathBuf>,
    /// Write the index of the image each pixel was taken from, scaled to the range of grey values
    /// (npy: the index itself).
    #[arg(long, value_name = "FILE")]
    pub decision_map: Option<PathBuf>,
    /// Write a smoothed decision map, an estimate of the scene depth.
    #[arg(long, value_name = "FILE")]
    pub depth_map: Option<PathBuf>,
    /// Scale of integer images.
    #[command(flatten)]
    pub scale: ScaleArgs,
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

/// Options of `denoise`.
#[derive(Args, Clone)]
pub struct DenoiseArgs {
    /// The images.
    #[command(flatten)]
    pub files: ImagesArgs,
    /// Output image: png, jpeg, tiff, npy or npz, chosen by the file extension.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Noise model: auto, gaussian, correlated, poisson or impulse, with an estimated level; or
    /// with a given level: gaussian:SIGMA, correlated:SIGMA, poisson:GAIN, mixed:GAIN,SIGMA or
    /// impulse:FRACTION.
    ///
    /// A number alone is the SIGMA of Gaussian noise.
    #[arg(long, value_name = "KIND", default_value = "auto")]
    pub noise: Noise,
    /// Factor applied to the noise level: below 1 keeps more detail and noise, above 1 smooths
    /// more.
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_negative_numbers = true)]
    pub strength: f64,
    /// Speed or quality for Gaussian and Poisson noise: fast codes each patch separately, standard
    /// and best code groups of similar patches [default: standard; fast with --dictionary or
    /// --keep-atoms].
    #[arg(long, value_enum, hide_possible_values = true)]
    pub preset: Option<Preset>,
    /// Method for Gaussian and Poisson noise, instead of that of the preset.
    #[arg(long, value_enum)]
    pub method: Option<MethodOfDenoising>,
    /// Use the dictionary unchanged instead of adapting it to the image.
    #[arg(long)]
    pub keep_atoms: bool,
    /// Order of the axes [default: hw; hwc for colour images].
    ///
    /// In a volume (dhw, dhwc) and in a sequence (thw, thwc), similar patches are also searched in
    /// neighbouring slices or frames, which may be the images in a folder. Of volumes over time
    /// (tdhw, tdhwc), each time point is denoised separately, and outputs are folders.
    #[arg(
        long,
        value_name = "AXES",
        value_parser = one_of::<Axes, _>(["hw", "hwc", "chw", "dhw", "dhwc", "thw", "thwc", "tdhw", "tdhwc"])
    )]
    pub axes: Option<Axes>,
    /// Scale of integer images.
    #[command(flatten)]
    pub scale: ScaleArgs,
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

/// Options of `separate`.
#[derive(Args, Clone)]
pub struct SeparateArgs {
    /// The images.
    #[command(flatten)]
    pub files: ImagesArgs,
    /// Output file for the smooth layer.
    #[arg(long, value_name = "F")]
    pub smooth_out: PathBuf,
    /// Output file for the texture; in integer images, zero is mid-grey.
    #[arg(long, value_name = "F")]
    pub texture_out: PathBuf,
    /// The smooth layer.
    #[command(flatten)]
    pub smooth: SmoothArgs,
    /// Scale of integer images.
    #[command(flatten)]
    pub scale: ScaleArgs,
    /// The penalty.
    #[command(flatten)]
    pub penalty: PenaltyArgs,
    /// Number of alternations between pursuit and smooth layer; 0 keeps the smooth layer of the
    /// image itself.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub alternations: usize,
    /// The dictionary.
    #[command(flatten)]
    pub dictionary: DictionaryArgs,
    /// Accuracy, limits and resources.
    #[command(flatten)]
    pub run: RunArgs,
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
    /// Scale of integer images.
    #[command(flatten)]
    pub scale: ScaleArgs,
    /// Peak value of scores.
    #[command(flatten)]
    pub score: PeakArgs,
    /// HTML report.
    #[command(flatten)]
    pub page: PageArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}
