//! Progress bar, log and Ctrl-C.

use crate::args::ConsoleArgs;
use crate::interrupt;
use crate::output::table::{count, number, plural};
use crate::output::{is_coloured, log};
use crate::ranks;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lobcod::run::Stop;
use lobcod::{Control, Observer, Progress};
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Resolution of the bar.
const STEPS: f64 = 1000.0;
/// Bar, elapsed time, time left and current stage; narrow terminals truncate the end.
const PLAIN: &str = "{bar:20} {elapsed:>4}{prefix}  {wide_msg}";
const COLOURED: &str = "{bar:20.cyan/dim} {elapsed:>4}{prefix}  {wide_msg}";
/// Fraction done and seconds before which the remaining time is not estimated.
const TOO_EARLY: (f64, f64) = (0.04, 1.0);

/// Number of the image that is being processed, and how many there are, in a batch; 0 outside one.
static BATCH: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Records which of several images is being processed.
pub fn set_batch(number: usize, count: usize) {
    BATCH[0].store(number, Ordering::Relaxed);
    BATCH[1].store(count, Ordering::Relaxed);
}

/// Whether several images, a folder or a pattern are processed, with a report for each image.
pub fn is_batch() -> bool {
    BATCH[1].load(Ordering::Relaxed) > 0
}

/// The number of the image, and how many there are.
fn batch() -> (usize, usize) {
    (BATCH[0].load(Ordering::Relaxed), BATCH[1].load(Ordering::Relaxed).max(1))
}

/// Observes a run: draws a progress bar on a terminal and forwards Ctrl-C.
pub struct Watcher {
    bar: ProgressBar,
    /// Name of the task.
    task: &'static str,
    /// Fraction of the run that is done.
    fraction: f64,
    /// Name and total number of learning steps.
    steps: Option<(&'static str, usize)>,
}

impl Watcher {
    /// A watcher of a task. It draws only if standard error is a terminal and the console options
    /// allow it.
    pub fn of(console: &ConsoleArgs, task: &'static str) -> Self {
        // Lines of a log and a bar would overwrite each other.
        let seen =
            std::io::stderr().is_terminal() && !console.quiet && !console.json && !console.verbose;
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(if is_coloured() { COLOURED } else { PLAIN });
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        interrupt::set_working(true);
        Self { bar, task, fraction: 0.0, steps: None }
    }

    /// A watcher of learning in `count` steps, each called a `step`, and of the final pursuit.
    pub fn of_learning(console: &ConsoleArgs, step: &'static str, count: usize) -> Self {
        let mut watcher = Self::of(console, "learn");
        watcher.steps = Some((step, count));
        watcher
    }
}

impl Observer for Watcher {
    fn progress(&mut self, now: &Progress) -> Control {
        log(|| self.numbers(now));
        // A stream of images does not know how many there will be.
        let fraction = match (now.pass, self.steps) {
            (Some(pass), Some((_, steps))) if now.fraction == 0.0 => {
                (pass - 1) as f64 / steps.max(1) as f64
            }
            _ => now.fraction,
        };
        self.fraction = fraction;
        let (number, count) = batch();
        let done = (number as f64 + fraction) / count as f64;
        self.bar.set_position((STEPS * done) as u64);
        self.bar.set_prefix(self.time_left());
        self.bar.set_message(self.stage(now));
        if interrupt::requested() { Control::Stop } else { Control::Continue }
    }

    fn stop(&self) -> Stop {
        // Ranks stop together, between two sweeps.
        if ranks::count().is_some() { Stop::default() } else { Stop::when(interrupt::requested) }
    }
}

impl Watcher {
    /// The current stage, for the screen; the log of `-v` has the numbers.
    fn stage(&self, now: &Progress) -> String {
        match (now.pass, self.steps) {
            (Some(pass), Some((step, steps))) => format!("{step} {pass} of {steps}"),
            _ => {
                let sweeps = match now.discovery_sweeps + now.support_sweeps {
                    0 => String::new(),
                    count => plural(count, "sweep"),
                };
                let (number, count) = batch();
                let image = if count == 1 {
                    String::new()
                } else {
                    format!("image {} of {count}", number + 1)
                };
                let words = [image, sweeps].into_iter().filter(|words| !words.is_empty());
                let words = words.collect::<Vec<_>>().join(", ");
                let colon = if words.is_empty() { "" } else { ": " };
                format!("{}{colon}{words}", self.task)
            }
        }
    }

    /// Where the solver is, for the log.
    fn numbers(&self, now: &Progress) -> String {
        let (objective, nonzeros) = (number(now.objective), count(now.nonzeros));
        match (now.pass, self.steps) {
            (Some(pass), Some((step, steps))) => {
                let gap = gap(now);
                format!(
                    "{step} {pass} of {steps}  objective {objective}  non-zeros {nonzeros}{gap}"
                )
            }
            _ => format!(
                "{}: objective {objective}{}  non-zeros {nonzeros}  sweeps {} + {}",
                self.task,
                gap(now),
                now.discovery_sweeps,
                now.support_sweeps
            ),
        }
    }

    /// The remaining time at the current rate, once it can be estimated.
    fn time_left(&self) -> String {
        let seconds = self.bar.elapsed().as_secs_f64();
        if self.fraction < TOO_EARLY.0 || seconds < TOO_EARLY.1 || self.fraction >= 1.0 {
            return String::new();
        }
        let (number, count) = batch();
        let images = (count - number) as f64;
        format!(", about {} left", duration(seconds * (images - self.fraction) / self.fraction))
    }
}

fn gap(now: &Progress) -> String {
    now.relative_gap.map_or(String::new(), |gap| format!("  gap {gap:.1e}"))
}

/// An approximate time: `0.4 s`, `12 s`, `3 min`, `2.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        interrupt::set_working(false);
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let words: Vec<String> = [0.04, 9.0, 31.2, 100.0, 4000.0, 9000.0].map(duration).into();
        assert_eq!(words, ["0.0 s", "9.0 s", "31 s", "2 min", "67 min", "2.5 h"]);
    }
}
