//! The progress bar, and the ear for Ctrl-C.

use crate::args::TellingArgs;
use crate::interrupt;
use crate::output::table::{count, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lobcod::{Control, Observer, Progress};
use std::io::IsTerminal as _;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// Watches a solver: draws a bar on a terminal, and passes Ctrl-C on.
pub struct Watcher {
    bar: ProgressBar,
    first_gap: Option<f64>,
    /// What learning counts, and how many of it there will be.
    steps: Option<(&'static str, usize)>,
}

impl Watcher {
    /// A watcher that draws only when standard error is a terminal and someone wants to see it.
    pub fn new(telling: &TellingArgs) -> Self {
        let seen = std::io::stderr().is_terminal() && !telling.quiet && !telling.json;
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style =
            ProgressStyle::with_template("{bar:20} {elapsed:>4}  {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: ProgressBar::with_draw_target(Some(STEPS), target).with_style(style), first_gap: None, steps: None }
    }

    /// A watcher of learning in so many steps, each called a `step`, and of the pursuit that ends it.
    pub fn of_learning(telling: &TellingArgs, step: &'static str, count: usize) -> Self {
        let mut watcher = Self::new(telling);
        watcher.steps = Some((step, count));
        watcher
    }
}

impl Observer for Watcher {
    fn progress(&mut self, now: &Progress) -> Control {
        match (now.pass, self.steps) {
            (Some(pass), Some(steps)) => self.show_step(now, pass, steps),
            _ => self.show_sweep(now),
        }
        if interrupt::asked() { Control::Stop } else { Control::Continue }
    }
}

impl Watcher {
    fn show_step(&self, now: &Progress, reached: usize, (step, steps): (&str, usize)) {
        self.bar.set_position(STEPS * reached as u64 / steps.max(1) as u64);
        let (objective, nonzeros) = (number(now.objective), count(now.nonzeros));
        self.bar.set_message(format!("{step} {reached} of {steps}  objective {objective}  non-zeros {nonzeros}"));
    }

    fn show_sweep(&mut self, now: &Progress) {
        // The gap shrinks by about the same factor a sweep, so its logarithm is what measures the way done.
        if let Some(gap) = now.relative_gap.filter(|gap| *gap > 0.0) {
            let first = *self.first_gap.get_or_insert(gap);
            let target = now.tolerance.max(f64::MIN_POSITIVE);
            let done = if gap <= target { 1.0 } else { (first / gap).ln() / (first / target).ln() };
            let position = (STEPS as f64 * done.clamp(0.0, 1.0)) as u64;
            self.bar.set_position(position.max(self.bar.position()));
        }
        let gap = now.relative_gap.map_or("-".into(), |gap| format!("{gap:.1e}"));
        self.bar.set_message(format!(
            "objective {}  gap {gap}  non-zeros {}  sweeps {} + {}",
            number(now.objective),
            count(now.nonzeros),
            now.discovery_sweeps,
            now.support_sweeps
        ));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
