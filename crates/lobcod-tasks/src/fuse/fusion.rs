//! Runs a fusion: all frames, then the image.

use super::activity::{activity, atom_weights};
use super::compose::Blend;
use super::decision::Decision;
use super::edges::Edges;
use super::exposure::Exposures;
use super::inspect::{StackReport, Thumbnail};
use super::maps::Maps;
use super::{Activity, Compose, Frames, Fused, Fuser, Mode};
use crate::Rectangle;
use crate::align::{Align, Aligner, Motion, halve, hardly_overlap, warp};
use crate::colour;
use crate::separate::{Layers, SeparateParams};
use lobcod::base::smooth_on;
use lobcod::engine::Engine;
use lobcod::memory;
use lobcod::run::{Limits, Run};
use lobcod::{Dictionary, Error, Extent, Observer, Report, Signal, Status};

/// Maximum number of frames: their indices are stored in 16 bits.
const MOST: usize = u16::MAX as usize;
/// Fraction of the activity at half the resolution, where noise excites rough atoms less.
const COARSE_FRACTION: f32 = 0.1;
/// Weight of the squared gradient of the depth map.
const DEPTH_SMOOTHNESS: f64 = 5.0;

pub struct Fusion<'a, F> {
    run: Run<'a>,
    /// The mode, once it is known.
    mode: Mode,
    fuser: &'a Fuser,
    engine: &'a dyn Engine<f32>,
    frames: &'a mut F,
    dictionary: &'a Dictionary<f32>,
    weights: Vec<f32>,
    aligner: Aligner,
    reports: Vec<Report>,
}

/// A frame aligned to the first one.
struct AlignedFrame {
    image: Signal<f32>,
    light: Signal<f32>,
    crop: Rectangle,
}

impl<'a, F: Frames> Fusion<'a, F> {
    pub fn new(
        fuser: &'a Fuser,
        engine: &'a dyn Engine<f32>,
        frames: &'a mut F,
        dictionary: &'a Dictionary<f32>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, F::Error> {
        let count = frames.count();
        if !(2..=MOST).contains(&count) {
            return Err(Error::Shape(format!(
                "fusion takes 2 to {MOST} frames, but there are {count}"
            ))
            .into());
        }
        if dictionary.channels() != 1 || dictionary.extent().rank() != 2 {
            let found = format!("{} with {} channels", dictionary.extent(), dictionary.channels());
            return Err(Error::Shape(format!(
                "fusion codes lightness and needs flat atoms of one channel, not {found}"
            ))
            .into());
        }
        let weights = atom_weights(dictionary, fuser.params.activity);
        let limits = Limits { time: fuser.params.time_limit, memory: None };
        let run = Run::begin(limits, engine.agreement(), observer);
        let aligner = Aligner::new(fuser.params.align, engine.threads());
        Ok(Self {
            fuser,
            engine,
            frames,
            dictionary,
            weights,
            aligner,
            reports: Vec::new(),
            run,
            mode: fuser.params.mode,
        })
    }

    pub fn run(mut self) -> Result<Fused, F::Error> {
        let params = &self.fuser.params;
        let first = self.frames.read(0)?;
        check_frame(&first, (first.extent(), first.channels()))?;
        let needed = self.fuser.estimate_memory(
            self.engine,
            first.extent(),
            first.channels(),
            self.dictionary,
        )?;
        memory::check(needed, params.max_memory)?;
        let shape = (first.extent(), first.channels());
        let mut thumbnails = Vec::new();
        if params.mode == Mode::Auto {
            let threads = self.engine.threads();
            thumbnails.push(Thumbnail::new(&colour::lightness(&first, params.scale, threads)?));
            for number in 1..self.frames.count() {
                let frame = self.frames.read(number)?;
                check_frame(&frame, shape)?;
                thumbnails.push(Thumbnail::new(&colour::lightness(&frame, params.scale, threads)?));
            }
            let found = StackReport::of(&thumbnails, Mode::Auto);
            found.check_related()?;
            params.check_mode(found.mode)?;
            self.mode = found.mode;
            thumbnails.clear();
        }
        let [_, height, width] = first.extent().padded();
        let mut decision = Decision::new([height, width], params.prefer);
        let mut maps = (params.compose == Compose::Codes).then(|| Maps::new(params.base, &first));
        let mut exposures =
            (self.mode == Mode::Exposure).then(|| Exposures::new(&first, self.engine.threads()));
        let mut edges = Edges::new(height * width, params.prefer);
        let mut crops: Vec<Rectangle> = Vec::new();
        let mut next = Some(first);
        for number in 0..self.frames.count() {
            let frame = next.take().map_or_else(|| self.frames.read(number), Ok)?;
            check_frame(&frame, shape)?;
            let frames = self.frames.count() as f64;
            self.run.begin_part(number as f64 / frames..(number + 1) as f64 / frames);
            let light = colour::lightness(&frame, params.scale, self.engine.threads())?.finite()?;
            self.aligner.add(&light)?;
            // Resampling blurs a little, so the activity is that of the frame as it was taken,
            // where nothing but the activity is used.
            let seen =
                if maps.is_none() && exposures.is_none() { Some(self.look(&light)?) } else { None };
            let placed = self.lay(number, frame, light)?;
            let (layers, activity) = match seen {
                Some((layers, activity)) => (layers, self.move_map(number, activity, shape.0)?),
                None => self.look(&placed.light)?,
            };
            thumbnails.push(Thumbnail::new(&placed.light));
            let usable = |i: usize| placed.crop.contains([i / width, i % width]);
            let stop = layers.report.status == Status::Interrupted;
            let lab = (placed.image.channels() == 3 && (maps.is_some() || exposures.is_some()))
                .then(|| colour::to_lab(&placed.image, params.scale))
                .transpose()?;
            if let Some(exposures) = &mut exposures {
                exposures.add(number, &layers, &placed.light, &activity, lab.as_ref(), usable)?;
            } else {
                decision.add(number, &activity, placed.light.data(), usable);
                edges.add(number, &placed.light, self.engine.threads(), usable);
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
        let crop = crops.iter().fold(crops[0], |a, b| a.shared(b));
        if crop.area() == 0 {
            return Err(hardly_overlap().into());
        }
        let [image, decided, depth] = match (exposures, maps) {
            (Some(exposures), _) => exposures.finish(params.scale)?,
            (None, Some(maps)) => self.compose_codes(maps, &decision)?,
            (None, None) => self.compose_pixels(decision, edges)?,
        };
        let status = self.reports.iter().map(|r| r.status).max().unwrap_or(Status::Converged);
        Ok(Fused {
            image: crop.crop(&image)?.finite()?,
            decision: crop.crop(&decided)?,
            depth: crop.crop(&smooth_on(&depth, None, DEPTH_SMOOTHNESS, self.engine.threads())?)?,
            crop,
            stack: StackReport::of(&thumbnails, self.mode),
            motions: (0..self.reports.len())
                .map(|number| self.motion(number).unwrap_or(Motion::STILL))
                .collect(),
            measured_motions: self.aligner.motions().to_vec(),
            reports: self.reports,
            status,
        })
    }

    /// Aligns a frame to the first one, if enabled.
    fn lay(
        &self,
        number: usize,
        frame: Signal<f32>,
        light: Signal<f32>,
    ) -> Result<AlignedFrame, F::Error> {
        let Some(motion) = self.motion(number) else {
            return Ok(AlignedFrame {
                crop: Rectangle::whole(frame.extent()),
                image: frame,
                light,
            });
        };
        let crop = motion.crop(frame.extent())?;
        let threads = self.engine.threads();
        let (image, light) = (warp(&frame, &motion, threads), warp(&light, &motion, threads));
        Ok(AlignedFrame { image, light, crop })
    }

    /// The motion of a frame, where it has to be undone.
    fn motion(&self, number: usize) -> Option<Motion> {
        let motion = self.aligner.motions()[number];
        (self.fuser.params.align != Align::None && !motion.is_still()).then_some(motion)
    }

    /// Aligns the activity of a frame.
    fn move_map(&self, number: usize, map: Vec<f32>, extent: Extent) -> Result<Vec<f32>, Error> {
        let Some(motion) = self.motion(number) else { return Ok(map) };
        let map = Signal::from_planar(extent, 1, map)?;
        let mut moved = warp(&map, &motion, self.engine.threads()).into_data();
        moved.iter_mut().for_each(|a| *a = a.max(0.0));
        Ok(moved)
    }

    /// Separates a frame and sums its activity: at half the resolution if `fast`, otherwise at full
    /// resolution plus, for weighted atoms, a fraction at half resolution to reduce noise.
    fn look(&mut self, light: &Signal<f32>) -> Result<(Layers<f32>, Vec<f32>), F::Error> {
        let (params, size) = (&self.fuser.params, light.extent().padded());
        let half = || halve(light).finite();
        if params.fast {
            let (layers, map) = self.separate(&half()?, params.window.div_ceil(2))?;
            let map = double(&map, layers.base.extent().padded(), size);
            return Ok((layers, map));
        }
        let (mut layers, mut map) = self.separate(light, params.window)?;
        let atom = self.dictionary.extent().padded();
        let holds_atoms = (1..3).all(|axis| size[axis].div_ceil(2) >= atom[axis]);
        let weighted = self.mode == Mode::Focus && params.activity == Activity::Rough;
        if weighted && holds_atoms && layers.report.status != Status::Interrupted {
            let (coarse, small) = self.separate(&half()?, params.window.div_ceil(2))?;
            let small = double(&small, coarse.base.extent().padded(), size);
            map.iter_mut().zip(small).for_each(|(a, s)| *a += COARSE_FRACTION * s);
            layers.report.status = layers.report.status.max(coarse.report.status);
        }
        Ok((layers, map))
    }

    fn separate(
        &mut self,
        light: &Signal<f32>,
        window: usize,
    ) -> Result<(Layers<f32>, Vec<f32>), F::Error> {
        let separator = SeparateParams {
            time_limit: self.run.time_left(),
            ..self.fuser.separator.params().clone()
        }
        .check()?;
        let layers = separator.run(self.engine, light, self.dictionary, &mut self.run.part())?;
        let map = activity(
            &layers.needles,
            self.dictionary,
            &self.weights,
            window,
            self.engine.threads(),
        );
        Ok((layers, map))
    }

    fn compose_codes(&self, maps: Maps, decision: &Decision) -> Result<[Signal<f32>; 3], F::Error> {
        let params = &self.fuser.params;
        let made = maps.image(self.dictionary)?;
        let image = if made.channels() == 3 {
            colour::from_lab(&made, params.scale)?
        } else {
            let gain = (params.scale / 100.0) as f32;
            Signal::from_planar(made.extent(), 1, made.data().iter().map(|x| gain * x).collect())?
        };
        let decided = numbers(&decision.frame, image.extent())?;
        Ok([image, decided.clone(), decided])
    }

    /// Reads the frames again to blend their pixels.
    fn compose_pixels(
        &mut self,
        mut decision: Decision,
        edges: Edges,
    ) -> Result<[Signal<f32>; 3], F::Error> {
        let params = &self.fuser.params;
        let (count, threads) = (self.reports.len(), self.engine.threads());
        decision.settle(count, 2 * params.window - 1, threads);
        edges.settle(&mut decision);
        let Decision { frame, guide, .. } = decision;
        let mut blend: Option<Blend> = None;
        for number in 0..count {
            if blend.as_ref().is_some_and(|blend| !blend.wants(number)) {
                continue;
            }
            let image = self.frames.read(number)?;
            let light = Signal::zeros(image.extent(), 1);
            let placed = self.lay(number, image, light)?;
            let (extent, channels) = (placed.image.extent(), placed.image.channels());
            let width = extent.padded()[2];
            let blend =
                blend.get_or_insert_with(|| Blend::new(&frame, &guide, extent, channels, threads));
            blend.add(number, &placed.image, |i| placed.crop.contains([i / width, i % width]));
        }
        let (image, depth) = blend.expect("at least two frames").finish()?;
        let decided = numbers(&frame, image.extent())?;
        Ok([image, decided, depth])
    }
}

fn check_frame(frame: &Signal<f32>, (extent, channels): (Extent, usize)) -> Result<(), Error> {
    if (frame.extent(), frame.channels()) != (extent, channels) {
        return Err(Error::Shape(format!(
            "the frames differ in shape ({extent} with {channels} channels, {} with {}); crop or \
             resize them first",
            frame.extent(),
            frame.channels()
        )));
    }
    if frame.extent().rank() != 2 {
        return Err(Error::Shape(format!(
            "fusion takes images with two axes, not {}",
            frame.extent()
        )));
    }
    match frame.data().iter().find(|x| !x.is_finite()) {
        Some(x) => {
            Err(Error::Data(format!("a sample of a frame is {x}; replace it with a finite value")))
        }
        None => Ok(()),
    }
}

/// Frame indices as an image.
fn numbers(frame: &[u16], extent: Extent) -> Result<Signal<f32>, Error> {
    Signal::from_planar(extent, 1, frame.iter().map(|&k| f32::from(k)).collect())
}

/// Upscales a map by two along both axes by replication.
fn double(map: &[f32], [_, _, narrow]: [usize; 3], [_, height, width]: [usize; 3]) -> Vec<f32> {
    (0..height * width).map(|i| map[i / width / 2 * narrow + i % width / 2]).collect()
}
