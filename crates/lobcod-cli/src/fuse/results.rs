//! Output of `fuse`.

use super::frames::Files;
use super::scores::{Scores, largest};
use crate::args::FuseArgs;
use crate::dictionary::Chosen;
use crate::flow::Finished;
use crate::json;
use crate::output::table::{Table, number, plural};
use crate::output::{summary, warnings};
use crate::report::{BeforeAfter, Fact, PursuitPage, photograph};
use anyhow::Result;
use lobcod::base::Base;
use lobcod::{Answer, Report, Signal, Status};
use lobcod_io::{Depth, FileKind, WriteOptions, write_image};
use lobcod_tasks::align::{Motion, warp};
use lobcod_tasks::fuse::{Frames as _, Fused, Mode};
use std::path::Path;

/// Everything to save and report.
pub struct Results<'a> {
    /// The options.
    pub args: &'a FuseArgs,
    /// The frames.
    pub files: Files,
    /// The dictionary.
    pub chosen: Chosen<f32>,
    /// The fused image and its maps.
    pub fused: Fused,
    /// The reference, if there is one.
    pub reference: Option<Signal<f32>>,
    /// Its scores.
    pub scores: Scores,
}

impl Finished for Results<'_> {
    type Report = json::Fuse;

    fn status(&self) -> Status {
        self.fused.status
    }

    fn save(&mut self) -> Result<()> {
        let depth = FileKind::from_path(&self.args.output)?.nearest_depth(self.files.depth);
        let options = WriteOptions {
            axes: self.files.axes,
            depth,
            scale: self.files.white.value,
            sample_rate: None,
            metadata: self.files.metadata.clone(),
        };
        write_image(&self.args.output, &self.fused.image, &options)?;
        self.files.white.warn(&self.args.images[0], false, Some(&self.args.output));
        for (file, map) in [
            (&self.args.decision_map, &self.fused.decision),
            (&self.args.depth_map, &self.fused.depth),
        ] {
            file.as_deref().map_or(Ok(()), |file| write_map(file, map, self.args.images.len()))?;
        }
        if self.status() != Status::Interrupted {
            let reference = self.reference.take();
            self.scores = Scores::measure(self.args, &mut self.files, &self.fused, reference)?;
        }
        Ok(())
    }

    fn write_page(&mut self, path: &Path) -> Result<()> {
        let first = self.fused.crop.crop(&self.files.read(0)?)?;
        let name = |i: usize| {
            let name = self.args.images[i].file_name().unwrap_or_default().to_string_lossy();
            format!("{name}, image {} of {}", i + 1, self.args.images.len())
        };
        let mut more = Vec::new();
        for i in 1..self.fused.reports.len() {
            let mut frame = self.files.read(i)?;
            if !self.fused.motions[i].is_still() {
                frame = warp(&frame, &self.fused.motions[i], self.args.run.threads.count);
            }
            let frame = self.fused.crop.crop(&frame)?;
            more.push((name(i), photograph(&frame, self.files.white.value)?));
        }
        let last = (self.args.images.len() - 1) as f64;
        let view = BeforeAfter {
            name: "Fused image",
            before: (&name(0), &first),
            more,
            after: ("fused", &self.fused.image),
            maps: vec![
                (
                    "Decision map: the image each pixel was taken from, first (dark) to last \
                     (bright).",
                    &self.fused.decision,
                    [0.0, last],
                ),
                ("Depth map: the decision map, smoothed.", &self.fused.depth, [0.0, last]),
            ],
            white: self.files.white.value,
        };
        let mut facts = Fact::layers(&self.chosen, Base::Smooth { mu: self.args.smooth.smooth });
        facts.push(Fact::new(
            "Q_AB/F",
            number(self.scores.q_abf),
            "fraction of the source edges that is preserved",
        ));
        facts.push(Fact::new(
            "mutual information",
            number(self.scores.mutual_information),
            "bits shared with the images",
        ));
        facts.extend(
            self.scores
                .fitted
                .iter()
                .flat_map(|score| Fact::scores(score, "against the reference")),
        );
        let page = PursuitPage {
            title: format!("lobcod fuse: {}", plural(self.args.images.len(), "image")),
            sections: vec![view.section()?],
            dictionary: &self.chosen.dictionary,
            answer: &Answer { needles: Vec::new(), layers: Vec::new(), report: self.report() },
            tolerance: self.args.run.tolerance,
            lead: self.lead(),
            facts,
        };
        page.write(path)
    }

    fn json(&self) -> json::Fuse {
        let args = self.args;
        let crop = &self.fused.crop;
        let stack = &self.fused.stack;
        let shape = (self.files.extent, self.files.channels);
        let image = |(i, report): (usize, &Report)| {
            let motion = &self.fused.motions[i];
            json::FusedImage {
                image: json::Image::new(&args.images[i], shape),
                certificate: (&report.total).into(),
                status: report.status.to_string(),
                share: self.share(i),
                shift: motion.shift,
                scale: motion.scale,
                angle_degrees: motion.angle.to_degrees(),
            }
        };
        json::Fuse {
            pursuit: (&self.report()).into(),
            dictionary: self.chosen.name.clone(),
            mode: mode_name(stack.mode),
            similarity: stack.similarity,
            brightness_difference: stack.brightness,
            aligned: self.is_aligned(),
            scale: args.scale.value(),
            output: json::file(&args.output),
            decision_map: json::optional_file(&args.decision_map),
            depth_map: json::optional_file(&args.depth_map),
            report: json::optional_file(&args.page.report),
            crop: json::Crop {
                top: crop.start[0],
                left: crop.start[1],
                height: crop.size[0],
                width: crop.size[1],
            },
            q_abf: self.scores.q_abf,
            mutual_information: self.scores.mutual_information,
            scores: self.scores.json(self.files.white.peak(args.scoring.score.peak)),
            images: self.fused.reports.iter().enumerate().map(image).collect(),
        }
    }

    fn summary(&self) -> String {
        let (report, crop) = (self.report(), &self.fused.crop);
        let mut table = Table::default();
        for (i, path) in self.args.images.iter().enumerate().take(self.fused.reports.len()) {
            let name = if i == 0 { plural(self.args.images.len(), "image") } else { String::new() };
            table.row(
                name,
                format!("{}, {:.1} % of the pixels", path.display(), 100.0 * self.share(i)),
            );
        }
        table.row("mode", self.mode());
        table.row("dictionary", self.chosen.words());
        summary::pursuit(&mut table, &report);
        table.row(
            "Q_AB/F",
            format!(
                "{:.4}, mutual information {:.3} bits",
                self.scores.q_abf, self.scores.mutual_information
            ),
        );
        if let Some(score) = &self.scores.fitted {
            table.row("PSNR", score.words());
        }
        let shape = summary::shape(self.fused.image.extent(), self.fused.image.channels());
        table.row(
            "image",
            format!(
                "{}, {shape}, from row {} and column {}",
                self.args.output.display(),
                crop.start[0],
                crop.start[1]
            ),
        );
        for (name, file) in [
            ("decision", &self.args.decision_map),
            ("depth", &self.args.depth_map),
            ("report", &self.args.page.report),
        ] {
            if let Some(file) = file {
                table.row(name, file.display());
            }
        }
        table.render()
    }

    fn warnings(&self) -> Vec<String> {
        warnings::of(&self.report())
    }
}

impl Results<'_> {
    /// The combined report of the pursuits of all frames.
    fn report(&self) -> Report {
        Report::together(&self.fused.reports).expect("there are two frames or more")
    }

    /// What was done, for the head of the report.
    fn lead(&self) -> String {
        let mut shares: Vec<(f64, usize)> =
            (0..self.fused.reports.len()).map(|i| (self.share(i), i)).collect();
        shares.sort_by(|a, b| b.0.total_cmp(&a.0));
        let most = shares.iter().take(3).map(|(share, i)| {
            let name = self.args.images[*i].file_name().unwrap_or_default().to_string_lossy();
            format!("{:.0} % of the pixels from {name}", 100.0 * share)
        });
        format!("Mode: {}. {}.", self.mode(), most.collect::<Vec<_>>().join(", "))
    }

    /// Whether a frame was moved.
    fn is_aligned(&self) -> bool {
        self.fused.motions.iter().any(|m| !m.is_still())
    }

    /// The mode and the alignment, and why they were chosen.
    fn mode(&self) -> String {
        let stack = &self.fused.stack;
        let why = if stack.differs_in_exposure() {
            format!("brightness differs by {:.0} of 100", stack.brightness)
        } else {
            format!("equal brightness, similarity {:.2}", stack.similarity)
        };
        let aligned = if self.is_aligned() {
            let largest = |m: &Motion| m.largest_shift(self.files.extent);
            let farthest = self.fused.motions.iter().map(largest).fold(0.0, f64::max);
            format!("aligned by up to {farthest:.1} pixels")
        } else {
            "not aligned".into()
        };
        format!("{} ({why}), {aligned}", mode_name(stack.mode))
    }

    /// Fraction of pixels taken from a frame.
    fn share(&self, number: usize) -> f64 {
        let own = self.fused.decision.data().iter().filter(|k| **k as usize == number).count();
        own as f64 / self.fused.decision.data().len() as f64
    }
}

/// Writes frame indices: unchanged to arrays, spread over all grey values in images.
fn write_map(path: &Path, map: &Signal<f32>, frames: usize) -> Result<()> {
    let kind = FileKind::from_path(path)?;
    let plain = matches!(kind, FileKind::Npy | FileKind::Npz);
    let scale = if plain { largest(map).max(1.0) } else { (frames - 1) as f64 };
    let depth = kind.nearest_depth(if frames > 256 { Depth::U16 } else { Depth::U8 });
    Ok(write_image(path, map, &WriteOptions { depth, scale, ..WriteOptions::default() })?)
}

fn mode_name(mode: Mode) -> &'static str {
    if mode == Mode::Exposure { "exposure" } else { "focus" }
}
