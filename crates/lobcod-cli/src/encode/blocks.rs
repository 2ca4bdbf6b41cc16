//! Images distributed over ranks: each rank reads the rows it works on and writes the codes it
//! finds, and none holds the whole image.

use super::details::{Details, details, refused};
use super::results::Results;
use crate::args::EncodeArgs;
use crate::checkpoint;
use crate::dictionary::Chosen;
use crate::dry_run::Plan;
use crate::flow::Job;
use crate::input::{Source, read_options};
use crate::missing::Missing;
use crate::output::paths::{CodesFiles, STDOUT};
use crate::progress::Watcher;
use crate::ranks;
use crate::values::EngineChoice;
use anyhow::{Result, ensure};
use lobcod::bands::{RowSource, Strip};
use lobcod::base::Base;
use lobcod::checkpoint::Checkpoint;
use lobcod::engine::ranks::{RankEngine, World};
use lobcod::geometry::Point;
use lobcod::pursuit::PartOf;
use lobcod::{Answer, Extent, Mask, Needles, Observed, Pursuit, Real, Signal};
use lobcod_io::{CodesFacts, ImageRows, Keeper, write_codes_together};
use std::rc::Rc;

/// An image that is read in blocks of rows.
pub struct RankBlocks<'a, T> {
    args: &'a EncodeArgs,
    image: Details,
    chosen: Chosen<T>,
    extent: Extent,
    channels: usize,
    pursuit: Pursuit,
    files: Option<CodesFiles>,
}

impl<'a, T: Real> RankBlocks<'a, T> {
    /// The image, if ranks can read it in blocks; every rank reads other images as a whole.
    pub fn of(
        args: &'a EncodeArgs,
        pursuit: &Pursuit,
        files: &Option<CodesFiles>,
    ) -> Result<Option<Self>> {
        let [path] = &args.images[..] else { return Ok(None) };
        let piecewise = args.run.engine == EngineChoice::Mpi && !args.plan.dry_run;
        if !piecewise
            || path.as_os_str() == STDOUT
            || !path.exists()
            || refused(args, false).is_some()
        {
            return Ok(None);
        }
        let Some(rows) = ImageRows::open(path, &read_options(&args.input, &args.run))? else {
            return Ok(None);
        };
        let (extent, channels) = (RowSource::<T>::extent(&rows), RowSource::<T>::channels(&rows));
        let chosen = Chosen::of(&args.dictionary, extent.rank())?;
        chosen.check_fits(extent)?;
        let image = details(args, rows, chosen.dictionary.extent());
        let (pursuit, files) = (pursuit.clone(), files.clone());
        Ok(Some(Self { args, image, chosen, extent, channels, pursuit, files }))
    }

    /// The rows that this rank works on.
    fn read(
        &mut self,
        pursuit: &Pursuit,
        engine: &RankEngine,
        axis: usize,
        world: &dyn World,
    ) -> Result<Observed<T>> {
        let held = engine.part(pursuit, self.extent, self.chosen.dictionary.extent())?;
        // A rank without work reads one row, so that it knows the kind of image.
        let rows =
            if held.is_empty() { 0..1 } else { held.start[axis] as usize..held.end(axis) as usize };
        let Strip { samples, weights } = self.image.read(rows.clone())?;
        let known = weights.as_ref().map_or(samples.data().len(), |w: &Signal<T>| {
            w.data().iter().filter(|w| **w > T::ZERO).count()
        });
        let mut counts = [i64::from(weights.is_some()), known as i64];
        world.reduce(&mut counts, &mut []);
        let path = self.args.images[0].display();
        ensure!(counts[1] > 0, "{path}: all samples are missing; at least one must be known");
        // If one rank has missing samples, all use weights, as a single process would.
        let weights = if counts[0] > 0 {
            weights.map_or_else(|| ones(&samples), Ok).map(Some)?
        } else {
            None
        };
        let mut start = [0; 3];
        start[axis] = rows.start as i64;
        let part = Some(PartOf { whole: self.extent, start: Point::new(start) });
        Ok(Observed { mask: weights.map(Mask::of_part).transpose()?, part, ..samples.into() })
    }

    /// Writes this rank's codes and rows of the base layer.
    fn write(
        &mut self,
        file: &std::path::Path,
        answer: &Answer<T>,
        world: &dyn World,
    ) -> Result<()> {
        let (rows, ranks) = (self.extent.axes()[0], world.ranks());
        let own = world.rank() * rows / ranks..(world.rank() + 1) * rows / ranks;
        let layer = if self.args.problem.base == Base::None || own.is_empty() {
            None
        } else {
            Some(self.image.split::<T>(own)?.1)
        };
        let metadata = self.image.source().metadata();
        let facts = CodesFacts {
            extent: self.extent,
            channels: self.channels,
            border: self.args.problem.border,
            axes: self.image.source().axes(),
            penalty: answer.report.penalty,
            scale: self.args.input.scale.value(),
            depth: self.image.source().depth(),
            sample_rate: None,
            dictionary: &self.chosen.dictionary,
            metadata: &metadata,
        };
        let base = (self.args.problem.base != Base::None).then_some(layer.as_ref());
        Ok(write_codes_together(file, &facts, answer.needles[0].codes(), base, world)?)
    }

    fn results(
        self,
        answer: Answer<T>,
        files: Option<CodesFiles>,
        kept: lobcod_io::Result<()>,
    ) -> Result<Results<'a, T>> {
        let axes = self.image.source().axes();
        let depth = self.image.source().depth();
        let metadata = self.image.source().metadata();
        let source = Source {
            path: self.args.images[0].clone(),
            axes,
            depth,
            sample_rate: None,
            base: None,
            metadata,
            missing: Missing::default(),
        };
        // The codes are on disk; the report needs only their shape.
        let needles =
            vec![Needles::new(self.extent, self.channels, self.args.problem.border, Vec::new())];
        let answer = Answer { needles, ..answer };
        let (args, chosen) = (self.args, self.chosen);
        Ok(Results {
            args,
            sources: vec![source],
            shapes: vec![(self.extent, self.channels)],
            chosen,
            answer,
            whole: None,
            scores: Vec::new(),
            files,
            bands: None,
            whites: Vec::new(),
            closeness: None,
            kept,
        })
    }
}

impl<'a, T: Real> Job for RankBlocks<'a, T> {
    type Done = Results<'a, T>;

    fn plan(&mut self) -> Result<Plan> {
        unreachable!("a dry run reads images as a whole")
    }

    fn run(mut self) -> Result<Results<'a, T>> {
        let args = self.args;
        let pursuit = self.pursuit.clone();
        let files = self.files.take();
        let world: Rc<dyn World> = ranks::world()?;
        if !args.console.quiet {
            self.chosen.warn_if_normalised();
        }
        let results: Vec<_> = files.iter().flat_map(|files| &files.files).cloned().collect();
        let checkpoint = checkpoint::open(&args.checkpoints, &results)?;
        // Blocks of rows, so that the codes of the ranks follow each other in the file.
        let axis = 3 - self.extent.rank();
        let grid = std::array::from_fn(|a| if a == axis { world.ranks() } else { 1 });
        let threads = ranks::threads_of_rank(args.run.threads.count);
        let engine =
            RankEngine::new(Rc::clone(&world), threads)?.with_process_grid(grid).with_own_codes();
        let observed = [self.read(&pursuit, &engine, axis, &*world)?];
        let watcher = Watcher::of(&args.console, "encode");
        let file = args.checkpoints.checkpoint.as_deref();
        let mut keeper = Keeper::<Checkpoint, _>::new(watcher, file, Some(Rc::clone(&world)));
        let dictionary = &self.chosen.dictionary;
        let answer = match &checkpoint {
            Some(checkpoint) => {
                pursuit.resume(&engine, checkpoint, &observed, dictionary, &mut keeper)?
            }
            None => pursuit.run(&engine, &observed, dictionary, &mut keeper)?,
        };
        let kept = keeper.finish(answer.report.status);
        drop((observed, checkpoint));
        if let Some(files) = &files {
            if world.rank() == 0 {
                files.make_folder()?;
            }
            self.write(&files.files[0], &answer, &*world)?;
        }
        self.results(answer, files, kept)
    }
}

/// Weights for samples that are all known.
fn ones<T: Real>(samples: &Signal<T>) -> lobcod::Result<Signal<T>> {
    Signal::from_planar(samples.extent(), 1, vec![T::ONE; samples.extent().volume()])
}
