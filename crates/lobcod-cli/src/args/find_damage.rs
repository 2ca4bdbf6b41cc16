//! Options of `find-damage`.

use super::{ConsoleArgs, PageArgs, ThreadsArgs};
use clap::Args;
use std::path::PathBuf;

/// Examples in the help of `find-damage`.
pub const EXAMPLES: &str = "Examples:
  lobcod find-damage photo.jpg -o mask.png
  lobcod find-damage photo.jpg -o mask.png --report review.html
  lobcod inpaint photo.jpg --holes mask.png -o repaired.png   after a review";

/// Options of `find-damage`.
#[derive(Args)]
pub struct FindDamageArgs {
    /// Greyscale or colour image.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Mask to write: suspected damage is white, everything else black.
    #[arg(short, long, value_name = "MASK.png")]
    pub output: PathBuf,
    /// HTML report.
    #[command(flatten)]
    pub page: PageArgs,
    /// Threads.
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Console output.
    #[command(flatten)]
    pub console: ConsoleArgs,
}
