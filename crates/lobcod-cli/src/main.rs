//! The `lobcod` command-line program.

mod allocator;
mod args;
mod batch;
mod budget;
mod checkpoint;
mod closeness;
mod compare;
mod decode;
mod demo;
mod denoise;
mod dictionary;
mod doctor;
mod dry_run;
mod encode;
mod engine;
mod folders;
mod fuse;
mod inpaint;
mod input;
mod interrupt;
mod learn;
mod machine;
mod manual;
mod missing;
mod mosaic;
mod output;
mod painted;
mod params;
mod progress;
mod ranks;
mod report;
mod score;
mod separate;
mod show;
mod synthesis;
mod trial;
mod uses;
mod values;
mod white;

use crate::args::{Cli, Command};
use crate::budget::Budget;
use anyhow::Result;
use std::process::ExitCode;

/// Exit code for failures. (clap exits with 2 on wrong usage.)
const FAILED: u8 = 1;
/// Exit code after an interruption, once results are saved.
const INTERRUPTED: u8 = 130;

/// How a successful command ended.
enum Outcome {
    Done,
    /// Some of several images failed, and the errors have been printed.
    Failed,
    Interrupted,
}

fn main() -> ExitCode {
    let code = match run(Cli::parse_or_exit()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => FAILED.into(),
        Ok(Outcome::Interrupted) => INTERRUPTED.into(),
        Err(error) if matches!(error.downcast_ref(), Some(lobcod::Error::Stopped)) => {
            output::note("interrupted: there was nothing to save yet");
            INTERRUPTED.into()
        }
        Err(error) => {
            ranks::give_way();
            output::fail(&error);
            ranks::fail();
            FAILED.into()
        }
    };
    ranks::leave();
    code
}

fn run(mut cli: Cli) -> Result<Outcome> {
    ranks::prepare(&mut cli.command)?;
    let quiet = cli.command.console().is_some_and(|console| console.quiet);
    if let Some(run) = cli.command.run_args() {
        engine::choose(run, quiet);
        Budget::set_limit(run);
        Budget::enforce(run);
    }
    if quiet {
        output::be_quiet();
    }
    if cli.command.console().is_some_and(|console| console.verbose) {
        output::start_log();
        output::log(|| {
            format!(
                "lobcod {}, {} threads available",
                env!("CARGO_PKG_VERSION"),
                machine::threads()
            )
        });
    }
    let images = match &mut cli.command {
        Command::Encode(args) => Some(&mut args.images),
        Command::Learn(args) => Some(&mut args.images),
        Command::Fuse(args) => Some(&mut args.images),
        _ => None,
    };
    if let Some(images) = images {
        *images = folders::images_of(images)?;
    }
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Encode(args) => encode::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Inpaint(args) => batch::inpaint(&args),
        Command::Fuse(args) => fuse::run(&args),
        Command::Denoise(args) => batch::denoise(&args),
        Command::Separate(args) => batch::separate(&args),
        Command::Compare(args) => compare::run(&args).map(|()| Outcome::Done),
        Command::Decode(args) => decode::run(&args).map(|()| Outcome::Done),
        Command::Show(args) => show::run(&args).map(|()| Outcome::Done),
        Command::Doctor(args) => doctor::run(&args).map(|()| Outcome::Done),
        Command::Completions(args) => manual::completions(&args).map(|()| Outcome::Done),
        Command::Manual(args) => manual::pages(&args).map(|()| Outcome::Done),
    }
}
