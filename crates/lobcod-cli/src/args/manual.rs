//! Options of `completions` and `manual`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Examples in the help of `completions`.
pub const COMPLETIONS_EXAMPLES: &str = "Examples:
  lobcod completions bash > ~/.local/share/bash-completion/completions/lobcod
  lobcod completions zsh > ~/.zfunc/_lobcod
  lobcod completions fish > ~/.config/fish/completions/lobcod.fish";

/// Options of `completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// Shell to generate the script for.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `manual`.
#[derive(Args)]
pub struct ManualArgs {
    /// Folder for the man pages; created if it does not exist.
    #[arg(short, long, value_name = "DIR", default_value = "man")]
    pub output: PathBuf,
}
