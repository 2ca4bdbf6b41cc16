//! What a solver says about its answer.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The relative duality gap is at most the tolerance.
    Converged,
    /// Nothing can change any more at this precision or cap, although the gap is above the tolerance.
    Stalled,
    /// The allowed number of discovery sweeps was used up.
    MaxSweeps,
    /// The time limit was reached.
    TimeLimit,
    /// The observer asked to stop.
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Converged => "converged",
            Status::Stalled => "stalled",
            Status::MaxSweeps => "max_sweeps",
            Status::TimeLimit => "time_limit",
            Status::Interrupted => "interrupted",
        })
    }
}

/// One point of the curve objective against time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Seconds since the solver began.
    pub seconds: f64,
    /// Objective at the asked penalty, from a residual synthesised anew from the needles.
    pub objective: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Relative duality gap, where it was measured.
    pub relative_gap: Option<f64>,
}

/// Objective and certificate of one signal, or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Data term plus penalty term.
    pub objective: f64,
    /// `1/2 || A (Y - B - sum P_i^T D a_i) ||^2`.
    pub data_term: f64,
    /// Objective minus dual objective: no answer can be lower by more than this.
    pub gap: f64,
    /// Non-zero codes.
    pub nonzeros: usize,
    /// Samples of the signal, channels not counted.
    pub pixels: usize,
    /// The smallest penalty with an all-zero answer.
    pub penalty_max: f64,
}

impl Certificate {
    /// `gap / objective`, 0 when both are 0.
    pub fn relative_gap(&self) -> f64 {
        if self.gap == 0.0 { 0.0 } else { self.gap / self.objective }
    }

    pub(crate) fn add(&mut self, other: &Certificate) {
        self.objective += other.objective;
        self.data_term += other.data_term;
        self.gap += other.gap;
        self.nonzeros += other.nonzeros;
        self.pixels += other.pixels;
        self.penalty_max = self.penalty_max.max(other.penalty_max);
    }
}

/// The report of a pursuit. Several signals are one problem: sums in `total`, each by itself in `signals`.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How the run ended.
    pub status: Status,
    /// Sums over all signals.
    pub total: Certificate,
    /// Each signal by itself.
    pub signals: Vec<Certificate>,
    /// The penalty used, in units of the signal.
    pub penalty: f64,
    /// Sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zero codes.
    pub support_sweeps: usize,
    /// Wall time of the solver, certificate included.
    pub seconds: f64,
    /// Memory of the solver's own arrays, in bytes.
    pub working_memory_bytes: u64,
    /// Threads used.
    pub threads: usize,
    /// Name of the engine.
    pub engine: &'static str,
    /// `"f32"` or `"f64"`.
    pub precision: &'static str,
    /// Objective against time.
    pub history: Vec<HistoryPoint>,
}

impl Report {
    /// The report of several problems solved one after the other, as of one: objectives, gaps, sweeps and seconds added up, the
    /// worst status; the history goes on from problem to problem. `None` if there are none.
    pub fn together(reports: &[Report]) -> Option<Report> {
        let mut whole = reports.first()?.clone();
        for report in &reports[1..] {
            let (objective, nonzeros) = (whole.total.objective, whole.total.nonzeros);
            whole.history.extend(report.history.iter().map(|h| HistoryPoint {
                seconds: whole.seconds + h.seconds,
                objective: objective + h.objective,
                nonzeros: nonzeros + h.nonzeros,
                relative_gap: None,
            }));
            whole.total.add(&report.total);
            whole.signals.extend(&report.signals);
            whole.status = whole.status.max(report.status);
            whole.discovery_sweeps += report.discovery_sweeps;
            whole.support_sweeps += report.support_sweeps;
            whole.seconds += report.seconds;
            whole.working_memory_bytes = whole.working_memory_bytes.max(report.working_memory_bytes);
        }
        Some(whole)
    }
}
