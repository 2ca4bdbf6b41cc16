//! What fuse saves and tells.

use super::frames::Files;
use super::scores::{Scores, largest};
use crate::args::FuseArgs;
use crate::dictionary::Chosen;
use crate::machine;
use crate::output::table::{Table, number, plural};
use crate::output::{json, summary, tell};
use crate::report::{BeforeAfter, Fact, PursuitPage};
use anyhow::Result;
use lobcod::base::Base;
use lobcod::tasks::fuse::{Frames as _, Fused};
use lobcod::{Answer, Report, Signal};
use lobcod_image::{Depth, FileKind, WriteOptions, write_picture};
use serde_json::{Value, json};
use std::path::Path;

/// Everything there is to save and tell.
pub struct Work<'a> {
    /// What was asked.
    pub args: &'a FuseArgs,
    /// The frames.
    pub files: Files,
    /// The dictionary.
    pub chosen: Chosen<f32>,
    /// The picture and its maps.
    pub fused: Fused,
    /// How good it is.
    pub scores: Scores,
}

impl Work<'_> {
    /// Writes the picture and the maps.
    pub fn save(&self) -> Result<()> {
        let depth = FileKind::from_path(&self.args.output)?.nearest_depth(self.files.depth);
        let options = WriteOptions {
            axes: self.files.axes,
            depth,
            scale: self.args.scale,
            sample_rate: None,
            notes: self.files.notes.clone(),
        };
        write_picture(&self.args.output, &self.fused.picture, &options)?;
        for (file, map) in [(&self.args.decision_map, &self.fused.decision), (&self.args.depth_map, &self.fused.depth)] {
            file.as_deref().map_or(Ok(()), |file| write_map(file, map, self.args.images.len()))?;
        }
        Ok(())
    }

    /// Writes the page, if it was asked for.
    pub fn show(&mut self) -> Result<()> {
        let Some(path) = &self.args.scoring.report else { return Ok(()) };
        let first = self.fused.crop.cut(&self.files.read(0)?)?;
        let last = (self.args.images.len() - 1) as f64;
        let view = BeforeAfter {
            name: "Fused picture",
            before: ("first picture", &first),
            after: ("fused", &self.fused.picture),
            maps: vec![
                (
                    "Decision: the picture every pixel was taken from, first (dark) to last (bright).",
                    &self.fused.decision,
                    [0.0, last],
                ),
                ("Depth: the same, smooth.", &self.fused.depth, [0.0, last]),
            ],
            white: self.args.scale,
        };
        let mut facts = Fact::layers(&self.chosen, Base::Smooth { mu: self.args.smooth });
        facts.push(Fact::new("Q_AB/F", number(self.scores.q_abf), "share of the edges of the pictures that is kept"));
        facts.push(Fact::new("mutual information", number(self.scores.mutual_information), "bits shared with the pictures"));
        facts.extend(self.scores.fitted.iter().flat_map(|score| Fact::scores(score, "against the reference")));
        let page = PursuitPage {
            title: format!("lobcod fuse: {}", plural(self.args.images.len(), "picture")),
            sections: vec![view.section()?],
            dictionary: &self.chosen.dictionary,
            answer: &Answer { needles: Vec::new(), report: self.report() },
            tolerance: self.args.run.tolerance,
            facts,
        };
        page.write(path)
    }

    /// Tells the outcome on standard output, the way it was asked for.
    pub fn tell(&self) -> Result<()> {
        if self.args.telling.json {
            return tell(&format!("{:#}", Value::Object(self.json())));
        }
        if self.args.telling.quiet { Ok(()) } else { tell(&self.summary()) }
    }

    /// The pursuits of all frames together.
    pub fn report(&self) -> Report {
        Report::together(&self.fused.reports).expect("there are two frames or more")
    }

    /// Share of the pixels that are taken from a frame.
    fn share(&self, number: usize) -> f64 {
        let own = self.fused.decision.data().iter().filter(|k| **k as usize == number).count();
        own as f64 / self.fused.decision.data().len() as f64
    }

    fn json(&self) -> serde_json::Map<String, Value> {
        let (args, crop) = (self.args, &self.fused.crop);
        let mut fields = json::report(&self.report(), machine::peak_memory());
        let name = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
        fields.extend(json::object(json!({
            "dictionary": self.chosen.name,
            "scale": args.scale,
            "output": args.output.display().to_string(),
            "decision_map": name(&args.decision_map),
            "depth_map": name(&args.depth_map),
            "report": name(&args.scoring.report),
            "crop": { "top": crop.top, "left": crop.left, "height": crop.height, "width": crop.width },
        })));
        self.scores.tell(&mut fields);
        let frame = |(i, report): (usize, &Report)| {
            let motion = &self.fused.motions[i];
            let mut frame = json::certificate(&report.total);
            frame.extend(json::object(json!({
                "file": args.images[i].display().to_string(),
                "status": report.status.to_string(),
                "share": self.share(i),
                "shift": motion.shift,
                "scale": motion.scale,
                "angle_degrees": motion.angle.to_degrees(),
            })));
            Value::Object(frame)
        };
        fields.insert("images".into(), self.fused.reports.iter().enumerate().map(frame).collect());
        fields
    }

    fn summary(&self) -> String {
        let (report, crop) = (self.report(), &self.fused.crop);
        let mut table = Table::default();
        for (i, path) in self.args.images.iter().enumerate().take(self.fused.reports.len()) {
            let name = if i == 0 { plural(self.args.images.len(), "picture") } else { String::new() };
            table.row(name, format!("{}, {:.1} % of the pixels", path.display(), 100.0 * self.share(i)));
        }
        table.row("dictionary", self.chosen.words());
        summary::pursuit(&mut table, &report);
        table.row("Q_AB/F", format!("{:.4}, mutual information {:.3} bits", self.scores.q_abf, self.scores.mutual_information));
        if let Some(score) = &self.scores.fitted {
            table.row("PSNR", score.words());
        }
        let shape = summary::shape(self.fused.picture.extent(), self.fused.picture.channels());
        table.row("picture", format!("{}, {shape}, from row {} and column {}", self.args.output.display(), crop.top, crop.left));
        for (name, file) in
            [("decision", &self.args.decision_map), ("depth", &self.args.depth_map), ("report", &self.args.scoring.report)]
        {
            if let Some(file) = file {
                table.row(name, file.display());
            }
        }
        table.render()
    }
}

/// Writes numbers of frames: as they are in arrays, spread over all shades in pictures.
fn write_map(path: &Path, map: &Signal<f32>, frames: usize) -> Result<()> {
    let kind = FileKind::from_path(path)?;
    let plain = matches!(kind, FileKind::Npy | FileKind::Npz);
    let scale = if plain { largest(map).max(1.0) } else { (frames - 1) as f64 };
    let depth = kind.nearest_depth(if frames > 256 { Depth::U16 } else { Depth::U8 });
    Ok(write_picture(path, map, &WriteOptions { depth, scale, ..WriteOptions::default() })?)
}
