//! Pursuit in bands, for arrays that are larger than memory.

use crate::arrays::Numbers;
use crate::errors::{Fault, Result};
use crate::options::{PenaltyOptions, RunOptions, in_precision};
use crate::pursuit::{PursuitOptions, pursuit_of};
use crate::reports::report;
use crate::supervise::supervise;
use lobcod::bands::{BandedShape, DetailRows, RowSource, Strip};
use lobcod::base::Base;
use lobcod::memory::words;
use lobcod::{Extent, Real, parallel};
use lobcod_io::{Axes, CodesFacts, CodesOnDisk, Depth, Metadata, free_memory, stream_codes};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Fraction of the free memory that is used if no limit is given.
const OF_FREE_MEMORY: f64 = 0.8;

/// An array that is read in strips of rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenRows {
    /// Called with the first row and the row behind the last; returns the samples, channels first,
    /// and their mask or `None`.
    read: Py<PyAny>,
    /// Size, without channels.
    shape: Vec<usize>,
    channels: usize,
    has_channels: bool,
    /// Whether samples may be missing.
    masked: bool,
    /// Whether the array is in memory already.
    in_memory: bool,
    /// An option that does not work in bands, if there is one.
    unsupported: Option<String>,
}

/// The file that takes the codes, and what is written there besides them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CodesOutput {
    path: PathBuf,
    axes: String,
    scale: f64,
    depth: String,
}

/// Codes an array in bands and writes the codes to a file; returns the report, or `None` if the
/// limit admits coding it as a whole.
#[pyfunction]
pub fn encode_in_bands<'py>(
    py: Python<'py>,
    rows: GivenRows,
    dictionary: Numbers<'py>,
    output: CodesOutput,
    options: &Bound<'py, PyDict>,
) -> Result<Option<Bound<'py, PyDict>>> {
    let (penalty, run): (PenaltyOptions, RunOptions<'py>) =
        (options.extract()?, options.extract()?);
    let options: PursuitOptions = options.extract()?;
    let precision = run.precision.clone();
    in_precision!(
        precision.as_str(),
        encode_in(py, rows, &dictionary, &output, &penalty, options, &run)
    )
}

fn encode_in<'py, T: Real>(
    py: Python<'py>,
    rows: GivenRows,
    dictionary: &Numbers<'py>,
    output: &CodesOutput,
    penalty: &PenaltyOptions,
    options: PursuitOptions,
    run: &RunOptions<'py>,
) -> Result<Option<Bound<'py, PyDict>>> {
    let base: Base = options.base.parse()?;
    let pursuit = pursuit_of(penalty, &options, run)?;
    let extent = Extent::new(&rows.shape)?;
    let dictionary = dictionary.dictionary::<T>(extent.rank())?;
    let shape = BandedShape { extent, channels: rows.channels, masked: rows.masked };
    let layers = 1 + usize::from(rows.masked) + usize::from(base != Base::None);
    let held = if rows.in_memory { 0 } else { layers * rows.channels * extent.volume() };
    let held = (held * size_of::<T>()) as u64;
    let choice = run.engine_choice()?;
    let engine = choice.engine::<T>()?;
    let free = || free_memory().map(|bytes| (OF_FREE_MEMORY * bytes as f64) as u64);
    let own = engine.own_memory();
    let limit = run.max_memory.or_else(|| if rows.in_memory { None } else { free() });
    let Some(limit) = own.into_iter().chain(limit).min() else { return Ok(None) };
    let whole = held + pursuit.whole_memory(&*engine, shape, &dictionary)?;
    if whole <= limit {
        return Ok(None);
    }
    if let Some(option) = &rows.unsupported {
        let (needed, limit) = (words(whole), words(limit));
        return Err(Fault(PyMemoryError::new_err(format!(
            "coding the array as a whole needs {needed}, the limit is {limit}, and coding it in \
             bands does not support {option}; do without it, or raise max_memory"
        ))));
    }
    let height = pursuit.rows_within(&*engine, shape, &dictionary, limit)?;
    drop(engine);
    let (path, axes, depth) =
        (output.path.clone(), output.axes.parse::<Axes>()?, output.depth.parse::<Depth>()?);
    let source = ArrayRows { rows, extent };
    let threads = parallel::count_for(run.threads, extent.volume());
    let mut signal = DetailRows::new(source, base, dictionary.extent(), threads);
    let scale = output.scale;
    let report_of_run = supervise(py, run.callback.as_ref(), move |mut watcher| {
        let mut store = CodesOnDisk::new(path.parent().unwrap_or(Path::new(".")))?;
        let engine = choice.engine::<T>()?;
        let done = pursuit.run_in_bands(
            &*engine,
            &mut signal,
            &mut store,
            &dictionary,
            height,
            &mut watcher,
        )?;
        let facts = CodesFacts {
            extent,
            channels: shape.channels,
            border: pursuit.params().border,
            axes,
            penalty: done.penalty,
            scale,
            depth,
            sample_rate: None,
            dictionary: &dictionary,
            metadata: &Metadata::default(),
        };
        let mut layer = |rows: Range<usize>| signal.split(rows).map(|(_, layer)| layer);
        let layer = (base != Base::None).then_some(&mut layer as _);
        stream_codes(&path, &facts, &mut store, layer)?;
        Ok(done)
    })?;
    Ok(Some(report(py, &report_of_run)?))
}

/// Rows of an array of Python.
struct ArrayRows {
    rows: GivenRows,
    extent: Extent,
}

impl<T: Real> RowSource<T> for ArrayRows {
    fn extent(&self) -> Extent {
        self.extent
    }

    fn channels(&self) -> usize {
        self.rows.channels
    }

    fn read(&mut self, rows: Range<usize>) -> lobcod::Result<Strip<T>> {
        let strip = Python::attach(|py| -> Result<Strip<T>> {
            let strip = self.rows.read.bind(py).call1((rows.start, rows.end))?;
            let (samples, mask): (Numbers<'_>, Option<Numbers<'_>>) = strip.extract()?;
            let samples = samples.signal::<T>(self.rows.has_channels)?;
            let rank = self.extent.rank();
            let weights = mask.map(|mask| mask.weights::<T>(rank)).transpose()?;
            Ok(Strip { samples, weights })
        });
        strip.map_err(|Fault(error)| {
            let (start, end) = (rows.start, rows.end);
            lobcod::Error::Data(format!("rows {start} to {end} cannot be read ({error})"))
        })
    }
}
