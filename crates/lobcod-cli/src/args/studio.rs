//! Options of `lobcod studio`.

use super::ThreadsArgs;
use clap::Args;

pub const EXAMPLES: &str = "Examples:
  lobcod studio --open                            # in the default browser
  lobcod studio --port 8080";

/// Options of `studio`.
#[derive(Args, Clone)]
pub struct StudioArgs {
    /// Port on this machine; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Open the page in the default browser.
    #[arg(long)]
    pub open: bool,
    /// Threads.
    #[command(flatten)]
    pub threads: ThreadsArgs,
}
