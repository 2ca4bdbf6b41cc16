//! Fills in missing pixels; the same as `lobcod inpaint`.

use crate::events::{Listener, Watcher};
use crate::job::Job;
use crate::message::Draft;
use crate::pixels::{Pixels, with_image};
use lobcod::dictionary::Embedded;
use lobcod::{Dictionary, Result};
use lobcod_tasks::inpaint::{self, Fill, InpaintParams};
use serde::Deserialize;
use serde_json::json;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FillChoice {
    #[default]
    Auto,
    Model,
    Copy,
}

/// Trade-off between speed and quality.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    Fast,
    #[default]
    Standard,
    Best,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    fill: FillChoice,
    preset: Preset,
    penalty: Option<f64>,
    learn: Option<bool>,
    seed: u64,
}

pub fn run(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let pixels = Pixels::new("image", job.array("image"))?;
    let known = pixels.known(job.array("mask").as_ref())?;
    let signal = pixels.signal(pixels.channels)?;
    let time_limit = job.time_limit()?;
    let preset = match options.preset {
        Preset::Fast => inpaint::Preset::Fast,
        Preset::Standard => inpaint::Preset::Standard,
        Preset::Best => inpaint::Preset::Best,
    };
    let inpaint = InpaintParams::preset(preset).with(|p| {
        p.learn = options.learn.unwrap_or(p.learn);
        p.penalty = options.penalty;
        p.fill = match options.fill {
            FillChoice::Auto => Fill::Auto,
            FillChoice::Model => Fill::Model,
            FillChoice::Copy => Fill::Copy,
        };
        p.seed = options.seed;
        p.time_limit = time_limit;
        p.max_memory = job.max_memory();
    });
    let natural = Dictionary::natural();
    let dictionaries = match options.preset {
        Preset::Best => vec![Dictionary::embedded(Embedded::Natural12x12), natural],
        _ => vec![natural],
    };
    let engine = job.engine(signal.data().len())?;
    let mut watcher = Watcher::new(listener);
    let filled = inpaint.check()?.run(&*engine, &signal, &known, &dictionaries, &mut watcher)?;
    let missing = known.weights().data().iter().filter(|w| **w == 0.0).count();
    let copied = filled.copied.map_or(0, |copied| copied.iter().filter(|x| **x).count());
    let result = Draft::new(json!({
        "event": "result",
        "status": filled.report.status.to_string(),
        "seconds": filled.report.seconds,
        "threads": filled.report.threads,
        "engine": filled.report.engine,
        "penalty": filled.report.penalty,
        "missing": missing,
        "copied": copied,
    }));
    Ok(with_image(result, &filled.image))
}
