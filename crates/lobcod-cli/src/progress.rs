//! The progress bar, the log, and the ear for Ctrl-C.

use crate::args::TellingArgs;
use crate::interrupt;
use crate::output::table::{count, number};
use crate::output::{is_coloured, log};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lobcod::{Control, Observer, Progress, Stop};
use std::io::IsTerminal as _;

/// Steps of the bar.
const STEPS: f64 = 1000.0;
/// The bar, seconds, seconds left, and where the work stands; narrow terminals cut the end off.
const PLAIN: &str = "{bar:20} {elapsed:>4}{prefix}  {wide_msg}";
const COLOURED: &str = "{bar:20.cyan/dim} {elapsed:>4}{prefix}  {wide_msg}";
/// Share of the way, and seconds, before which it is too early to say how long the rest will take.
const TOO_EARLY: (f64, f64) = (0.04, 1.0);

/// Watches a solver: draws a bar on a terminal, and passes Ctrl-C on.
pub struct Watcher {
    bar: ProgressBar,
    /// What is being done.
    task: &'static str,
    /// How many pursuits it will take, about.
    parts: usize,
    /// The one that is running, its first gap, and the sweeps it had when it was last looked at.
    part: usize,
    first_gap: Option<f64>,
    sweeps: usize,
    /// What learning counts, and how many of it there will be.
    steps: Option<(&'static str, usize)>,
}

impl Watcher {
    /// A watcher of a task of about so many pursuits. It draws only when standard error is a terminal and someone wants to see it.
    pub fn of(telling: &TellingArgs, task: &'static str, parts: usize) -> Self {
        // Lines of a log and a bar would overwrite each other.
        let seen = std::io::stderr().is_terminal() && !telling.quiet && !telling.json && !telling.verbose;
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(if is_coloured() { COLOURED } else { PLAIN });
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        interrupt::working(true);
        Self { bar, task, parts, part: 0, first_gap: None, sweeps: 0, steps: None }
    }

    /// A watcher of learning in so many steps, each called a `step`, and of the pursuit that ends it.
    pub fn of_learning(telling: &TellingArgs, step: &'static str, count: usize) -> Self {
        let mut watcher = Self::of(telling, "learn", 1);
        watcher.steps = Some((step, count));
        watcher
    }
}

impl Observer for Watcher {
    fn progress(&mut self, now: &Progress) -> Control {
        let words = match (now.pass, self.steps) {
            (Some(pass), Some(steps)) => self.step(now, pass, steps),
            _ => self.sweep(now),
        };
        log(|| words.clone());
        self.bar.set_prefix(self.time_left());
        self.bar.set_message(words);
        if interrupt::asked() { Control::Stop } else { Control::Continue }
    }

    fn stop(&self) -> Stop {
        Stop::when(interrupt::asked)
    }
}

impl Watcher {
    fn step(&self, now: &Progress, reached: usize, (step, steps): (&str, usize)) -> String {
        self.bar.set_position((STEPS * reached as f64 / steps.max(1) as f64) as u64);
        let (objective, nonzeros) = (number(now.objective), count(now.nonzeros));
        format!("{step} {reached} of {steps}  objective {objective}  non-zeros {nonzeros}{}", gap(now))
    }

    fn sweep(&mut self, now: &Progress) -> String {
        let sweeps = now.discovery_sweeps + now.support_sweeps;
        if sweeps < self.sweeps {
            (self.part, self.first_gap) = ((self.part + 1).min(self.parts - 1), None);
        }
        self.sweeps = sweeps;
        // The gap shrinks by about the same factor a sweep, so its logarithm is what measures the way done.
        if let Some(gap) = now.relative_gap.filter(|gap| *gap > 0.0) {
            let first = *self.first_gap.get_or_insert(gap);
            let target = now.tolerance.max(f64::MIN_POSITIVE);
            let done = if gap <= target { 1.0 } else { (first / gap).ln() / (first / target).ln() };
            let position = STEPS * (self.part as f64 + done.clamp(0.0, 1.0)) / self.parts as f64;
            self.bar.set_position((position as u64).max(self.bar.position()));
        }
        format!(
            "{}: objective {}{}  non-zeros {}  sweeps {} + {}",
            self.task,
            number(now.objective),
            gap(now),
            count(now.nonzeros),
            now.discovery_sweeps,
            now.support_sweeps
        )
    }

    /// What the rest will take if it goes on as it has, once that can be said.
    fn time_left(&self) -> String {
        let (done, seconds) = (self.bar.position() as f64 / STEPS, self.bar.elapsed().as_secs_f64());
        if done < TOO_EARLY.0 || seconds < TOO_EARLY.1 || done >= 1.0 {
            return String::new();
        }
        format!(", about {} left", duration(seconds * (1.0 - done) / done))
    }
}

fn gap(now: &Progress) -> String {
    now.relative_gap.map_or(String::new(), |gap| format!("  gap {gap:.1e}"))
}

/// `0.4 s`, `12 s`, `3 min`, `2.5 h`: a time that is not known exactly.
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
        interrupt::working(false);
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
