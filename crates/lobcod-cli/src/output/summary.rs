//! The outcome of a pursuit, for people.

use super::table::{Table, count, number, plural};
use lobcod::memory::words;
use lobcod::{Report, Status};

/// Adds how a pursuit ended and what its certificate says.
pub fn pursuit(table: &mut Table, report: &Report) {
    let total = &report.total;
    let share = if total.penalty_max > 0.0 { report.penalty / total.penalty_max } else { f64::INFINITY };
    table
        .row("penalty", format!("{} ({} of penalty_max {})", number(report.penalty), number(share), number(total.penalty_max)))
        .row("status", ending(report.status))
        .row("objective", format!("{} (data term {})", number(total.objective), number(total.data_term)))
        .row("gap", format!("{:.1e} of the objective: no answer is lower by more", total.relative_gap()))
        .row("non-zeros", format!("{} ({:.3} a pixel)", count(total.nonzeros), total.nonzeros as f64 / total.pixels as f64))
        .row(
            "work",
            format!(
                "{:.2} s, {} over all needles and {} over the non-zeros, {}, {}, {}",
                report.seconds,
                plural(report.discovery_sweeps, "sweep"),
                count(report.support_sweeps),
                plural(report.threads, "thread"),
                report.precision,
                words(report.working_memory_bytes)
            ),
        );
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
