//! The page itself: heading, sections, curves, numbers, parameters.

use super::atoms::atoms;
use super::chart::{Axis, Chart, Curve};
use super::invocation::{Setting, command_line, settings};
use crate::dictionary::Chosen;
use crate::output::summary;
use crate::output::table::{count, number, plural};
use crate::score::Score;
use anyhow::Result;
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Answer, Dictionary, HistoryPoint, Real, Report, Status};
use lobcod_image::write_atomically;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Browsers that read this fetch nothing, whatever the page says.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A number, what it is, and what to make of it.
#[derive(Clone)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// The number, or a word.
    pub value: String,
    /// What to make of it.
    pub remark: String,
}

impl Fact {
    /// A fact of three texts.
    pub fn new(name: &'static str, value: impl ToString, remark: impl ToString) -> Self {
        Self { name, value: value.to_string(), remark: remark.to_string() }
    }

    /// How close the reconstruction is, and to what.
    pub fn scores(score: &Score, to_what: &str) -> Vec<Self> {
        let psnr = Self::new("PSNR", format!("{:.2} dB", score.psnr_db), to_what);
        let ssim = score.ssim.map(|ssim| Self::new("SSIM", format!("{ssim:.4}"), to_what));
        std::iter::once(psnr).chain(ssim).collect()
    }

    /// What was coded with what.
    pub fn layers<T: Real>(chosen: &Chosen<T>, base: Base) -> Vec<Self> {
        let atoms = plural(chosen.dictionary.len(), "atom");
        vec![Self::new("dictionary", &chosen.name, atoms), Self::new("base", base, "the layer taken off before coding")]
    }
}

/// All that the page tells about a pursuit.
pub struct Page<'a, T> {
    /// What was done to what.
    pub title: String,
    /// The sections of the signals.
    pub sections: Vec<Markup>,
    /// The dictionary.
    pub dictionary: &'a Dictionary<T>,
    /// Codes and report.
    pub answer: &'a Answer<T>,
    /// Relative gap that was to be reached.
    pub tolerance: f64,
    /// What else there is to tell.
    pub facts: Vec<Fact>,
}

impl<T: Real> Page<'_, T> {
    /// Writes the page, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(write_atomically(path, self.markup()?.into_string().as_bytes())?)
    }

    fn markup(&self) -> Result<Markup> {
        let report = &self.answer.report;
        let converged = report.status == Status::Converged;
        let atoms = atoms(self.dictionary, &self.answer.needles)?;
        Ok(html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (self.title) }
                        p {
                            span.status.converged[converged] { (summary::ending(report.status)) "." }
                            "No codes have an objective lower by more than " (percent(report.total.relative_gap())) " %."
                        }
                        pre { code { (command_line()) } }
                    }
                    main {
                        @for section in &self.sections { (section) }
                        @if !self.answer.needles.is_empty() { section { h2 { "Dictionary" } (atoms) } }
                        section { h2 { "Objective and gap against time" } (course(report, self.tolerance)) }
                        section { h2 { "Numbers" } (numbers(&facts(report, self.tolerance), &self.facts)) }
                        section { h2 { "Parameters" } (parameters(&settings())) }
                    }
                    footer.muted { "lobcod " (env!("CARGO_PKG_VERSION")) ". This file is complete in itself." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        })
    }
}

/// Objective and relative gap against time.
fn course(report: &Report, tolerance: f64) -> Markup {
    let points = |value: &dyn Fn(&HistoryPoint) -> Option<f64>| -> Vec<[f64; 2]> {
        let point = |h: &HistoryPoint| value(h).filter(|&v| v > 0.0 && h.seconds > 0.0).map(|v| [h.seconds, v]);
        report.history.iter().filter_map(point).collect()
    };
    let (objective, gap) = (points(&|h| Some(h.objective)), points(&|h| h.relative_gap));
    // Both charts share the axis of time.
    let seconds = || objective.iter().chain(&gap).map(|p| p[0]);
    let chart = |title: &str, label, points: &[[f64; 2]], level: Option<(f64, String)>| {
        let values = points.iter().map(|p| p[1]).chain(level.iter().map(|l| l.0));
        let (x, y) = (Axis::logarithmic("seconds", seconds()), Axis::logarithmic(label, values));
        let curves = vec![Curve { class: "one", points: points.to_vec(), dots: true }];
        html! {
            figure {
                @if points.is_empty() { p.muted { "No " (label) " above 0 was measured." } }
                @else { (Chart { title: title.into(), width: 560.0, x, y, curves, level }.markup()) }
            }
        }
    };
    let level = (tolerance > 0.0).then(|| (tolerance, format!("tolerance {}", number(tolerance))));
    html! {
        p.muted { "Measured on the codes as they stood, at the penalty asked for. All axes are logarithmic." }
        div.side-by-side {
            (chart("objective against time", "objective", &objective, None))
            (chart("relative gap against time", "relative gap", &gap, level))
        }
    }
}

/// What the solver says about its answer.
fn facts(report: &Report, tolerance: f64) -> Vec<Fact> {
    let total = &report.total;
    let share = if total.penalty_max > 0.0 { number(report.penalty / total.penalty_max) } else { "infinitely many".into() };
    let sweeps = format!("{} + {}", count(report.discovery_sweeps), count(report.support_sweeps));
    vec![
        Fact::new("status", report.status, ""),
        Fact::new("objective", number(total.objective), format!("data term {}, the rest is penalty", number(total.data_term))),
        Fact::new("gap", number(total.gap), "the best objective is at most this much lower"),
        Fact::new(
            "relative gap",
            number(total.relative_gap()),
            format!("of the objective; the tolerance is {}", number(tolerance)),
        ),
        Fact::new("non-zeros", count(total.nonzeros), format!("{} a pixel", number(total.nonzeros as f64 / total.pixels as f64))),
        Fact::new("pixels", count(total.pixels), "channels not counted"),
        Fact::new("penalty", number(report.penalty), format!("{share} times penalty_max")),
        Fact::new("penalty_max", number(total.penalty_max), "the smallest penalty with an all-zero answer"),
        Fact::new("sweeps", sweeps, "over all needles, and over the non-zeros"),
        Fact::new("time", format!("{:.2} s", report.seconds), "the solver's, certificate included"),
        Fact::new("working memory", words(report.working_memory_bytes), "the solver's own"),
        Fact::new("engine", report.engine, format!("{}, {}", plural(report.threads, "thread"), report.precision)),
    ]
}

/// A share in per cent, with two digits that count.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = if percent > 0.0 { (1 - percent.log10().floor() as i32).clamp(0, 12) as usize } else { 0 };
    format!("{percent:.decimals$}")
}

fn numbers(solver: &[Fact], others: &[Fact]) -> Markup {
    html! {
        table.numbers {
            @for fact in solver.iter().chain(others) {
                tr { th scope="row" { (fact.name) } td { (fact.value) } td { (fact.remark) } }
            }
        }
    }
}

fn parameters(settings: &[Setting]) -> Markup {
    html! {
        p.muted { "What was given, and the defaults of the rest." }
        table {
            @for setting in settings {
                tr .default[!setting.given] { th scope="row" { code { (setting.name) } } td { (setting.value) } }
            }
        }
    }
}
