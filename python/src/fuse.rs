//! Fusion of frames of the same scene.

use crate::arrays::{Numbers, signal_array};
use crate::errors::{Fault, Result};
use crate::options::{RunOptions, word};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::{Report, Signal};
use lobcod_tasks::align::Align;
use lobcod_tasks::fuse::{Activity, Compose, Frames, FuseBase, FuseParams, Mode, Prefer};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What differs between frames.
pub const MODES: &[(&str, Mode)] =
    &[("auto", Mode::Auto), ("focus", Mode::Focus), ("exposure", Mode::Exposure)];
/// Activity weights of codes.
pub const ACTIVITIES: &[(&str, Activity)] =
    &[("rough", Activity::Rough), ("plain", Activity::Plain)];
/// What the image is composed of.
pub const COMPOSITIONS: &[(&str, Compose)] =
    &[("pixels", Compose::Pixels), ("codes", Compose::Codes)];
/// How smooth layers are merged.
pub const BASES: &[(&str, FuseBase)] =
    &[("select", FuseBase::Select), ("average", FuseBase::Average)];
/// Frames preferred where the activity does not decide.
pub const PREFERENCES: &[(&str, Prefer)] = &[("front", Prefer::Front), ("back", Prefer::Back)];
/// Alignment methods.
pub const ALIGNMENTS: &[(&str, Align)] = &[
    ("auto", Align::Auto),
    ("none", Align::None),
    ("shift", Align::Shift),
    ("similarity", Align::Similarity),
];

/// Options of fusion.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FuseOptions {
    mode: String,
    scale: f64,
    penalty: f64,
    smooth: f64,
    window: usize,
    activity: String,
    compose: String,
    fuse_base: String,
    prefer: String,
    align: String,
    fast: bool,
    alternations: usize,
    tolerance: f64,
}

impl FuseOptions {
    fn params(&self, run: &RunOptions<'_>) -> Result<FuseParams> {
        let mut params = FuseParams::default();
        params.mode = word("the mode", &self.mode, MODES)?;
        params.scale = self.scale;
        params.penalty = self.penalty;
        params.mu = self.smooth;
        params.window = self.window;
        params.activity = word("the activity", &self.activity, ACTIVITIES)?;
        params.compose = word("compose", &self.compose, COMPOSITIONS)?;
        params.base = word("the fused base", &self.fuse_base, BASES)?;
        params.prefer = word("the preferred frame", &self.prefer, PREFERENCES)?;
        params.align = word("the alignment", &self.align, ALIGNMENTS)?;
        params.fast = self.fast;
        params.tolerance = self.tolerance;
        params.alternations = self.alternations;
        params.time_limit = run.time_limit()?;
        params.max_memory = run.max_memory;
        Ok(params)
    }
}

/// Frames that a Python function loads one at a time, so that Python decides which are in memory.
struct ReadFrames {
    read: Py<PyAny>,
    count: usize,
}

impl Frames for ReadFrames {
    type Error = Fault;

    fn count(&self) -> usize {
        self.count
    }

    fn read(&mut self, i: usize) -> Result<Signal<f32>> {
        Python::attach(|py| {
            let (frame, has_channels): (Numbers<'_>, bool) =
                self.read.bind(py).call1((i,))?.extract()?;
            frame.signal(has_channels)
        })
    }
}

/// The fused image, its maps and the report. `read(i)` returns frame `i` and whether its first axis
/// is the channel axis; `decision` names frames of pixels, NaN where the fusion decides.
#[pyfunction]
pub fn fuse<'py>(
    py: Python<'py>,
    read: Py<PyAny>,
    count: usize,
    has_channels: bool,
    dictionary: Numbers<'py>,
    decision: Option<Numbers<'py>>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyDict>> {
    let run: RunOptions<'py> = options.extract()?;
    let options: FuseOptions = options.extract()?;
    let painted = decision.map(|decision| decision.signal::<f32>(false)).transpose()?;
    let fuser = options.params(&run)?.check()?;
    let dictionary = dictionary.dictionary::<f32>(2)?;
    let mut frames = ReadFrames { read, count };
    let choice = run.engine_choice()?;
    let fused = supervise(py, run.callback.as_ref(), move |mut watcher| {
        let engine = choice.engine().map_err(Fault::from)?;
        let mut fused = fuser.run(&*engine, &mut frames, &dictionary, &mut watcher)?;
        if let Some(painted) = painted {
            fused = fuser.repainted(engine.threads(), &mut frames, fused, &painted)?;
        }
        Ok(fused)
    })?;
    let whole =
        Report::together(&fused.reports).ok_or_else(|| Fault::value("no frame was processed"))?;
    let report_fields = report(py, &whole)?;
    let motions: Vec<(f64, f64, f64, f64)> =
        fused.motions.iter().map(|m| (m.shift[0], m.shift[1], m.scale, m.angle)).collect();
    let extent = fused.decision.extent();
    let reach = fused.measured_motions.iter().map(|m| m.largest_shift(extent)).fold(0.0, f64::max);
    let crop = fused.crop;
    report_fields.set_item("status", fused.status.to_string())?;
    report_fields.set_item("decision", signal_array(py, fused.decision, false)?)?;
    report_fields.set_item("depth", signal_array(py, fused.depth, false)?)?;
    report_fields.set_item("crop", (crop.start[0], crop.start[1], crop.size[0], crop.size[1]))?;
    let mode = if fused.stack.mode == Mode::Exposure { "exposure" } else { "focus" };
    report_fields.set_item("mode", mode)?;
    report_fields.set_item("similarity", fused.stack.similarity)?;
    report_fields.set_item("brightness_difference", fused.stack.brightness)?;
    report_fields.set_item("motions", motions)?;
    report_fields.set_item("largest_motion", reach)?;
    let fields = PyDict::new(py);
    fields.set_item("image", signal_array(py, fused.image, has_channels)?)?;
    fields.set_item("report", report_fields)?;
    Ok(fields)
}
