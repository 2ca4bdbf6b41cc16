//! The outcome of a pursuit, for people.

use super::table::{Table, count, number, plural};
use lobcod::memory::words;
use lobcod::{Certificate, Report, Status};

/// Adds how a pursuit ended and what its certificate says.
pub fn pursuit(table: &mut Table, report: &Report) {
    penalty(table, report);
    table
        .row("status", ending(report.status))
        .row("objective", format!("{} (data term {})", number(report.total.objective), number(report.total.data_term)));
    certificate(table, &report.total);
    table.row(
        "work",
        format!(
            "{:.2} s, {} over all needles and {} over the non-zeros, {}",
            report.seconds,
            plural(report.discovery_sweeps, "sweep"),
            count(report.support_sweeps),
            means(report)
        ),
    );
}

/// Adds the penalty, and how it compares to the one with an all-zero answer.
pub fn penalty(table: &mut Table, report: &Report) {
    let most = report.total.penalty_max;
    if most.is_infinite() {
        // The work was stopped before it was known.
        table.row("penalty", number(report.penalty));
        return;
    }
    let share = if most > 0.0 { report.penalty / most } else { f64::INFINITY };
    table.row("penalty", format!("{} ({} of penalty_max {})", number(report.penalty), number(share), number(most)));
}

/// Adds how far the answer can be from the best one, and how sparse it is.
pub fn certificate(table: &mut Table, total: &Certificate) {
    table
        .row("gap", format!("{:.1e} of the objective: no answer is lower by more", total.relative_gap()))
        .row("non-zeros", format!("{} ({:.3} a pixel)", count(total.nonzeros), total.nonzeros as f64 / total.pixels as f64));
}

/// `2 threads, f32, 1.2 MiB`: what the work was done with.
pub fn means(report: &Report) -> String {
    format!("{}, {}, {}", plural(report.threads, "thread"), report.precision, words(report.working_memory_bytes))
}

/// How a run ended, in words.
pub fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::Stalled => "stalled: nothing changes any more, but the gap is above the tolerance",
        Status::MaxSweeps => "stopped at the limit of sweeps; the gap is above the tolerance",
        Status::TimeLimit => "stopped at the time limit; the gap is above the tolerance",
        Status::Interrupted => "interrupted; this is the answer so far",
    }
}

/// `256x256, 3 channels`, or `6 000 samples`.
pub fn shape(extent: lobcod::Extent, channels: usize) -> String {
    let size = if extent.rank() == 1 { plural(extent.volume(), "sample") } else { extent.to_string() };
    if channels == 1 { size } else { format!("{size}, {}", plural(channels, "channel")) }
}
