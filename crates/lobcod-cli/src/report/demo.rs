//! The HTML report of the demo: four tasks, each before and after.

use super::View;
use super::atoms::atoms;
use super::before_after::slider;
use super::chart::Axis;
use super::document::{Document, section};
use super::facts::Fact;
use super::images::{self, Image};
use super::learning::{PASS, curve};
use super::pursuit::{history_chart, percent};
use crate::mosaic::mosaic;
use crate::output::table::number;
use anyhow::Result;
use lobcod::{Answer, Dictionary, Learnt, Mask, Signal};
use lobcod_tasks::fuse::Fused;
use maud::{Markup, html};
use std::path::Path;

/// The contents of the report.
pub struct DemoPage<'a> {
    /// The original image.
    pub original: &'a Signal<f32>,
    /// The initial atoms, and the result of learning.
    pub learning: (&'a Dictionary<f32>, &'a Learnt<f32>),
    /// The codes with the learnt atoms, and the reconstruction.
    pub coding: (&'a Answer<f32>, &'a Signal<f32>),
    /// Relative gap of the codes.
    pub tolerance: f64,
    /// The damaged image, its mask and the filled image.
    pub inpainting: (&'a Signal<f32>, &'a Mask<f32>, &'a Signal<f32>),
    /// The two focus images and the fused result.
    pub fusion: (&'a [Signal<f32>; 2], &'a Fused),
    /// The result of each task, in order.
    pub outcomes: [String; 4],
    /// The white level.
    pub white: f64,
    /// Total seconds.
    pub seconds: f64,
}

impl DemoPage<'_> {
    /// Writes the HTML report atomically.
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
                "Four tasks on a synthetic still life, in {:.1} s. The objective of the codes is \
                 certified to be within {gap} % of the optimum.",
                self.seconds
            ),
            sections,
        };
        document.write(path)
    }

    fn photo(&self, signal: &Signal<f32>) -> Result<Image> {
        images::photo(signal, [0.0, self.white], None)
    }

    fn learn(&self) -> Result<Markup> {
        let (first, learnt) = self.learning;
        let (before, after) = (
            self.photo(&mosaic(first, None, None)?)?,
            self.photo(&mosaic(&learnt.dictionary, None, None)?)?,
        );
        let objective = learnt
            .report
            .history
            .iter()
            .map(|point| [point.pass as f64, point.objective])
            .collect();
        Ok(html! {
            p { (self.outcomes[0]) }
            div.side-by-side {
                (slider(&[("random atoms", &before)], ("learnt atoms", &after), ""))
                div {
                    (curve("objective against passes", PASS, (Axis::logarithmic, "objective"), objective))
                    p.muted {
                        "Learning alternates between the optimal codes for the atoms and the optimal atoms for the codes. "
                        "The objective never increases."
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
                "The objective is " (number(report.total.objective)) "; the dual problem proves that it is above the optimum by at most "
                strong { (percent(report.total.relative_gap())) " %" } "."
            }
            (Fact::table(&Fact::certificate(report, self.tolerance)))
            (history_chart(report, self.tolerance))
        }
    }

    fn inpaint(&self) -> Result<Markup> {
        let (damaged, known, filled) = self.inpainting;
        let before = images::photo(damaged, [0.0, self.white], Some(known))?;
        let after = self.photo(filled)?;
        Ok(html! {
            p { (self.outcomes[2]) }
            div.panels style="--aspect: 1" {
                (slider(&[("known pixels", &before)], ("filled", &after), " Missing pixels are shown in pink."))
                (self.error("the filled image", filled)?)
            }
        })
    }

    fn fuse(&self) -> Result<Markup> {
        let ([near, far], fused) = self.fusion;
        let near = self.photo(near)?;
        let far = self.photo(far)?;
        let image = self.photo(&fused.image)?;
        let decision = images::map(&fused.decision, [0.0, 1.0])?;
        Ok(html! {
            p { (self.outcomes[3]) }
            div.side-by-side {
                (slider(&[("focused on the foreground", &near)], ("fused", &image), ""))
                (slider(&[("focused on the background", &far)], ("fused", &image), ""))
                figure {
                    (decision.markup("decision map"))
                    figcaption { "The source of each pixel: the image focused on the foreground (dark) or on the background (bright)." }
                }
                (self.error("the fused image", &fused.image)?)
            }
        })
    }

    /// The error of an image with respect to the original.
    fn error(&self, what: &str, image: &Signal<f32>) -> Result<Markup> {
        let (difference, white) = images::difference(self.original, image, None)?;
        Ok(html! {
            figure {
                (difference.markup(&format!("error of {what}")))
                figcaption { "Error of " (what) ": black is 0, white " (number(white)) " or more." }
            }
        })
    }
}
