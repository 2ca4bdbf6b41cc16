//! Summary of a pursuit for the console.

use super::table::{Table, count, number, plural};
use lobcod::memory::words;
use lobcod::{Certificate, Report, Status};

/// Adds the status and certificate of a pursuit.
pub fn pursuit(table: &mut Table, report: &Report) {
    penalty(table, report);
    table.row("status", ending(report.status)).row(
        "objective",
        format!(
            "{} (data term {})",
            number(report.total.objective),
            number(report.total.data_term)
        ),
    );
    certificate(table, &report.total);
    if let Some(constrained) = &report.constrained {
        table.row(
            "constraint",
            format!(
                "residual {} of at most {}; l1 norm {}, at most {} above the smallest",
                number(constrained.error),
                number(constrained.max_error),
                number(constrained.l1_norm),
                number(constrained.gap)
            ),
        );
    }
    if let Some(reweighted) = &report.reweighted {
        table.row(
            "reweighting",
            format!(
                "{}; objective {} with the loss itself; the gap is that of the last weighted \
                 problem",
                plural(reweighted.rounds, "weighted problem"),
                number(reweighted.objective)
            ),
        );
    }
    if let Some(term) = report.debiased_data_term {
        table.row("debiased", format!("data term {} after least squares", number(term)));
    }
    table.row(
        "run",
        format!(
            "{:.2} s, {} over all needles and {} over the non-zeros, {}",
            report.seconds,
            plural(report.discovery_sweeps, "sweep"),
            count(report.support_sweeps),
            means(report)
        ),
    );
}

/// Adds the penalty, absolute and relative to penalty_max.
pub fn penalty(table: &mut Table, report: &Report) {
    let most = report.total.penalty_max;
    if most.is_infinite() {
        // The run was stopped before penalty_max was computed.
        table.row("penalty", number(report.penalty));
        return;
    }
    let penalty = number(report.penalty);
    table.row(
        "penalty",
        if most > 0.0 {
            let fraction = number(report.penalty / most);
            format!("{penalty} ({fraction} of penalty_max {})", number(most))
        } else {
            format!("{penalty} (there are no details to code)")
        },
    );
}

/// Adds the optimality gap and the number of non-zeros.
pub fn certificate(table: &mut Table, total: &Certificate) {
    table
        .row(
            "gap",
            if total.gap == 0.0 {
                "0 (optimal)".into()
            } else if total.gap.is_finite() {
                format!(
                    "{:.1e} of the objective (upper bound on the distance to the optimum)",
                    total.relative_gap()
                )
            } else {
                format!(
                    "unknown: correlations of unpenalised codes are up to {}",
                    number(total.unpenalised_correlation)
                )
            },
        )
        .row(
            "non-zeros",
            format!(
                "{} ({:.3} per pixel)",
                count(total.nonzeros),
                total.nonzeros as f64 / total.pixels as f64
            ),
        );
}

/// Resources of a run: `2 threads, f32, 1.2 MiB`.
pub fn means(report: &Report) -> String {
    format!(
        "{}, {}, {}",
        plural(report.threads, "thread"),
        report.precision,
        words(report.working_memory_bytes)
    )
}

/// Describes how a run ended.
pub fn ending(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::Completed => "completed; the gap is above the tolerance",
        Status::Stalled => {
            "stalled: no further progress is possible; the gap is above the tolerance"
        }
        Status::MaxSweeps => "stopped at the sweep limit; the gap is above the tolerance",
        Status::TimeLimit => "stopped at the time limit; the gap is above the tolerance",
        Status::Interrupted => "interrupted; this is the result so far",
    }
}

/// Name of a sample of a signal.
pub fn unit(extent: lobcod::Extent) -> &'static str {
    match extent.rank() {
        1 => "sample",
        2 => "pixel",
        _ => "voxel",
    }
}

/// `640x480`, width first as usual for photographs; for a volume also the number of slices; for a
/// sequence `6 000 samples`.
pub fn size(extent: lobcod::Extent) -> String {
    match *extent.axes() {
        [height, width] => format!("{width}x{height}"),
        [depth, height, width] => format!("{width}x{height}, {}", plural(depth, "slice")),
        _ => plural(extent.volume(), "sample"),
    }
}

/// `640x480, 3 channels`.
pub fn shape(extent: lobcod::Extent, channels: usize) -> String {
    if channels == 1 {
        size(extent)
    } else {
        format!("{}, {}", size(extent), plural(channels, "channel"))
    }
}
