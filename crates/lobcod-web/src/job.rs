//! A job: reads a request, runs its task, sends the result or the error.

use crate::events::Listener;
use crate::message::{Array, Draft, Message};
use crate::{denoise, encode, fuse, inpaint, learn};
use lobcod::engine::{CpuEngine, Engine};
use lobcod::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Version of the messages.
pub const PROTOCOL: u64 = 1;

/// The error of a job that panicked.
pub(crate) const DEFECT: &str = "the engine failed, which is a defect of lobcod; please report it";

/// Opens an engine for a number of threads (0: all cores) and a number of samples.
type Open = dyn Fn(usize, usize) -> Result<Box<dyn Engine<f32>>> + Send + Sync;

/// Where jobs run.
pub struct Machine {
    open: Box<Open>,
    max_memory: Option<u64>,
    max_pixels: Option<usize>,
}

impl Machine {
    /// A machine whose engines `open` creates, for a number of threads (0: all cores) and a number
    /// of samples; a job may take at most this much memory.
    pub fn new(
        open: impl Fn(usize, usize) -> Result<Box<dyn Engine<f32>>> + Send + Sync + 'static,
        max_memory: Option<u64>,
    ) -> Self {
        Self { open: Box::new(open), max_memory, max_pixels: None }
    }

    /// The same machine for images of at most so many pixels, all images of a job together.
    pub fn with_max_pixels(self, pixels: usize) -> Self {
        Self { max_pixels: Some(pixels), ..self }
    }
}

/// The processor, without a limit of memory.
impl Default for Machine {
    fn default() -> Self {
        Self::new(|threads, samples| Ok(Box::new(CpuEngine::for_samples(threads, samples)?)), None)
    }
}

/// Options of every task.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Common {
    threads: usize,
    time_limit: Option<f64>,
}

/// A request, and where it runs.
pub struct Job<'a> {
    message: Message<'a>,
    machine: &'a Machine,
    task: String,
    options: Value,
    common: Common,
}

impl<'a> Job<'a> {
    fn read(request: &'a [u8], machine: &'a Machine) -> Result<Self> {
        let message = Message::read(request)?;
        let protocol = &message.head["protocol"];
        if *protocol != PROTOCOL {
            return Err(Error::Data(format!(
                "the page speaks version {protocol} of the protocol, but the engine version \
                 {PROTOCOL}; reload the page"
            )));
        }
        let pixels = pixels_of(&message);
        if let Some(most) = machine.max_pixels.filter(|&most| pixels > most) {
            return Err(Error::Data(format!(
                "{:.1} megapixels are more than the {} that WebAssembly handles; crop or reduce \
                 the image, or run `lobcod studio`, which uses all cores",
                pixels as f64 / 1e6,
                most as f64 / 1e6
            )));
        }
        let task = message.head["task"].as_str().unwrap_or_default().to_string();
        let mut options = match &message.head["options"] {
            Value::Null => json!({}),
            options => options.clone(),
        };
        let fields = options.as_object_mut();
        let fields = fields.ok_or_else(|| Error::Data("the options are not an object".into()))?;
        let common = ["threads", "time_limit"].into_iter();
        let common = common.filter_map(|name| Some((name.to_string(), fields.remove(name)?)));
        let common = parse(&task, Value::Object(common.collect()))?;
        Ok(Self { message, machine, task, options, common })
    }

    /// The options of the task.
    pub fn options<O: DeserializeOwned>(&self) -> Result<O> {
        parse(&self.task, self.options.clone())
    }

    /// For a task without options: refuses any.
    pub fn refuse_options(&self) -> Result<()> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct NoOptions {}

        self.options::<NoOptions>().map(|_| ())
    }

    /// An array of the request.
    pub fn array(&self, name: &str) -> Option<Array<'a>> {
        self.message.array(name)
    }

    /// An engine for a number of samples.
    pub fn engine(&self, samples: usize) -> Result<Box<dyn Engine<f32>>> {
        (self.machine.open)(self.common.threads, samples)
    }

    /// The memory that the task may use.
    pub fn max_memory(&self) -> Option<u64> {
        self.machine.max_memory
    }

    /// The time that the task may take.
    pub fn time_limit(&self) -> Result<Option<Duration>> {
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                Error::parameter("the time limit", seconds, "a number of seconds of at least 0")
            })
        };
        self.common.time_limit.map(limit).transpose()
    }

    fn run(&self, listener: &mut dyn Listener) -> Result<Draft> {
        match &self.task[..] {
            "inpaint" => inpaint::run(self, listener),
            "fuse" => fuse::run(self, listener),
            "repaint" => fuse::repaint(self),
            "noise" => denoise::estimate(self),
            "denoise" => denoise::run(self, listener),
            "encode" => encode::run(self, listener),
            "learn" => learn::from_image(self, listener),
            "sound" => learn::from_sound(self, listener),
            "dictionary" => learn::file(self),
            _ => Err(Error::parameter(
                "the task",
                &self.task,
                "inpaint, fuse, repaint, noise, denoise, encode, learn, sound or dictionary",
            )),
        }
    }
}

/// Pixels of all images of a request.
fn pixels_of(message: &Message) -> usize {
    let images = message.shapes().filter(|(name, _)| name.starts_with("frame") || *name == "image");
    images.map(|(_, shape)| shape.iter().take(2).product::<usize>()).sum()
}

fn parse<O: DeserializeOwned>(task: &str, options: Value) -> Result<O> {
    serde_json::from_value(options)
        .map_err(|error| Error::Data(format!("an option of {task} is not valid: {error}")))
}

/// Runs a job and sends its events; the last one is the result (true) or an error (false).
pub fn run(request: &[u8], machine: &Machine, listener: &mut dyn Listener) -> bool {
    let result = Job::read(request, machine).and_then(|job| {
        let work = AssertUnwindSafe(|| job.run(listener));
        // Elsewhere than in WebAssembly, where a panic ends the module, the next job can run.
        catch_unwind(work).unwrap_or_else(|_| Err(Error::Data(DEFECT.into())))
    });
    let (event, worked) = match result {
        Ok(result) => (result, true),
        Err(error) => (failure(&error.to_string()), false),
    };
    listener.event(event.to_bytes());
    worked
}

/// The event that ends a job that failed.
pub(crate) fn failure(message: &str) -> Draft {
    Draft::new(json!({"event": "error", "message": message}))
}
