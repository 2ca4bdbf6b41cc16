//! Pictures larger than the memory allowed, coded in bands.

use super::details::{Details, refused};
use super::work::Work;
use crate::Outcome;
use crate::args::EncodeArgs;
use crate::budget::Budget;
use crate::dictionary::Chosen;
use crate::dry_run::Plan;
use crate::engine;
use crate::input::{Source, read_options};
use crate::output::note;
use crate::output::paths::CodesFiles;
use crate::output::table::{number, plural};
use crate::progress::Watcher;
use crate::trial;
use crate::values::EngineChoice;
use anyhow::{Result, bail};
use lobcod::base::Base;
use lobcod::engine::Engine;
use lobcod::memory::words;
use lobcod::{Answer, BandedShape, Mask, Needles, Observed, Piece, Pursuit, Real, Rows, Status};
use lobcod_image::{CodesFacts, CodesShelf, Depth, PictureRows, stream_codes};
use std::ops::Range;

/// What is known of the cells of a picture takes a byte for so many pixels.
const PIXELS_A_BYTE: u64 = 32;

/// A picture that would not fit into memory as a whole.
pub struct Banded<'a, T> {
    args: &'a EncodeArgs,
    picture: Details,
    chosen: Chosen<T>,
    shape: BandedShape,
    engine: Box<dyn Engine<T>>,
    /// Rows of a band.
    rows: usize,
    /// What the process holds beside the work on a band.
    budget: Budget,
}

impl<'a, T: Real> Banded<'a, T> {
    /// The picture, if it is one that can be coded in bands and must be.
    pub fn of(args: &'a EncodeArgs, pursuit: &Pursuit) -> Result<Option<Self>> {
        let [path] = &args.images[..] else { return Ok(None) };
        // Ranks cut the signal up themselves; the processor takes what it is allowed to.
        let unlimited = args.run.engine == EngineChoice::Cpu && pursuit.params().max_memory.is_none();
        if unlimited || args.run.engine == EngineChoice::Mpi {
            return Ok(None);
        }
        let engine = engine::open::<T>(&args.run)?;
        let own = engine.own_memory();
        let Some(limit) = own.into_iter().chain(pursuit.params().max_memory).min() else { return Ok(None) };
        if path.as_os_str() == crate::output::paths::STDOUT || !path.exists() {
            return Ok(None);
        }
        let Some(rows) = PictureRows::open(path, &read_options(&args.picture, &args.run))? else { return Ok(None) };
        let (extent, channels) = (Rows::<T>::extent(&rows), Rows::<T>::channels(&rows));
        let chosen = Chosen::of(&args.dictionary, extent.rank())?;
        chosen.check_fits(extent)?;
        // Numbers may be NaN, and pixels transparent.
        let masked =
            args.problem.base == Base::None && (rows.may_be_transparent() || matches!(rows.depth(), Depth::F32 | Depth::F64));
        let shape = BandedShape { extent, channels, masked };
        let budget = Budget::now(&args.run).within(limit);
        // The picture, its weights and its base layer stand beside a solver without memory of its own.
        let layers = 1 + usize::from(masked) + usize::from(args.problem.base != Base::None);
        let held = if own.is_some() { 0 } else { layers * channels * extent.volume() * size_of::<T>() };
        let whole = budget.with(held as u64 + pursuit.whole_memory(&*engine, shape, &chosen.dictionary)?);
        if whole <= limit {
            return Ok(None);
        }
        if let Some((what, cure)) = refused(args, true) {
            let (needed, limit) = (words(whole), words(limit));
            bail!(
                "{} needs {needed}, the limit is {limit}, and coded in bands it cannot have {what}; {cure}, or allow more memory",
                path.display()
            );
        }
        let picture = Details::new(args, rows, chosen.dictionary.extent());
        let budget = if own.is_some() { budget } else { budget.beside(extent.volume() as u64 / PIXELS_A_BYTE) };
        let room = budget.room().unwrap_or(u64::MAX);
        let rows = pursuit.rows_within(&*engine, shape, &chosen.dictionary, room).map_err(budget.refuse())?;
        Ok(Some(Self { args, picture, chosen, shape, engine, rows, budget }))
    }

    /// Tells what would run.
    pub fn plan(&mut self, pursuit: &Pursuit) -> Result<Outcome> {
        let params = pursuit.params();
        let shapes = [(self.shape.extent, self.shape.channels)];
        let piece: Piece<T> = self.picture.read(trial::middle(self.shape.extent))?;
        let middle = Observed { mask: piece.weights.map(Mask::new).transpose()?, ..piece.samples.into() };
        let trial = super::trial(params, &middle, &self.chosen.dictionary, &shapes)?;
        let plan = Plan {
            images: &self.args.images,
            shapes: &shapes,
            dictionary: ("dictionary", &self.chosen),
            base: self.args.problem.base,
            until: format!("the gap is {} of the objective", number(params.tolerance)),
            output: ("codes", self.args.output.as_deref()),
            needed: pursuit.band_memory(&*self.engine, self.shape, &self.chosen.dictionary, self.rows)?,
            budget: self.budget,
            bands: Some(self.count(pursuit)),
            trial,
        };
        plan.tell(params, &self.args.telling).map(|()| Outcome::Done)
    }

    fn count(&self, pursuit: &Pursuit) -> usize {
        pursuit.bands(self.shape.extent, self.chosen.dictionary.extent(), self.rows)
    }

    /// Codes the picture.
    pub fn run(mut self, pursuit: &Pursuit, files: Option<CodesFiles>) -> Result<Outcome> {
        let (args, bands) = (self.args, self.count(pursuit));
        let path = &args.images[0];
        if !args.telling.quiet {
            self.chosen.warn_if_normalised();
            let rows = plural(self.rows, if self.shape.extent.rank() == 1 { "sample" } else { "row" });
            note(&format!(
                "{} is coded in {} of {rows}, to stay within the memory allowed",
                path.display(),
                plural(bands, "band")
            ));
        }
        let file = files.as_ref().map(|files| files.files[0].clone());
        if let Some(files) = &files {
            files.make_folder()?;
        }
        let beside = file.as_deref().and_then(|file| file.parent()).filter(|folder| !folder.as_os_str().is_empty());
        let folder = match (&file, beside) {
            (None, _) => std::env::temp_dir(),
            (Some(_), beside) => beside.map_or(".".into(), Into::into),
        };
        let mut shelf = CodesShelf::new(&folder)?;
        let mut watcher = Watcher::of(&args.telling, "encode", 1);
        let dictionary = &self.chosen.dictionary;
        let report =
            pursuit.run_in_bands_on(&*self.engine, &mut self.picture, &mut shelf, dictionary, self.rows, &mut watcher)?;
        drop(watcher);
        let BandedShape { extent, channels, .. } = self.shape;
        let notes = self.picture.rows.notes();
        if let Some(file) = &file {
            let facts = CodesFacts {
                extent,
                channels,
                border: args.problem.border,
                axes: self.picture.rows.axes(),
                penalty: report.penalty,
                scale: args.picture.scale,
                depth: self.picture.rows.depth(),
                sample_rate: None,
                dictionary,
                notes: &notes,
            };
            let mut layer = |rows: Range<usize>| self.picture.split(rows).map(|(_, layer)| layer);
            let base = (args.problem.base != Base::None).then_some(&mut layer as _);
            stream_codes(file, &facts, &mut shelf, base)?;
        }
        let status = report.status;
        let source = Source {
            path: path.clone(),
            axes: self.picture.rows.axes(),
            depth: self.picture.rows.depth(),
            sample_rate: None,
            base: None,
            notes,
        };
        // The codes are on disk; what is told needs only their shape.
        let needles = vec![Needles::new(extent, channels, args.problem.border, Vec::new())];
        let answer = Answer { needles, report };
        Work { args, sources: vec![source], chosen: self.chosen, answer, scores: Vec::new(), files, bands: Some(bands) }
            .tell()?;
        Ok(if status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
    }
}
