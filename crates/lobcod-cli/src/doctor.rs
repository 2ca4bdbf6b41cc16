//! `lobcod doctor`: what this machine supports.

use crate::Outcome;
use crate::args::{ConsoleArgs, DoctorArgs};
use crate::command::Command;
use crate::json;
use crate::machine;
use crate::output::print;
use crate::output::table::Table;
use crate::ranks;
use anyhow::Result;
use lobcod::memory::words;
use lobcod_cuda::DeviceFacts;
use lobcod_simd::Level;

const PORTABLE: &str = " (the solver is faster on processors with AVX2 and FMA)";

impl Command for DoctorArgs {
    fn run(&self) -> Result<Outcome> {
        run(self).map(|()| Outcome::Done)
    }

    fn console(&mut self) -> Option<&mut ConsoleArgs> {
        Some(&mut self.console)
    }
}

/// Prints what this machine supports, and how to enable what is missing.
fn run(args: &DoctorArgs) -> Result<()> {
    let level = Level::detect();
    let threads = machine::threads();
    let memory = machine::memory();
    let device = DeviceFacts::find();
    let cuda = device.as_ref().map_or_else(ToString::to_string, ToString::to_string);
    let ranks = ranks::doctor();
    if ranks.as_deref() == Ok("") {
        // A rank started by another doctor has nothing more to print.
        return Ok(());
    }
    let mpi = ranks.clone().unwrap_or_else(|missing| missing);
    if args.console.json {
        let report = json::Doctor {
            version: env!("CARGO_PKG_VERSION"),
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            processor: machine::processor(),
            simd: level.to_string(),
            threads,
            memory_bytes: memory.map(|m| m.0),
            free_memory_bytes: memory.map(|m| m.1),
            engines: json::Engines { cpu: true, cuda: device.is_ok(), mpi: ranks.is_ok() },
            device: device.as_ref().ok().map(ToString::to_string),
            advice: json::Advice { cuda: device.is_err().then_some(cuda), mpi: ranks.err() },
        };
        return json::print("doctor", report);
    }
    let mut table = Table::default();
    table
        .row(
            "lobcod",
            format!(
                "{}, {} {}",
                env!("CARGO_PKG_VERSION"),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
        )
        .row("processor", machine::processor().unwrap_or("unknown".into()))
        .row(
            "vector instructions",
            format!("{level}{}", if level == Level::Portable { PORTABLE } else { "" }),
        )
        .row("threads", format!("{threads} (large inputs use all unless --threads is given)"))
        .row(
            "memory",
            memory.map_or("unknown".into(), |(all, free)| {
                format!("{} of {} free", words(free), words(all))
            }),
        )
        .row("GPU (CUDA)", cuda)
        .row("MPI", mpi);
    print(&table.render())
}
