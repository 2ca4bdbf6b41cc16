//! Reports of solvers.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The relative duality gap is at most the tolerance.
    Converged,
    /// All passes of learning or alternations of separation were done.
    Completed,
    /// No further progress at this precision or cap, but the gap is above the tolerance.
    Stalled,
    /// The maximum number of discovery sweeps was reached.
    MaxSweeps,
    /// The time limit was reached.
    TimeLimit,
    /// The observer stopped the run.
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Converged => "converged",
            Status::Completed => "completed",
            Status::Stalled => "stalled",
            Status::MaxSweeps => "max_sweeps",
            Status::TimeLimit => "time_limit",
            Status::Interrupted => "interrupted",
        })
    }
}

/// One point of the objective over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Seconds since the solver began.
    pub seconds: f64,
    /// Objective at the final penalty, from a residual recomputed from the needles.
    pub objective: f64,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Relative duality gap, if measured.
    pub relative_gap: Option<f64>,
}

/// Objective and certificate of one signal, or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// Data term plus penalty term.
    pub objective: f64,
    /// `1/2 || A (Y - B - sum P_i^T D a_i) ||^2`.
    pub data_term: f64,
    /// Objective minus dual objective: the optimum is lower by at most this.
    pub gap: f64,
    /// Number of non-zero codes.
    pub nonzeros: usize,
    /// Number of samples, without channels.
    pub pixels: usize,
    /// The smallest penalty for which all codes are zero.
    pub penalty_max: f64,
    /// Largest correlation of an unpenalised code (weight 0), which is 0 at the optimum. If it is
    /// above rounding errors, the gap is infinite.
    pub unpenalised_correlation: f64,
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
        self.unpenalised_correlation =
            self.unpenalised_correlation.max(other.unpenalised_correlation);
    }
}

/// Certificate of the constrained form: the smallest l1 norm with a bounded residual.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Constrained {
    /// The bound on the norm of the residual.
    pub max_error: f64,
    /// Norm of the residual, over all signals.
    pub error: f64,
    /// `sum weight_ik |a_ik|`.
    pub l1_norm: f64,
    /// The smallest l1 norm within the bound is lower by at most this.
    pub gap: f64,
    /// Number of penalised problems that were solved.
    pub solves: usize,
}

/// Result of reweighting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reweighted {
    /// Number of weighted problems that were solved.
    pub rounds: usize,
    /// Objective with the loss itself; not convex, so nothing bounds its distance to the optimum.
    pub objective: f64,
}

/// Report of a pursuit; several signals are one problem.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How the run ended.
    pub status: Status,
    /// Sums over all signals.
    pub total: Certificate,
    /// Certificates of the individual signals.
    pub signals: Vec<Certificate>,
    /// The penalty used, in units of the signal.
    pub penalty: f64,
    /// Data term of the debiased codes, if they were requested; `total` describes the codes
    /// before.
    pub debiased_data_term: Option<f64>,
    /// Certificate of the constrained form, if it was solved; `total` is that of the penalised
    /// problem at the penalty found.
    pub constrained: Option<Constrained>,
    /// Result of reweighting, if the loss is not convex; `total` is that of the last weighted
    /// problem, whose weights are those of its own residual.
    pub reweighted: Option<Reweighted>,
    /// Number of sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Number of sweeps over the non-zero codes.
    pub support_sweeps: usize,
    /// Wall time of the solver, including the certificate.
    pub seconds: f64,
    /// Peak size of the solver's own arrays, in bytes.
    pub working_memory_bytes: u64,
    /// Threads used.
    pub threads: usize,
    /// Name of the engine.
    pub engine: &'static str,
    /// `"f32"` or `"f64"`.
    pub precision: &'static str,
    /// Objective over time.
    pub history: Vec<HistoryPoint>,
}

impl Report {
    /// Merges the reports of several problems solved consecutively: sums, the worst status,
    /// concatenated histories. `None` if there are none.
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
            whole.debiased_data_term =
                whole.debiased_data_term.zip(report.debiased_data_term).map(|(a, b)| a + b);
            whole.discovery_sweeps += report.discovery_sweeps;
            whole.support_sweeps += report.support_sweeps;
            whole.seconds += report.seconds;
            whole.working_memory_bytes =
                whole.working_memory_bytes.max(report.working_memory_bytes);
        }
        Some(whole)
    }
}
