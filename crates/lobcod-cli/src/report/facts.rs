//! The table of numbers.

use crate::dictionary::Chosen;
use crate::output::table::{count, number, plural};
use crate::score::{Score, decibels};
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Real, Report};
use maud::{Markup, html};

/// A number with its name and a remark.
#[derive(Clone)]
pub struct Fact {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: String,
    /// The remark.
    pub remark: String,
}

impl Fact {
    /// A fact from three texts.
    pub fn new(name: &'static str, value: impl ToString, remark: impl ToString) -> Self {
        Self { name, value: value.to_string(), remark: remark.to_string() }
    }

    /// The scores of a reconstruction; `to_what` names the reference.
    pub fn scores(score: &Score, to_what: &str) -> Vec<Self> {
        let psnr = Self::new("PSNR", decibels(score.psnr_db), to_what);
        let ssim = score.ssim.map(|ssim| Self::new("SSIM", format!("{ssim:.4}"), to_what));
        std::iter::once(psnr).chain(ssim).collect()
    }

    /// The dictionary and the base layer.
    pub fn layers<T: Real>(chosen: &Chosen<T>, base: Base) -> Vec<Self> {
        let atoms = plural(chosen.dictionary.len(), "atom");
        vec![
            Self::new("dictionary", &chosen.name, atoms),
            Self::new("base", base, "the layer subtracted before coding"),
        ]
    }

    /// The certificate of a pursuit.
    pub fn certificate(report: &Report, tolerance: f64) -> Vec<Self> {
        let total = &report.total;
        let share = if total.penalty_max > 0.0 {
            number(report.penalty / total.penalty_max)
        } else {
            "infinitely many".into()
        };
        let (data_term, density) =
            (number(total.data_term), number(total.nonzeros as f64 / total.pixels as f64));
        let judged = format!("of the objective; the tolerance is {}", number(tolerance));
        vec![
            Self::new(
                "objective",
                number(total.objective),
                format!("data term {data_term}; the rest is the penalty term"),
            ),
            Self::new("gap", number(total.gap), "upper bound on the distance to the optimum"),
            Self::new("relative gap", number(total.relative_gap()), judged),
            Self::new("non-zeros", count(total.nonzeros), format!("{density} per pixel")),
            Self::new("pixels", count(total.pixels), "not counting channels"),
            Self::new("penalty", number(report.penalty), format!("{share} times penalty_max")),
            Self::new(
                "penalty_max",
                number(total.penalty_max),
                "the smallest penalty for which all codes are zero",
            ),
        ]
    }

    /// The resources of the run.
    pub fn means(report: &Report) -> Vec<Self> {
        let threads = format!("{}, {}", plural(report.threads, "thread"), report.precision);
        vec![
            Self::new("working memory", words(report.working_memory_bytes), "of the solver"),
            Self::new("engine", report.engine, threads),
        ]
    }

    /// Facts as a table.
    pub fn table(facts: &[Self]) -> Markup {
        html! {
            table.numbers {
                @for fact in facts {
                    tr { th scope="row" { (fact.name) } td { (fact.value) } td { (fact.remark) } }
                }
            }
        }
    }
}
