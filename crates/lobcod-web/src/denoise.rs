//! Estimates and removes noise; the same as `lobcod denoise`.

use crate::events::{Listener, Watcher};
use crate::inpaint::Preset;
use crate::job::Job;
use crate::message::Draft;
use crate::pixels::{Pixels, WHITE, with_image};
use lobcod::run::Clock;
use lobcod::{Dictionary, Result, Signal};
use lobcod_tasks::denoise::{DenoiseParams, DetectedNoise, Effort, Method, Noise, detect_noise};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    noise: String,
    strength: f64,
    preset: Preset,
}

impl Default for Options {
    fn default() -> Self {
        Self { noise: "auto".into(), strength: 1.0, preset: Preset::Standard }
    }
}

pub fn estimate(job: &Job) -> Result<Draft> {
    job.refuse_options()?;
    let clock = Clock::start();
    let image = image(job)?;
    let mut result = Draft::new(json!({
        "event": "result",
        "status": "completed",
        "threads": 1,
        "engine": "cpu",
    }));
    set(&mut result, Some(detect_noise(&image, WHITE)?));
    result.set("seconds", clock.seconds());
    Ok(result)
}

pub fn run(job: &Job, listener: &mut dyn Listener) -> Result<Draft> {
    let options: Options = job.options()?;
    let image = image(job)?;
    let mut noise: Noise = options.noise.parse()?;
    let mut detected = None;
    if noise == Noise::Auto {
        let found = detect_noise(&image, WHITE)?;
        detected = Some(found);
        // Without noise, the task itself finds none either.
        noise = found.to_noise().unwrap_or(Noise::Auto);
    }
    let time_limit = job.time_limit()?;
    let denoiser = DenoiseParams::new(noise).with(|p| {
        p.strength = options.strength;
        p.method = match options.preset {
            Preset::Fast => Method::Local,
            Preset::Standard => Method::Groups(Effort::Standard),
            Preset::Best => Method::Groups(Effort::Best),
        };
        p.scale = WHITE;
        p.time_limit = time_limit;
        p.max_memory = job.max_memory();
    });
    let engine = job.engine(image.data().len())?;
    let mut watcher = Watcher::new(listener);
    let clean = denoiser.check()?.run(&*engine, &image, &Dictionary::natural(), &mut watcher)?;
    let mut result = Draft::new(json!({
        "event": "result",
        "status": clean.status.to_string(),
        "seconds": clean.seconds,
        "threads": engine.threads(),
        "engine": engine.name(),
    }));
    set(&mut result, detected);
    result.set("level", clean.level);
    Ok(with_image(result, &clean.image))
}

fn image(job: &Job) -> Result<Signal<f32>> {
    let pixels = Pixels::new("image", job.array("image"))?;
    pixels.check_opaque("image")?;
    pixels.signal(pixels.channels)
}

/// Sets the fields about detected noise.
fn set(result: &mut Draft, detected: Option<DetectedNoise>) {
    let (kind, level) = match detected {
        None => {
            for name in ["kind", "words", "noise"] {
                result.set(name, Value::Null);
            }
            return;
        }
        Some(DetectedNoise::None) => ("none", 0.0),
        Some(DetectedNoise::White { sigma }) => ("white", sigma),
        Some(DetectedNoise::Correlated { sigma }) => ("correlated", sigma),
        Some(DetectedNoise::SignalDependent { gain, .. }) => ("signal-dependent", gain),
        Some(DetectedNoise::Impulses { fraction }) => ("impulses", fraction),
    };
    result.set("kind", kind);
    result.set("level", level);
    result.set("words", detected.map(|noise| noise.to_string()));
    result.set("noise", detected.and_then(DetectedNoise::to_noise).map(option));
}

/// The noise as the value of `--noise`.
fn option(noise: Noise) -> String {
    match noise {
        Noise::Auto => "auto".into(),
        Noise::Gaussian { sigma: Some(sigma) } => format!("gaussian:{sigma:.4}"),
        Noise::Correlated { sigma: Some(sigma) } => format!("correlated:{sigma:.4}"),
        Noise::Poisson { gain: Some(gain) } => format!("poisson:{gain:.4}"),
        Noise::Mixed { gain, sigma } => format!("mixed:{gain:.4},{sigma:.4}"),
        Noise::Impulse { share: Some(share) } => format!("impulse:{share:.4}"),
        other => other.name().into(),
    }
}
