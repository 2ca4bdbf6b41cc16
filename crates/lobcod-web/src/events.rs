//! Events of a job: progress, previews, and the observer that sends them.

use crate::learn::shape_of_atom;
use crate::message::Draft;
use crate::pixels::with_image;
use lobcod::run::{Clock, Stop};
use lobcod::{Control, Dictionary, Observer, Progress, Result, Signal};
use serde_json::json;
use std::time::Duration;

/// Shortest time between two previews.
const PREVIEWS: Duration = Duration::from_millis(90);
/// Large previews are rarer: they take at most one part in this many of the time.
const SHARE: u32 = 10;
/// Shortest time between two events of progress.
const PROGRESS: Duration = Duration::from_millis(60);

/// Where the events of a job go, and what stops it.
pub trait Listener {
    /// Receives the bytes of an event.
    fn event(&mut self, message: Vec<u8>);

    /// A condition that stops the job.
    fn stop(&self) -> Stop;
}

/// At most one event in a period.
struct Throttle {
    period: Duration,
    /// Since the last event.
    clock: Option<Clock>,
}

impl Throttle {
    fn new(period: Duration) -> Self {
        Self { period, clock: None }
    }

    /// Whether it is time for the next event, which then counts as sent.
    fn is_due(&mut self) -> bool {
        let due = self.clock.is_none_or(|clock| clock.elapsed() >= self.period);
        if due {
            self.clock = Some(Clock::start());
        }
        due
    }

    /// Waits longer for the next event, by the time that this one took.
    fn sent(&mut self) {
        let took = self.clock.map_or(Duration::ZERO, |clock| clock.elapsed());
        self.period = PREVIEWS.max(SHARE * took);
    }
}

/// Sends the progress of a run and previews of its result.
pub struct Watcher<'a> {
    listener: &'a mut dyn Listener,
    progress: Throttle,
    previews: Throttle,
    last: Progress,
}

impl<'a> Watcher<'a> {
    pub fn new(listener: &'a mut dyn Listener) -> Self {
        Self {
            listener,
            progress: Throttle::new(PROGRESS),
            previews: Throttle::new(PREVIEWS),
            last: Progress::default(),
        }
    }
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.last = *progress;
        if self.progress.is_due() {
            let event = Draft::new(json!({
                "event": "progress",
                "fraction": progress.fraction,
                "seconds": progress.seconds,
                "objective": finite(progress.objective),
                "gap": progress.relative_gap.and_then(finite),
                "nonzeros": progress.nonzeros,
                "pass": progress.pass,
            }));
            self.listener.event(event.to_bytes());
        }
        Control::Continue
    }

    fn stop(&self) -> Stop {
        self.listener.stop()
    }

    fn atoms(&mut self, take: &mut dyn FnMut() -> Dictionary<f32>) {
        if self.previews.is_due() {
            let atoms = take();
            let mut shape = vec![atoms.len()];
            shape.extend(shape_of_atom(&atoms));
            let event = Draft::new(json!({
                "event": "preview",
                "objective": finite(self.last.objective),
                "pass": self.last.pass,
            }));
            self.listener.event(event.with_f32("atoms", &shape, atoms.data()).to_bytes());
            self.previews.sent();
        }
    }

    fn preview(&mut self, take: &mut dyn FnMut() -> Result<Signal<f32>>) {
        // An error ends the run, which reports it.
        if self.previews.is_due()
            && let Ok(image) = take()
        {
            let event = with_image(Draft::new(json!({"event": "preview"})), &image);
            self.listener.event(event.to_bytes());
            self.previews.sent();
        }
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
