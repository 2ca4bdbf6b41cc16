//! `lobcod` on the command line.

mod allocator;
mod args;
mod budget;
mod checkpoint;
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
mod mosaic;
mod output;
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

use crate::args::{Cli, Verb};
use anyhow::Result;
use std::process::ExitCode;

/// Exit code of work that failed. (Wrong usage is 2, which clap gives.)
const FAILED: u8 = 1;
/// Exit code of work that was interrupted, after saving.
const INTERRUPTED: u8 = 130;

/// How a verb ended that did not fail.
enum Outcome {
    Done,
    Interrupted,
}

fn main() -> ExitCode {
    let code = match run(Cli::parse_or_exit()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Interrupted) => INTERRUPTED.into(),
        Err(error) if matches!(error.downcast_ref(), Some(lobcod::Error::Stopped)) => {
            output::note("interrupted: there was nothing yet to save");
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
    ranks::prepare(&mut cli.verb)?;
    cli.verb.work().into_iter().for_each(budget::Budget::enforce);
    if cli.verb.telling().is_some_and(|telling| telling.verbose) {
        output::start_log();
        output::log(|| format!("lobcod {} with {} threads at hand", env!("CARGO_PKG_VERSION"), machine::threads()));
    }
    let images = match &mut cli.verb {
        Verb::Encode(args) => Some(&mut args.images),
        Verb::Learn(args) => Some(&mut args.images),
        Verb::Fuse(args) => Some(&mut args.images),
        _ => None,
    };
    if let Some(images) = images {
        *images = folders::pictures_of(images)?;
    }
    match cli.verb {
        Verb::Demo(args) => demo::run(&args),
        Verb::Encode(args) => encode::run(&args),
        Verb::Learn(args) => learn::run(&args),
        Verb::Inpaint(args) => inpaint::run(&args),
        Verb::Fuse(args) => fuse::run(&args),
        Verb::Denoise(args) => denoise::run(&args),
        Verb::Separate(args) => separate::run(&args),
        Verb::Compare(args) => compare::run(&args).map(|()| Outcome::Done),
        Verb::Decode(args) => decode::run(&args).map(|()| Outcome::Done),
        Verb::Show(args) => show::run(&args).map(|()| Outcome::Done),
        Verb::Doctor(args) => doctor::run(&args).map(|()| Outcome::Done),
        Verb::Completions(args) => manual::completions(&args).map(|()| Outcome::Done),
        Verb::Manual(args) => manual::pages(&args).map(|()| Outcome::Done),
    }
}
