//! Fusing frames of one scene.

use crate::arrays::{Numbers, signal_array};
use crate::errors::{Fault, Result};
use crate::options::{RunOptions, word};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::tasks::align::Align;
use lobcod::tasks::fuse::{Activity, Compose, Frames, FuseBase, FuseParams, Mode, Prefer};
use lobcod::{Report, Signal};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What belongs to fusion alone.
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
}

impl FuseOptions {
    fn params(&self, run: &RunOptions<'_>) -> Result<FuseParams> {
        Ok(FuseParams {
            mode: word("the mode", &self.mode, &[("focus", Mode::Focus), ("exposure", Mode::Exposure)])?,
            scale: self.scale,
            penalty: self.penalty,
            mu: self.smooth,
            window: self.window,
            activity: word("the activity", &self.activity, &[("rough", Activity::Rough), ("plain", Activity::Plain)])?,
            compose: word("compose", &self.compose, &[("pixels", Compose::Pixels), ("codes", Compose::Codes)])?,
            base: word("the fused base", &self.fuse_base, &[("select", FuseBase::Select), ("average", FuseBase::Average)])?,
            prefer: word("the preferred frame", &self.prefer, &[("front", Prefer::Front), ("back", Prefer::Back)])?,
            align: word(
                "the alignment",
                &self.align,
                &[("none", Align::None), ("shift", Align::Shift), ("similarity", Align::Similarity)],
            )?,
            fast: self.fast,
            tolerance: run.tolerance,
            alternations: self.alternations,
            time_limit: run.time_limit()?,
            threads: run.threads,
            max_memory: run.max_memory,
        })
    }
}

/// Frames that a function reads one by one, so that Python decides which of them are in memory.
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
            let (frame, has_channels): (Numbers<'_>, bool) = self.read.bind(py).call1((i,))?.extract()?;
            frame.signal(has_channels)
        })
    }
}

/// One picture from many, its maps, and the report. `read(i)` returns frame `i` and whether its first axis is that of channels.
#[pyfunction]
pub fn fuse<'py>(
    py: Python<'py>,
    read: Py<PyAny>,
    count: usize,
    has_channels: bool,
    dictionary: Numbers<'py>,
    options: FuseOptions,
    run: RunOptions<'py>,
) -> Result<Bound<'py, PyDict>> {
    let fuser = options.params(&run)?.check()?;
    let dictionary = dictionary.dictionary::<f32>(2)?;
    let mut frames = ReadFrames { read, count };
    let place = run.place()?;
    let fused = supervise(py, run.callback.as_ref(), move |mut watcher| {
        let engine = place.engine().map_err(Fault::from)?;
        fuser.run_on(&*engine, &mut frames, &dictionary, &mut watcher)
    })?;
    let whole = Report::together(&fused.reports).ok_or_else(|| Fault::value("no frame was looked at"))?;
    let told = report(py, &whole)?;
    let motions: Vec<(f64, f64, f64, f64)> = fused.motions.iter().map(|m| (m.shift[0], m.shift[1], m.scale, m.angle)).collect();
    let extent = fused.decision.extent();
    let reach = fused.motions.iter().map(|m| m.reach(extent)).fold(0.0, f64::max);
    let crop = fused.crop;
    told.set_item("status", fused.status.to_string())?;
    told.set_item("decision", signal_array(py, fused.decision, false)?)?;
    told.set_item("depth", signal_array(py, fused.depth, false)?)?;
    told.set_item("crop", (crop.top, crop.left, crop.height, crop.width))?;
    told.set_item("motions", motions)?;
    told.set_item("largest_motion", reach)?;
    let fields = PyDict::new(py);
    fields.set_item("picture", signal_array(py, fused.picture, has_channels)?)?;
    fields.set_item("report", told)?;
    Ok(fields)
}
