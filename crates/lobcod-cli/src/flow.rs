//! The flow of a command that solves a problem: a dry run, or the work, its outputs and its report.

use crate::Outcome;
use crate::args::{ConsoleArgs, PageArgs, PlanArgs, RunArgs};
use crate::dry_run::Plan;
use crate::output::paths::check_page;
use crate::output::{print, warn};
use crate::{engine, interrupt, json, ranks};
use anyhow::Result;
use lobcod::Status;
use serde::Serialize;
use std::path::Path;

/// Work whose inputs have been read and checked.
pub trait Job {
    /// The finished work.
    type Done: Finished;

    /// What would run, and what it needs.
    fn plan(&mut self) -> Result<Plan>;

    /// Does the work.
    fn run(self) -> Result<Self::Done>;
}

/// Finished work.
pub trait Finished {
    /// The report in JSON.
    type Report: Serialize;

    /// How the work ended.
    fn status(&self) -> Status;

    /// Writes the result.
    fn save(&mut self) -> Result<()>;

    /// Writes the HTML report.
    fn write_page(&mut self, path: &Path) -> Result<()>;

    /// The report in JSON.
    fn json(&self) -> Self::Report;

    /// The report as text.
    fn summary(&self) -> String;

    /// Warnings about results that are correct but probably not intended.
    fn warnings(&self) -> Vec<String>;

    /// The error of an output besides the result, such as the last checkpoint.
    fn late_error(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The options that direct the flow.
#[derive(Clone, Copy)]
pub struct Flow<'a> {
    /// Name of the command.
    pub command: &'static str,
    /// Accuracy, limits and resources.
    pub run: &'a RunArgs,
    /// HTML report.
    pub page: &'a PageArgs,
    /// Dry run.
    pub plan: &'a PlanArgs,
    /// Console output.
    pub console: &'a ConsoleArgs,
}

impl Flow<'_> {
    /// Checks the options that all commands share. Call it before images are read.
    pub fn begin(&self) -> Result<()> {
        interrupt::listen();
        engine::check(self.run)?;
        self.page.report.as_deref().map_or(Ok(()), check_page)
    }

    /// Prints the plan, or does the work, writes and prints its result.
    pub fn finish(&self, mut job: impl Job) -> Result<Outcome> {
        if self.plan.dry_run {
            return job.plan()?.print(self.command, self.console).map(|()| Outcome::Done);
        }
        let mut done = job.run()?;
        if ranks::is_silent() {
            return Ok(Outcome::Done);
        }
        done.save()?;
        let page = self.page.report.as_deref().map_or(Ok(()), |path| done.write_page(path));
        if self.console.json {
            json::print(self.command, done.json())?;
        } else if !self.console.quiet {
            print(&done.summary())?;
        }
        done.warnings().iter().for_each(|warning| warn(warning));
        // The result is written; now report what could not be written besides.
        done.late_error()?;
        page?;
        let interrupted = done.status() == Status::Interrupted;
        Ok(if interrupted { Outcome::Interrupted } else { Outcome::Done })
    }
}

/// Gives a command with these option groups its flow.
macro_rules! flow {
    ($args:ty, $command:literal) => {
        impl $args {
            /// The flow of the command.
            pub fn flow(&self) -> $crate::flow::Flow<'_> {
                $crate::flow::Flow {
                    command: $command,
                    run: &self.run,
                    page: &self.page,
                    plan: &self.plan,
                    console: &self.console,
                }
            }
        }
    };
}
pub(crate) use flow;
