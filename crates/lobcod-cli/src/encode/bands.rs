//! Encoding in bands, for images that exceed the memory limit.

use super::details::{Details, details, refused};
use super::results::Results;
use crate::args::EncodeArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::dry_run::{Plan, Work};
use crate::engine;
use crate::flow::Job;
use crate::input::{Source, read_options};
use crate::missing::Missing;
use crate::output::note;
use crate::output::paths::CodesFiles;
use crate::output::table::{number, plural};
use crate::progress::Watcher;
use crate::trial;
use crate::values::EngineChoice;
use anyhow::{Result, bail};
use lobcod::bands::{BandedShape, RowSource, Strip};
use lobcod::base::Base;
use lobcod::engine::Engine;
use lobcod::memory::words;
use lobcod::{Answer, Mask, Needles, Observed, Pursuit, Real};
use lobcod_io::{CodesFacts, CodesOnDisk, Depth, ImageRows, stream_codes};
use std::ops::Range;

/// Pixels per byte of the per-cell state of an image.
const PIXELS_A_BYTE: u64 = 32;

/// An image that does not fit into memory as a whole.
pub struct Banded<'a, T> {
    args: &'a EncodeArgs,
    image: Details,
    chosen: Chosen<T>,
    shape: BandedShape,
    engine: Box<dyn Engine<T>>,
    /// Number of rows of a band.
    rows: usize,
    /// Memory the process holds besides the work on a band.
    budget: Budget,
}

impl<'a, T: Real> Banded<'a, T> {
    /// The image, if it has to be encoded in bands and can be.
    pub fn of(args: &'a EncodeArgs, pursuit: &Pursuit) -> Result<Option<Self>> {
        let [path] = &args.images[..] else { return Ok(None) };
        // Ranks partition the signal themselves; only the CPU engine is subject to this limit.
        let unlimited =
            args.run.engine == EngineChoice::Cpu && pursuit.params().max_memory.is_none();
        if unlimited || args.run.engine == EngineChoice::Mpi {
            return Ok(None);
        }
        if path.as_os_str() == crate::output::paths::STDOUT || !path.exists() {
            return Ok(None);
        }
        let Some(rows) = ImageRows::open(path, &read_options(&args.input, &args.run))? else {
            return Ok(None);
        };
        let (extent, channels) = (RowSource::<T>::extent(&rows), RowSource::<T>::channels(&rows));
        let engine = engine::open::<T>(&args.run, &[(extent, channels)])?;
        let own = engine.own_memory();
        let Some(limit) = own.into_iter().chain(pursuit.params().max_memory).min() else {
            return Ok(None);
        };
        let chosen = Chosen::of(&args.dictionary, extent.rank())?;
        chosen.check_fits(extent)?;
        // Samples may be NaN, and pixels transparent.
        let masked = args.problem.base == Base::None
            && (rows.may_be_transparent() || matches!(rows.depth(), Depth::F32 | Depth::F64));
        let shape = BandedShape { extent, channels, masked };
        let budget = Budget::now(&args.run).within(limit);
        // The image, its weights and its base layer are held in addition to a solver without memory
        // of its own.
        let layers = 1 + usize::from(masked) + usize::from(args.problem.base != Base::None);
        let held =
            if own.is_some() { 0 } else { layers * channels * extent.volume() * size_of::<T>() };
        let whole =
            budget.with(held as u64 + pursuit.whole_memory(&*engine, shape, &chosen.dictionary)?);
        if whole <= limit {
            return Ok(None);
        }
        if let Some((what, cure)) = refused(args, true) {
            let (needed, limit) = (words(whole), words(limit));
            bail!(
                "{} needs {needed}, the limit is {limit}, and encoding in bands does not support \
                 {what}; {cure}, or raise --max-memory",
                path.display()
            );
        }
        let image = details(args, rows, chosen.dictionary.extent());
        let budget = if own.is_some() {
            budget
        } else {
            budget.with_held(extent.volume() as u64 / PIXELS_A_BYTE)
        };
        let room = budget.room().unwrap_or(u64::MAX);
        let rows = pursuit
            .rows_within(&*engine, shape, &chosen.dictionary, room)
            .map_err(budget.refuse())?;
        Ok(Some(Self { args, image, chosen, shape, engine, rows, budget }))
    }

    /// The job, with its parameters and output files.
    pub fn with(self, pursuit: Pursuit, files: Option<CodesFiles>) -> InBands<'a, T> {
        InBands { image: self, pursuit, files }
    }

    fn count(&self, pursuit: &Pursuit) -> usize {
        pursuit.bands(self.shape.extent, self.chosen.dictionary.extent(), self.rows)
    }
}

/// An image to encode in bands.
pub struct InBands<'a, T> {
    image: Banded<'a, T>,
    pursuit: Pursuit,
    files: Option<CodesFiles>,
}

impl<'a, T: Real> Job for InBands<'a, T> {
    type Done = Results<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        let (image, params) = (&mut self.image, self.pursuit.params());
        let shapes = [(image.shape.extent, image.shape.channels)];
        let strip: Strip<T> = image.image.read(trial::middle(image.shape.extent))?;
        let middle =
            Observed { mask: strip.weights.map(Mask::new).transpose()?, ..strip.samples.into() };
        let (args, atoms) = (image.args, &image.chosen.dictionary);
        let work = Work {
            images: &args.images,
            shapes: &shapes,
            dictionaries: ("dictionary", std::slice::from_ref(&image.chosen)),
            output: ("codes", args.output.as_deref()),
            needed: self.pursuit.band_memory(&*image.engine, image.shape, atoms, image.rows)?,
            budget: image.budget,
            trial: super::trial(&engine::cpu(&args.run)?, params, &middle, atoms, &shapes)?,
        };
        let until = format!("relative gap at most {}", number(params.tolerance));
        let mut plan = work.of_pursuit(args.problem.base, params, until);
        plan.bands = Some(image.count(&self.pursuit));
        Ok(plan)
    }

    fn run(self) -> Result<Results<'a, T>> {
        self.image.run(&self.pursuit, self.files)
    }
}

impl<'a, T: Real> Banded<'a, T> {
    /// Encodes the image and writes the codes.
    fn run(mut self, pursuit: &Pursuit, files: Option<CodesFiles>) -> Result<Results<'a, T>> {
        let (args, bands) = (self.args, self.count(pursuit));
        let path = &args.images[0];
        if !args.console.quiet {
            self.chosen.warn_if_normalised();
            let rows =
                plural(self.rows, if self.shape.extent.rank() == 1 { "sample" } else { "row" });
            note(&format!(
                "{} is encoded in {} of {rows}, to stay within the memory limit",
                path.display(),
                plural(bands, "band")
            ));
        }
        let file = files.as_ref().map(|files| files.files[0].clone());
        if let Some(files) = &files {
            files.make_folder()?;
        }
        let parent = file
            .as_deref()
            .and_then(|file| file.parent())
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = match (&file, parent) {
            (None, _) => std::env::temp_dir(),
            (Some(_), parent) => parent.map_or(".".into(), Into::into),
        };
        let mut store = CodesOnDisk::new(&folder)?;
        let mut watcher = Watcher::of(&args.console, "encode");
        let dictionary = &self.chosen.dictionary;
        let report = pursuit.run_in_bands(
            &*self.engine,
            &mut self.image,
            &mut store,
            dictionary,
            self.rows,
            &mut watcher,
        )?;
        drop(watcher);
        let BandedShape { extent, channels, .. } = self.shape;
        let metadata = self.image.source().metadata();
        if let Some(file) = &file {
            let facts = CodesFacts {
                extent,
                channels,
                border: args.problem.border,
                axes: self.image.source().axes(),
                penalty: report.penalty,
                scale: args.input.scale.value(),
                depth: self.image.source().depth(),
                sample_rate: None,
                dictionary,
                metadata: &metadata,
            };
            let mut layer = |rows: Range<usize>| self.image.split(rows).map(|(_, layer)| layer);
            let base = (args.problem.base != Base::None).then_some(&mut layer as _);
            stream_codes(file, &facts, &mut store, base)?;
        }
        let source = Source {
            path: path.clone(),
            axes: self.image.source().axes(),
            depth: self.image.source().depth(),
            sample_rate: None,
            base: None,
            metadata,
            missing: Missing::default(),
        };
        // The codes are on disk; the report needs only their shape.
        let needles = vec![Needles::new(extent, channels, args.problem.border, Vec::new())];
        let answer = Answer { needles, layers: Vec::new(), report };
        Ok(Results {
            args,
            sources: vec![source],
            shapes: vec![(extent, channels)],
            chosen: self.chosen,
            answer,
            whole: None,
            scores: Vec::new(),
            files,
            bands: Some(bands),
            whites: Vec::new(),
            closeness: None,
            kept: Ok(()),
        })
    }
}
