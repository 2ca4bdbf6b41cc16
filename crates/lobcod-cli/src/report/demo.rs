//! The page of the demonstration: four tasks, each before and after.

use super::View;
use super::atoms::atoms;
use super::before_after::slider;
use super::chart::Axis;
use super::document::{Document, section};
use super::facts::Fact;
use super::learning::{PASS, curve};
use super::pictures::{self, Image};
use super::pursuit::{course, percent};
use crate::mosaic::mosaic;
use crate::output::table::number;
use anyhow::Result;
use lobcod::tasks::fuse::Fused;
use lobcod::{Answer, Dictionary, Learnt, Mask, Signal};
use maud::{Markup, html};
use std::path::Path;

/// All that the page shows.
pub struct DemoPage<'a> {
    /// What everything is made from.
    pub original: &'a Signal<f32>,
    /// The atoms at the start, and what became of them.
    pub learning: (&'a Dictionary<f32>, &'a Learnt<f32>),
    /// Codes by the learnt atoms, and the picture they stand for.
    pub coding: (&'a Answer<f32>, &'a Signal<f32>),
    /// Relative gap that the codes are proved to.
    pub tolerance: f64,
    /// The damaged picture, what is known of it, and the filled one.
    pub inpainting: (&'a Signal<f32>, &'a Mask<f32>, &'a Signal<f32>),
    /// The pictures in focus near by and far away, and what they were fused to.
    pub fusion: (&'a [Signal<f32>; 2], &'a Fused),
    /// What each task came to, in the order of the tasks.
    pub outcomes: [String; 4],
    /// What white stands for.
    pub white: f64,
    /// Seconds of all tasks.
    pub seconds: f64,
}

impl DemoPage<'_> {
    /// Writes the page, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (answer, _) = self.coding;
        let gap = percent(answer.report.total.relative_gap());
        let sections = vec![
            section("1. Learn", &self.learn()?),
            self.encode()?,
            section("Certificate", &self.certificate()),
            section("Dictionary", &atoms(&self.learning.1.dictionary, &answer.needles)?),
            section("3. Inpaint", &self.inpaint()?),
            section("4. Fuse", &self.fuse()?),
        ];
        let document = Document {
            title: "lobcod demo",
            ending: ("done", true),
            lead: format!(
                "A still life made by formula, four tasks, {:.1} s. The codes are proved to be within {gap} % of the best ones.",
                self.seconds
            ),
            sections,
        };
        document.write(path)
    }

    fn photo(&self, signal: &Signal<f32>) -> Result<Image> {
        pictures::photo(signal, [0.0, self.white], None)
    }

    fn learn(&self) -> Result<Markup> {
        let (first, learnt) = self.learning;
        let (before, after) = (self.photo(&mosaic(first, None, None)?)?, self.photo(&mosaic(&learnt.dictionary, None, None)?)?);
        let objective = learnt.report.history.iter().map(|point| [point.pass as f64, point.objective]).collect();
        Ok(html! {
            p { (self.outcomes[0]) }
            div.side-by-side {
                (slider(("random atoms", &before), ("learnt atoms", &after), ""))
                div {
                    (curve("objective against passes", PASS, (Axis::logarithmic, "objective"), objective))
                    p.muted {
                        "Atoms and codes take turns: the codes that are best for the atoms, the atoms that are best for the codes. "
                        "The objective never rises."
                    }
                }
            }
        })
    }

    fn encode(&self) -> Result<Markup> {
        let (answer, reconstruction) = self.coding;
        let view = View {
            name: "2. Encode",
            original: self.original,
            reconstruction,
            known: None,
            needles: &answer.needles[0],
            certificate: &answer.report.signals[0],
            dictionary: &self.learning.1.dictionary,
            white: Some(self.white),
            sample_rate: None,
        };
        Ok(html! { (view.section()?) p { (self.outcomes[1]) } })
    }

    fn certificate(&self) -> Markup {
        let report = &self.coding.0.report;
        html! {
            p {
                "The objective is " (number(report.total.objective)) ", and the dual of the problem proves that no codes at all have one lower by more than "
                strong { (percent(report.total.relative_gap())) " %" } "."
            }
            (Fact::table(&Fact::certificate(report, self.tolerance)))
            (course(report, self.tolerance))
        }
    }

    fn inpaint(&self) -> Result<Markup> {
        let (damaged, known, filled) = self.inpainting;
        let before = pictures::photo(damaged, [0.0, self.white], Some(known))?;
        let after = self.photo(filled)?;
        Ok(html! {
            p { (self.outcomes[2]) }
            div.panels style="--aspect: 1" {
                (slider(("known pixels", &before), ("filled", &after), " What is missing is drawn in pink."))
                (self.error("the filled picture", filled)?)
            }
        })
    }

    fn fuse(&self) -> Result<Markup> {
        let ([near, far], fused) = self.fusion;
        let (near, far, picture) = (self.photo(near)?, self.photo(far)?, self.photo(&fused.picture)?);
        let decision = pictures::map(&fused.decision, [0.0, 1.0])?;
        Ok(html! {
            p { (self.outcomes[3]) }
            div.side-by-side {
                (slider(("in focus near by", &near), ("fused", &picture), ""))
                (slider(("in focus far away", &far), ("fused", &picture), ""))
                figure {
                    (decision.markup("decision map"))
                    figcaption { "Where each pixel was taken from: the near (dark) or the far picture (bright)." }
                }
                (self.error("the fused picture", &fused.picture)?)
            }
        })
    }

    /// How far a picture is from the original.
    fn error(&self, what: &str, picture: &Signal<f32>) -> Result<Markup> {
        let (difference, white) = pictures::difference(self.original, picture, None)?;
        Ok(html! {
            figure {
                (difference.markup(&format!("error of {what}")))
                figcaption { "Error of " (what) ": black is 0, white " (number(white)) " or more." }
            }
        })
    }
}
