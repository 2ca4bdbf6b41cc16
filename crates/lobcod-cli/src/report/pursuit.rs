//! The HTML report of a pursuit.

use super::atoms::atoms;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, folded, section};
use super::facts::Fact;
use crate::output::summary;
use crate::output::table::{count, number};
use anyhow::Result;
use lobcod::pursuit::HistoryPoint;
use lobcod::{Answer, Dictionary, Real, Report, Status};
use maud::{Markup, html};
use std::path::Path;

/// The contents of the report.
pub struct PursuitPage<'a, T> {
    /// The title.
    pub title: String,
    /// The sections of the signals.
    pub sections: Vec<Markup>,
    /// The dictionary.
    pub dictionary: &'a Dictionary<T>,
    /// Codes and report.
    pub answer: &'a Answer<T>,
    /// Target relative gap.
    pub tolerance: f64,
    /// What was done, in the terms of the user.
    pub lead: String,
    /// Additional facts.
    pub facts: Vec<Fact>,
}

impl<T: Real> PursuitPage<'_, T> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        let report = &self.answer.report;
        let mut sections = self.sections.clone();
        if !self.answer.needles.is_empty() {
            sections.push(section("Dictionary", &atoms(self.dictionary, &self.answer.needles)?));
        }
        sections
            .push(folded("Objective and gap against time", &history_chart(report, self.tolerance)));
        sections.push(section("Numbers", &Fact::table(&self.numbers())));
        let document = Document {
            title: &self.title,
            ending: (summary::ending(report.status), report.status == Status::Converged),
            lead: format!("{} Run time: {:.1} s.", self.lead, report.seconds),
            sections,
        };
        document.write(path)
    }

    /// The certificate, resources and additional facts.
    fn numbers(&self) -> Vec<Fact> {
        let report = &self.answer.report;
        let sweeps =
            format!("{} + {}", count(report.discovery_sweeps), count(report.support_sweeps));
        let mut facts = vec![Fact::new("status", report.status, "")];
        facts.extend(Fact::certificate(report, self.tolerance));
        facts.push(Fact::new("sweeps", sweeps, "over all needles, and over the non-zeros"));
        facts.push(Fact::new(
            "time",
            format!("{:.2} s", report.seconds),
            "of the solver, including the certificate",
        ));
        facts.extend(Fact::means(report));
        facts.extend(self.facts.iter().cloned());
        facts
    }
}

/// Objective and relative gap against time.
pub(super) fn history_chart(report: &Report, tolerance: f64) -> Markup {
    let points = |value: &dyn Fn(&HistoryPoint) -> Option<f64>| -> Vec<[f64; 2]> {
        let point = |h: &HistoryPoint| {
            value(h).filter(|&v| v > 0.0 && h.seconds > 0.0).map(|v| [h.seconds, v])
        };
        report.history.iter().filter_map(point).collect()
    };
    let (objective, gap) = (points(&|h| Some(h.objective)), points(&|h| h.relative_gap));
    // Both charts share the time axis.
    let seconds = || objective.iter().chain(&gap).map(|p| p[0]);
    let chart = |title: &str, label, points: &[[f64; 2]], level: Option<(f64, String)>| {
        let values = points.iter().map(|p| p[1]).chain(level.iter().map(|l| l.0));
        let (x, y) = (Axis::logarithmic("seconds", seconds()), Axis::logarithmic(label, values));
        let curves = vec![Curve { class: "one", points: points.to_vec(), dots: true }];
        html! {
            figure {
                @if points.is_empty() { p.muted { "No " (label) " above 0 was measured." } }
                @else { (Chart { title: title.into(), wide: false, x, y, curves, level }.markup()) }
            }
        }
    };
    let level = (tolerance > 0.0).then(|| (tolerance, format!("tolerance {}", number(tolerance))));
    html! {
        p.muted { "Objective at the final penalty, during the run. All axes are logarithmic." }
        div.side-by-side {
            (chart("objective against time", "objective", &objective, None))
            (chart("relative gap against time", "relative gap", &gap, level))
        }
    }
}

/// A fraction in per cent, with two significant digits.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals =
        if percent > 0.0 { (1 - percent.log10().floor() as i32).clamp(0, 12) as usize } else { 0 };
    format!("{percent:.decimals$}")
}
