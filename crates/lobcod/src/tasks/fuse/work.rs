//! The work of a fusion: frame after frame, then the picture.

use super::activity::{activity, atom_weights};
use super::compose::Blend;
use super::decision::Decision;
use super::exposure::Exposures;
use super::maps::Maps;
use super::{Activity, Compose, Frames, Fused, Fuser, Mode};
use crate::base::smooth_on;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::Error;
use crate::extent::Extent;
use crate::observe::Observer;
use crate::pursuit::checked;
use crate::report::{Report, Status};
use crate::signal::Signal;
use crate::tasks::align::{Align, Aligner, Crop, halve, warp};
use crate::tasks::colour;
use crate::tasks::separate::{Layers, SeparateParams};
use std::time::Instant;

/// Most frames: their numbers are kept in 16 bits.
const MOST: usize = u16::MAX as usize;
/// Share of the activity at half the resolution; `docs/fusion.md` says what it was chosen by.
const COARSE_SHARE: f32 = 0.1;
/// Weight of the squared gradient of the depth map.
const DEPTH_SMOOTHNESS: f64 = 5.0;

pub(super) struct Work<'a, F> {
    fuser: &'a Fuser,
    engine: &'a dyn Engine<f32>,
    frames: &'a mut F,
    dictionary: &'a Dictionary<f32>,
    weights: Vec<f32>,
    aligner: Aligner,
    reports: Vec<Report>,
    clock: Instant,
}

/// A frame laid over the first one.
struct Placed {
    picture: Signal<f32>,
    light: Signal<f32>,
    crop: Crop,
}

impl<'a, F: Frames> Work<'a, F> {
    pub(super) fn new(
        fuser: &'a Fuser,
        engine: &'a dyn Engine<f32>,
        frames: &'a mut F,
        dictionary: &'a Dictionary<f32>,
    ) -> Result<Self, F::Error> {
        let count = frames.count();
        if !(2..=MOST).contains(&count) {
            return Err(Error::Shape(format!("fusion takes 2 to {MOST} frames, but there are {count}")).into());
        }
        if dictionary.channels() != 1 || dictionary.extent().rank() != 2 {
            let found = format!("{} with {} channels", dictionary.extent(), dictionary.channels());
            return Err(Error::Shape(format!("fusion codes lightness and needs flat atoms of one channel, not {found}")).into());
        }
        let weights = atom_weights(dictionary, fuser.params.activity);
        let aligner = Aligner::new(fuser.params.align, fuser.params.threads);
        Ok(Self { fuser, engine, frames, dictionary, weights, aligner, reports: Vec::new(), clock: Instant::now() })
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<Fused, F::Error> {
        let params = &self.fuser.params;
        let first = self.frames.read(0)?;
        check_frame(&first, (first.extent(), first.channels()))?;
        self.fuser.check_memory(first.extent(), first.channels(), self.dictionary)?;
        let [_, height, width] = first.extent().padded();
        let mut decision = Decision::new([height, width], params.prefer);
        let mut maps = (params.compose == Compose::Codes).then(|| Maps::new(params.base, &first));
        let mut exposures = (params.mode == Mode::Exposure).then(|| Exposures::new(&first, params.threads));
        let mut crops: Vec<Crop> = Vec::new();
        let shape = (first.extent(), first.channels());
        let mut next = Some(first);
        for number in 0..self.frames.count() {
            let frame = next.take().map_or_else(|| self.frames.read(number), Ok)?;
            check_frame(&frame, shape)?;
            let placed = self.place(number, frame)?;
            let usable = |i: usize| placed.crop.holds(i, width);
            let (layers, activity) = self.look(&placed, observer)?;
            let stop = layers.report.status == Status::Interrupted;
            let lab = (placed.picture.channels() == 3 && (maps.is_some() || exposures.is_some()))
                .then(|| colour::to_lab(&placed.picture, params.scale))
                .transpose()?;
            if let Some(exposures) = &mut exposures {
                exposures.add(number, &layers, &placed.light, &activity, lab.as_ref(), usable)?;
            } else {
                decision.add(number, &activity, placed.light.data(), usable);
            }
            if let Some(maps) = &mut maps {
                maps.add(number, &decision.frame, &layers, lab.as_ref(), self.dictionary);
            }
            crops.push(placed.crop);
            self.reports.push(layers.report);
            if stop {
                break;
            }
        }
        let crop = crops.iter().fold(crops[0], |a, b| a.and(b));
        let [picture, decided, depth] = match (exposures, maps) {
            (Some(exposures), _) => exposures.finish(params.scale)?,
            (None, Some(maps)) => self.compose_codes(maps, &decision)?,
            (None, None) => self.compose_pixels(decision)?,
        };
        let status = self.reports.iter().map(|r| r.status).max().unwrap_or(Status::Converged);
        Ok(Fused {
            picture: checked(crop.cut(&picture)?)?,
            decision: crop.cut(&decided)?,
            depth: crop.cut(&smooth_on(&depth, None, DEPTH_SMOOTHNESS, params.threads)?)?,
            crop,
            motions: self.aligner.motions().to_vec(),
            reports: self.reports,
            status,
        })
    }

    /// Lays a frame over the first one, if asked to; its place is measured in any case.
    fn place(&mut self, number: usize, frame: Signal<f32>) -> Result<Placed, F::Error> {
        let params = &self.fuser.params;
        let light = checked(colour::lightness(&frame, params.scale, params.threads)?)?;
        self.aligner.add(&light)?;
        self.lay(number, frame, light)
    }

    fn lay(&self, number: usize, frame: Signal<f32>, light: Signal<f32>) -> Result<Placed, F::Error> {
        let (params, motion) = (&self.fuser.params, self.aligner.motions()[number]);
        if params.align == Align::None || motion.is_still() {
            return Ok(Placed { crop: Crop::whole(frame.extent()), picture: frame, light });
        }
        let crop = motion.crop(frame.extent())?;
        let (picture, light) = (warp(&frame, &motion, params.threads), warp(&light, &motion, params.threads));
        Ok(Placed { picture, light, crop })
    }

    /// Separates a frame and sums its activity up: at half the resolution if haste is asked for, else at its own and, where atoms are
    /// weighted, a little at half of it, which noise has less say in.
    fn look(&self, placed: &Placed, observer: &mut dyn Observer) -> Result<(Layers<f32>, Vec<f32>), F::Error> {
        let (params, size) = (&self.fuser.params, placed.light.extent().padded());
        let half = || checked(halve(&placed.light));
        if params.fast {
            let (layers, map) = self.separate(&half()?, params.window.div_ceil(2), observer)?;
            let map = double(&map, layers.base.extent().padded(), size);
            return Ok((layers, map));
        }
        let (mut layers, mut map) = self.separate(&placed.light, params.window, observer)?;
        let atom = self.dictionary.extent().padded();
        let holds_atoms = (1..3).all(|axis| size[axis].div_ceil(2) >= atom[axis]);
        let weighted = params.mode == Mode::Focus && params.activity == Activity::Rough;
        if weighted && holds_atoms && layers.report.status != Status::Interrupted {
            let (coarse, small) = self.separate(&half()?, params.window.div_ceil(2), observer)?;
            let small = double(&small, coarse.base.extent().padded(), size);
            map.iter_mut().zip(small).for_each(|(a, s)| *a += COARSE_SHARE * s);
            layers.report.status = layers.report.status.max(coarse.report.status);
        }
        Ok((layers, map))
    }

    fn separate(
        &self,
        light: &Signal<f32>,
        window: usize,
        observer: &mut dyn Observer,
    ) -> Result<(Layers<f32>, Vec<f32>), F::Error> {
        let params = &self.fuser.params;
        let limit = params.time_limit.map(|limit| limit.saturating_sub(self.clock.elapsed()));
        let separator = SeparateParams { time_limit: limit, ..self.fuser.separator.params().clone() }.check()?;
        let layers = separator.run_on(self.engine, light, self.dictionary, observer)?;
        let map = activity(&layers.needles, self.dictionary, &self.weights, window, params.threads);
        Ok((layers, map))
    }

    fn compose_codes(&self, maps: Maps, decision: &Decision) -> Result<[Signal<f32>; 3], F::Error> {
        let params = &self.fuser.params;
        let made = maps.picture(self.dictionary)?;
        let picture = if made.channels() == 3 {
            colour::from_lab(&made, params.scale)?
        } else {
            let gain = (params.scale / 100.0) as f32;
            Signal::from_planar(made.extent(), 1, made.data().iter().map(|x| gain * x).collect())?
        };
        let decided = numbers(&decision.frame, picture.extent())?;
        Ok([picture, decided.clone(), decided])
    }

    /// Reads the frames once more and blends their pixels.
    fn compose_pixels(&mut self, mut decision: Decision) -> Result<[Signal<f32>; 3], F::Error> {
        let params = &self.fuser.params;
        let count = self.reports.len();
        decision.settle(count, 2 * params.window - 1, params.threads);
        let Decision { frame, guide, .. } = decision;
        let mut blend: Option<Blend> = None;
        for number in 0..count {
            if blend.as_ref().is_some_and(|blend| !blend.wants(number)) {
                continue;
            }
            let picture = self.frames.read(number)?;
            let light = Signal::zeros(picture.extent(), 1);
            let placed = self.lay(number, picture, light)?;
            let (extent, channels) = (placed.picture.extent(), placed.picture.channels());
            let width = extent.padded()[2];
            let blend = blend.get_or_insert_with(|| Blend::new(&frame, &guide, extent, channels, params.threads));
            blend.add(number, &placed.picture, |i| placed.crop.holds(i, width));
        }
        let (picture, depth) = blend.expect("there are two frames or more").finish()?;
        let decided = numbers(&frame, picture.extent())?;
        Ok([picture, decided, depth])
    }
}

fn check_frame(frame: &Signal<f32>, (extent, channels): (Extent, usize)) -> Result<(), Error> {
    if (frame.extent(), frame.channels()) != (extent, channels) {
        return Err(Error::Shape(format!(
            "the frames differ in shape ({extent} with {channels} channels, {} with {}); crop or scale them to one size first",
            frame.extent(),
            frame.channels()
        )));
    }
    if frame.extent().rank() != 2 {
        return Err(Error::Shape(format!("fusion takes pictures with two axes, not {}", frame.extent())));
    }
    match frame.data().iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::Data(format!("a frame holds a sample that is {x}; replace it by a number"))),
        None => Ok(()),
    }
}

/// Numbers of frames as a picture.
fn numbers(frame: &[u16], extent: Extent) -> Result<Signal<f32>, Error> {
    Signal::from_planar(extent, 1, frame.iter().map(|&k| f32::from(k)).collect())
}

/// Every sample of a small map twice along both axes.
fn double(map: &[f32], [_, _, narrow]: [usize; 3], [_, height, width]: [usize; 3]) -> Vec<f32> {
    (0..height * width).map(|i| map[i / width / 2 * narrow + i % width / 2]).collect()
}
