//! Fuses frames of one scene, as `lobcod fuse`, and takes painted pixels from chosen frames.

use crate::events::{Listener, Watcher};
use crate::job::Job;
use crate::message::{Draft, Kind};
use crate::pixels::{Pixels, with_image};
use lobcod::run::Clock;
use lobcod::{Dictionary, Error, Extent, Result, Signal};
use lobcod_tasks::Rectangle;
use lobcod_tasks::align::{Align, Motion};
use lobcod_tasks::fuse::{Frames, FuseParams, Mode};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Largest number of frames: a decision has a byte for each pixel, and a page shows them all.
const MOST: usize = 20;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeChoice {
    #[default]
    Auto,
    Focus,
    Exposure,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AlignChoice {
    #[default]
    Auto,
    None,
    Shift,
    Similarity,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    mode: ModeChoice,
    align: AlignChoice,
    fast: bool,
    window: Option<usize>,
}

pub fn run(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let mut stack = Stack::read(job)?;
    let time_limit = job.time_limit()?;
    let fuser = FuseParams::default().with(|p| {
        p.mode = match options.mode {
            ModeChoice::Auto => Mode::Auto,
            ModeChoice::Focus => Mode::Focus,
            ModeChoice::Exposure => Mode::Exposure,
        };
        p.align = match options.align {
            AlignChoice::Auto => Align::Auto,
            AlignChoice::None => Align::None,
            AlignChoice::Shift => Align::Shift,
            AlignChoice::Similarity => Align::Similarity,
        };
        p.fast = options.fast;
        p.window = options.window.unwrap_or(p.window);
        p.time_limit = time_limit;
        p.max_memory = job.max_memory();
    });
    let fuser = fuser.check()?;
    let extent = stack.frames[0].extent()?;
    let engine = job.engine(stack.channels * extent.volume())?;
    let mut watcher = Watcher::new(listener);
    let fused = fuser.run(&*engine, &mut stack, &Dictionary::natural(), &mut watcher)?;
    let Rectangle { start: [top, left], size: [height, width] } = fused.crop;
    let seconds: f64 = fused.reports.iter().map(|report| report.seconds).sum();
    let shifts: Vec<f64> = fused.measured_motions.iter().map(|m| m.largest_shift(extent)).collect();
    let result = Draft::new(json!({
        "event": "result",
        "status": fused.status.to_string(),
        "seconds": seconds,
        "threads": engine.threads(),
        "engine": engine.name(),
        "mode": if fused.stack.mode == Mode::Exposure { "exposure" } else { "focus" },
        "crop": [left, top, width, height],
        "shifts": shifts,
        "alignment": Alignment::of(&fused.motions, fused.crop),
    }));
    let decision: Vec<u8> = fused.decision.data().iter().map(|&k| k as u8).collect();
    Ok(with_image(result, &fused.image).with_u8("decision", &[height, width], &decision).with_f32(
        "depth",
        &[height, width],
        fused.depth.data(),
    ))
}

/// Stands for a pixel that is not painted.
const KEPT: u8 = 255;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepaintOptions {
    alignment: Alignment,
}

/// Takes painted pixels of a fused image from chosen frames.
pub fn repaint(job: &Job) -> Result<Draft> {
    let clock = Clock::start();
    let RepaintOptions { alignment } = job.options()?;
    let mut stack = Stack::read(job)?;
    let crop = alignment.crop;
    let crop = Rectangle { start: [crop[1], crop[0]], size: [crop[3], crop[2]] };
    let motions: Vec<Motion> = alignment.motions.iter().map(MotionNumbers::motion).collect();
    let painted = job.array("painted");
    let painted = painted.filter(|d| d.kind == Kind::U8 && d.shape.len() == 2);
    let painted = painted.ok_or_else(|| {
        Error::Shape("nothing is painted; send the frame of each pixel as a byte".into())
    })?;
    let frame = |&k: &u8| if k == KEPT { f32::NAN } else { f32::from(k) };
    let frames = painted.bytes.iter().map(frame).collect();
    let painted = Signal::from_planar(Extent::new(&painted.shape)?, 1, frames)?;
    let fused = Pixels::new("fused image", job.array("fused"))?.signal(stack.channels)?;
    let threads = job.engine(fused.data().len())?.threads();
    let fuser = FuseParams::default().check()?;
    let image = fuser.repaint(threads, &mut stack, &fused, (&motions, crop), &painted)?;
    let result = Draft::new(json!({
        "event": "result",
        "status": "completed",
        "seconds": clock.seconds(),
        "threads": threads,
        "engine": "cpu",
    }));
    Ok(with_image(result, &image))
}

/// How the frames lie on each other, for [`repaint`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Alignment {
    /// Left, top, width and height.
    crop: [usize; 4],
    motions: Vec<MotionNumbers>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MotionNumbers {
    shift: [f64; 2],
    scale: f64,
    angle: f64,
}

impl MotionNumbers {
    fn motion(&self) -> Motion {
        Motion { shift: self.shift, scale: self.scale, angle: self.angle }
    }
}

impl Alignment {
    fn of(motions: &[Motion], crop: Rectangle) -> Self {
        let numbers = |m: &Motion| MotionNumbers { shift: m.shift, scale: m.scale, angle: m.angle };
        Self {
            crop: [crop.start[1], crop.start[0], crop.size[1], crop.size[0]],
            motions: motions.iter().map(numbers).collect(),
        }
    }
}

/// The frames of a request, kept as bytes.
struct Stack<'a> {
    frames: Vec<Pixels<'a>>,
    /// 1 if all frames are grey, otherwise 3.
    channels: usize,
}

impl<'a> Stack<'a> {
    fn read(job: &Job<'a>) -> Result<Self> {
        let mut frames = Vec::new();
        while let Some(array) = job.array(&format!("frame{}", frames.len())) {
            let name = format!("frame {}", frames.len() + 1);
            let pixels = Pixels::new(&name, Some(array))?;
            pixels.check_opaque(&name)?;
            frames.push(pixels);
        }
        if !(2..=MOST).contains(&frames.len()) {
            return Err(Error::Data(format!(
                "there are {} frames; choose 2 to {MOST}",
                frames.len()
            )));
        }
        let channels = frames.iter().map(|frame| frame.channels).max().unwrap_or(1);
        Ok(Self { frames, channels })
    }
}

impl Frames for Stack<'_> {
    type Error = Error;

    fn count(&self) -> usize {
        self.frames.len()
    }

    fn read(&mut self, i: usize) -> Result<Signal<f32>> {
        self.frames[i].signal(self.channels)
    }
}
