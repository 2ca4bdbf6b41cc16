//! The `lobcod` command-line program.

mod allocator;
mod args;
mod batch;
mod browser;
mod budget;
mod checkpoint;
mod closeness;
mod command;
mod compare;
mod decode;
mod demo;
mod denoise;
mod dictionary;
mod doctor;
mod dry_run;
mod encode;
mod engine;
mod find_damage;
mod flow;
mod folders;
mod fuse;
mod inpaint;
mod input;
mod interrupt;
mod json;
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
mod slices;
mod studio;
mod synthesis;
mod trial;
mod uses;
mod values;
mod white;

use crate::args::{Cli, ConsoleArgs};
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
    let command = cli.command.get();
    ranks::prepare(command)?;
    let console = command.console().cloned();
    let is = |flag: fn(&ConsoleArgs) -> bool| console.as_ref().is_some_and(flag);
    if let Some(run) = command.resources() {
        engine::choose(run, is(|console| console.quiet));
        Budget::set_limit(run);
        Budget::enforce(run);
    }
    if is(|console| console.verbose) {
        output::start_log();
        output::log(|| {
            format!(
                "lobcod {}, {} threads available",
                env!("CARGO_PKG_VERSION"),
                machine::threads()
            )
        });
    }
    let axes = command.axes();
    if let Some(images) = command.images() {
        *images = folders::images_of(images, axes)?;
    }
    command.run()
}
