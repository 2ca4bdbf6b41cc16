//! Constraints on the codes and atoms that `learn` finds.

use clap::{Args, ValueEnum};
use lobcod::dictionary::Window;
use std::path::PathBuf;

/// An order of the learnt atoms.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortChoice {
    /// By the variance they explain, largest first.
    Variance,
}

/// Constraints on codes and atoms.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// Require non-negative codes.
    #[arg(long)]
    pub nonnegative: bool,
    /// Learn atoms whose mean is zero in every channel.
    #[arg(long)]
    pub zero_mean: bool,
    /// Taper atoms towards the ends of their box: tukey:ALPHA, where ALPHA is the tapered fraction
    /// of each axis, above 0 and at most 1.
    #[arg(long, value_name = "tukey:ALPHA")]
    pub window: Option<Window>,
    /// Rank of an atom over its channels: 1 learns one pattern times one weight per channel.
    #[arg(long, value_name = "1", value_parser = clap::value_parser!(u8).range(1..=1))]
    pub rank: Option<u8>,
    /// Atoms of a .npy or .npz file that stay as they are; --atoms more are learnt next to them.
    #[arg(long, value_name = "FILE")]
    pub freeze: Option<PathBuf>,
    /// Start with one atom and add the others one at a time, each as the patch that is represented
    /// worst.
    #[arg(long)]
    pub grow: bool,
    /// Order of the learnt atoms [default: that of learning].
    #[arg(long, value_enum)]
    pub sort: Option<SortChoice>,
}

impl ModelArgs {
    /// The given options, for reports.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = [
            ("nonnegative", self.nonnegative),
            ("zero-mean", self.zero_mean),
            ("rank 1", self.rank.is_some()),
            ("grow", self.grow),
            ("sort variance", self.sort.is_some()),
        ]
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(word, _)| word.to_string())
        .collect();
        words.extend(self.window.map(|window| format!("window {window}")));
        words.extend(self.freeze.as_ref().map(|file| format!("freeze {}", file.display())));
        words
    }
}
