//! Codes the lightness of an image with the embedded dictionary; the pursuit of `lobcod encode`.

use crate::events::{Listener, Watcher};
use crate::job::Job;
use crate::learn::with_codes;
use crate::message::Draft;
use crate::pixels::Pixels;
use lobcod::base::Base;
use lobcod::{Dictionary, Penalty, PursuitParams, Result};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    penalty: Option<f64>,
    relative_penalty: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { penalty: None, relative_penalty: 0.05 }
    }
}

pub fn run(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let pixels = Pixels::new("image", job.array("image"))?;
    pixels.check_opaque("image")?;
    let signal = pixels.lightness()?;
    let penalty =
        options.penalty.map_or(Penalty::Relative(options.relative_penalty), Penalty::Absolute);
    let time_limit = job.time_limit()?;
    let pursuit = PursuitParams::new(penalty).with(|p| {
        p.time_limit = time_limit;
        p.max_memory = job.max_memory();
    });
    let dictionary = Dictionary::natural();
    let detail = signal.minus(&Base::LocalMean.layer(&signal, None, dictionary.extent())?)?;
    let engine = job.engine(detail.data().len())?;
    let mut watcher = Watcher::new(listener);
    let answer = pursuit.check()?.run(&*engine, &[detail.into()], &dictionary, &mut watcher)?;
    let report = &answer.report;
    let result = Draft::new(json!({
        "event": "result",
        "status": report.status.to_string(),
        "seconds": report.seconds,
        "threads": report.threads,
        "engine": report.engine,
        "objective": report.total.objective,
        "gap": report.total.relative_gap(),
        "penalty": report.penalty,
        "nonzeros": report.total.nonzeros,
    }));
    Ok(with_codes(result, &answer.needles[0]))
}
