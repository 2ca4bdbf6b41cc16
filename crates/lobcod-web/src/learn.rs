//! Learns atoms from an image or a sound; the same as `lobcod learn`.

use crate::events::{Listener, Watcher};
use crate::job::Job;
use crate::message::Draft;
use crate::pixels::{Pixels, WHITE};
use lobcod::base::Base;
use lobcod::learn::Method;
use lobcod::{Border, Dictionary, Error, Extent, LearnParams, Learnt, Needles, Penalty};
use lobcod::{Result, Signal};
use lobcod_io::{MetaValue, encode_dictionary};
use serde::Deserialize;
use serde_json::json;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Init {
    #[default]
    Random,
    Patches,
    Dct,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MethodChoice {
    #[default]
    Atomwise,
    Stochastic,
    Batch,
}

/// Samples of an atom of a sound; rows and columns of one of an image.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Size {
    Samples(usize),
    Pixels([usize; 2]),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    atoms: Option<usize>,
    size: Option<Size>,
    penalty: Option<f64>,
    relative_penalty: Option<f64>,
    passes: Option<usize>,
    seed: u64,
    method: MethodChoice,
    init: Init,
    /// Images: whether atoms have the colours of the image; otherwise its lightness is coded.
    colour: Option<bool>,
    /// Sounds: samples per second, for the result.
    rate: Option<f64>,
}

pub fn from_image(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let pixels = Pixels::new("image", job.array("image"))?;
    pixels.check_opaque("image")?;
    let signal = match options.colour {
        Some(false) => pixels.lightness()?,
        _ => pixels.signal(pixels.channels)?,
    };
    let size = match options.size {
        None => [8, 8],
        Some(Size::Pixels(size)) => size,
        Some(Size::Samples(side)) => [side, side],
    };
    let work = Work { options, atoms: 32, relative_penalty: 0.05, atom: Extent::new(&size)? };
    Ok(work.run(job, signal, listener)?.0)
}

pub fn from_sound(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let samples = job.array("samples").filter(|array| array.shape.len() == 1);
    let samples = samples.and_then(|array| array.to_f32()).ok_or_else(|| {
        Error::Shape("the sound is missing; send its samples as one list of f32".into())
    })?;
    // As the command line reads sounds: full scale becomes 255.
    let samples: Vec<f32> = samples.into_iter().map(|x| WHITE as f32 * x).collect();
    let extent = Extent::new(&[samples.len()])?;
    let size = match options.size {
        None => 256,
        Some(Size::Samples(size)) => size,
        Some(Size::Pixels(_)) => {
            return Err(Error::Shape("the size of the atoms of a sound is one number".into()));
        }
    };
    let rate = options.rate;
    let work = Work { options, atoms: 8, relative_penalty: 0.1, atom: Extent::new(&[size])? };
    let signal = Signal::from_planar(extent, 1, samples)?.finite()?;
    let (mut result, reconstruction) = work.run(job, signal, listener)?;
    result.set("rate", rate);
    let samples: Vec<f32> = reconstruction.data().iter().map(|x| x / WHITE as f32).collect();
    Ok(result.with_f32("reconstruction", &[samples.len()], &samples))
}

/// The file of the atoms of a preview, for a run that was stopped.
pub fn file(job: &Job) -> Result<Draft> {
    job.refuse_options()?;
    let atoms = job.array("atoms").and_then(|array| Some((array.to_f32()?, array.shape)));
    let (channels, size, data) = match &atoms {
        Some((data, shape)) => match shape[..] {
            [_, ref size @ ..] if matches!(size.len(), 1 | 2) => (1, size, data),
            [_, channels, ref size @ ..] if size.len() == 2 => (channels, size, data),
            _ => return Err(no_atoms()),
        },
        None => return Err(no_atoms()),
    };
    let dictionary = Dictionary::new(Extent::new(size)?, channels, data.clone())?;
    let remarks = [("version", MetaValue::Text(env!("CARGO_PKG_VERSION").into()))];
    let file = encode_dictionary(&dictionary, &remarks)
        .map_err(|name| Error::Data(format!("two arrays would be named {name}")))?;
    let result = Draft::new(json!({"event": "result", "status": "completed"}));
    Ok(result.with_u8("dictionary", &[file.len()], &file))
}

fn no_atoms() -> Error {
    Error::Shape("the atoms are missing; send them as f32 of the shape of a preview".into())
}

/// What to learn, with the defaults of its kind of signal.
struct Work {
    options: Options,
    atoms: usize,
    relative_penalty: f64,
    atom: Extent,
}

impl Work {
    /// The result, and the signal that atoms and codes make, base layer included.
    fn run(
        self,
        job: &Job,
        signal: Signal<f32>,
        listener: &mut dyn Listener,
    ) -> Result<(Draft, Signal<f32>)> {
        let (atom, extent, channels) = (self.atom, signal.extent(), signal.channels());
        if extent.axes().iter().zip(atom.axes()).any(|(length, size)| size > length) {
            return Err(Error::Shape(format!(
                "atoms of {} do not fit into {}; choose smaller atoms",
                size_words(atom),
                size_words(extent)
            )));
        }
        let options = &self.options;
        let penalty = match (options.penalty, options.relative_penalty) {
            (Some(penalty), _) => Penalty::Absolute(penalty),
            (None, relative) => Penalty::Relative(relative.unwrap_or(self.relative_penalty)),
        };
        let time_limit = job.time_limit()?;
        let learner = LearnParams::new(penalty).with(|p| {
            p.passes = options.passes.unwrap_or(20);
            p.seed = options.seed;
            p.method = match options.method {
                MethodChoice::Atomwise => Method::Atomwise,
                MethodChoice::Stochastic => Method::STOCHASTIC,
                MethodChoice::Batch => Method::Batch,
            };
            p.time_limit = time_limit;
            p.max_memory = job.max_memory();
        });
        let learner = learner.check()?;
        let base = Base::LocalMean.layer(&signal, None, atom)?;
        let detail = signal.minus(&base)?;
        let atoms = options.atoms.unwrap_or(self.atoms);
        let first = match options.init {
            Init::Random => Dictionary::random(atom, channels, atoms, options.seed)?,
            Init::Patches => {
                Dictionary::patches(std::slice::from_ref(&detail), atom, atoms, options.seed)?
            }
            Init::Dct => Dictionary::dct(atom, channels, atoms)?,
        };
        let engine = job.engine(detail.data().len())?;
        let mut watcher = Watcher::new(listener);
        let learnt = learner.run(&*engine, &[detail.into()], &first, &mut watcher)?;
        let made = learnt.needles[0].synthesise(&learnt.dictionary)?.plus(&base)?;
        Ok((self.result(&learnt)?, made))
    }

    fn result(&self, learnt: &Learnt<f32>) -> Result<Draft> {
        let report = &learnt.report;
        let total = &report.pursuit.total;
        let history = report.history.iter().map(|point| {
            json!({
                "seconds": point.seconds,
                "pass": point.pass,
                "objective": point.objective,
                "nonzeros": point.nonzeros,
            })
        });
        let result = Draft::new(json!({
            "event": "result",
            "status": report.status.to_string(),
            "seconds": report.seconds,
            "threads": report.pursuit.threads,
            "engine": report.pursuit.engine,
            "objective": total.objective,
            "gap": total.relative_gap(),
            "penalty": report.pursuit.penalty,
            "passes": report.passes,
            "nonzeros": total.nonzeros,
            "replaced_atoms": report.replaced_atoms,
            "history": history.collect::<Vec<_>>(),
        }));
        let file = encode_dictionary(&learnt.dictionary, &self.remarks(learnt))
            .map_err(|name| Error::Data(format!("two arrays would be named {name}")))?;
        let mut shape = vec![learnt.dictionary.len()];
        shape.extend(shape_of_atom(&learnt.dictionary));
        let result = result.with_f32("atoms", &shape, learnt.dictionary.data()).with_u8(
            "dictionary",
            &[file.len()],
            &file,
        );
        Ok(with_codes(result, &learnt.needles[0]))
    }

    /// The metadata that `lobcod learn` writes.
    fn remarks(&self, learnt: &Learnt<f32>) -> Vec<(&'static str, MetaValue)> {
        let text = |text: &str| MetaValue::Text(text.into());
        let integer = |n: u64| {
            i64::try_from(n).map_or_else(|_| MetaValue::Text(n.to_string()), MetaValue::Integer)
        };
        let method = match self.options.method {
            MethodChoice::Atomwise => "atomwise",
            MethodChoice::Stochastic => "stochastic",
            MethodChoice::Batch => "batch",
        };
        let init = match self.options.init {
            Init::Random => "random",
            Init::Patches => "patches",
            Init::Dct => "dct",
        };
        vec![
            ("method", text(method)),
            ("init", text(init)),
            ("model", text("")),
            ("images", MetaValue::Integer(1)),
            ("base", MetaValue::Text(Base::LocalMean.to_string())),
            ("border", MetaValue::Text(Border::Free.to_string())),
            ("scale", MetaValue::Number(WHITE)),
            ("passes", integer(learnt.report.passes as u64)),
            ("seed", integer(self.options.seed)),
            ("objective", MetaValue::Number(learnt.report.pursuit.total.objective)),
            ("version", text(env!("CARGO_PKG_VERSION"))),
            ("penalty", MetaValue::Number(learnt.report.pursuit.penalty)),
        ]
    }
}

/// A size as a page writes it: width before height.
fn size_words(extent: Extent) -> String {
    extent.axes().iter().rev().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// Appends codes to an event.
pub fn with_codes(draft: Draft, needles: &Needles<f32>) -> Draft {
    let (codes, rank) = (needles.codes(), needles.extent().rank());
    let positions: Vec<i32> = codes.iter().flat_map(|c| &c.position[3 - rank..]).copied().collect();
    let atoms: Vec<i32> = codes.iter().map(|c| c.atom as i32).collect();
    let values: Vec<f32> = codes.iter().map(|c| c.value).collect();
    draft
        .with_i32("position", &[codes.len(), rank], &positions)
        .with_i32("atom", &[codes.len()], &atoms)
        .with_f32("value", &[codes.len()], &values)
}

/// Lengths of the axes of an atom; channels first if there are several.
pub fn shape_of_atom(dictionary: &Dictionary<f32>) -> Vec<usize> {
    let channels = dictionary.channels();
    let mut shape = Vec::from_iter((channels > 1).then_some(channels));
    shape.extend(dictionary.extent().axes());
    shape
}
