//! Long work on a separate thread: other Python threads run, callbacks are called, and Ctrl-C
//! works.

use crate::errors::{Fault, Result};
use crate::reports::progress;
use lobcod::run::Clock;
use lobcod::run::Stop;
use lobcod::{Control, Observer, Progress};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Interval between checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);
/// Time limit for the work to end after Ctrl-C; afterwards it is detached and ends after its sweep.
const PATIENCE: Duration = Duration::from_millis(600);
/// The usual stack size of a main thread.
const STACK: usize = 8 << 20;

/// Messages of the worker thread.
enum Event<R> {
    Progress(Progress),
    Done(R),
}

/// The connection from the worker to its caller.
pub struct Watcher {
    stop: Arc<AtomicBool>,
    /// Calls the callback, if there is one, and returns its result.
    ask: Option<Box<dyn FnMut(Progress) -> Control + Send>>,
}

impl Watcher {
    /// Whether the work should stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) -> Control {
        let control = self.ask.as_mut().map_or(Control::Continue, |ask| ask(*progress));
        if self.stopped() { Control::Stop } else { control }
    }

    fn stop(&self) -> Stop {
        let stop = self.stop.clone();
        Stop::when(move || stop.load(Ordering::Relaxed))
    }
}

/// Runs `work` on a separate thread, without the interpreter lock. `callback` is called with every
/// progress, on the calling thread; if it returns `False`, the work stops and keeps its result so
/// far. An exception of the callback, and Ctrl-C, end the call.
pub fn supervise<R: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watcher) -> Result<R> + Send + 'static,
) -> Result<R> {
    let stop = Arc::new(AtomicBool::new(false));
    let (events, mut inbox) = channel::<Event<Result<R>>>();
    let (answer, answers) = channel::<Control>();
    let sender: Sender<_> = events.clone();
    let ask = callback.map(|_| {
        Box::new(move |progress| match sender.send(Event::Progress(progress)) {
            Ok(()) => answers.recv().unwrap_or(Control::Stop),
            Err(_) => Control::Stop,
        }) as Box<dyn FnMut(Progress) -> Control + Send>
    });
    let watcher = Watcher { stop: stop.clone(), ask };
    let worker = move || {
        let done = work(watcher);
        // The receiver may be gone.
        let _ = events.send(Event::Done(done));
    };
    let worker = thread::Builder::new()
        .name("lobcod".into())
        .stack_size(STACK)
        .spawn(worker)
        .map_err(PyErr::from)?;
    let mut ending: Option<(PyErr, Clock)> = None;
    loop {
        let inbox = &mut inbox;
        match py.detach(move || inbox.recv_timeout(POLL)) {
            Ok(Event::Done(done)) => return ending.map_or(done, |(error, _)| Err(Fault(error))),
            Ok(Event::Progress(progress)) => {
                let control = match callback.map(|callback| call(callback, &progress)).transpose() {
                    Ok(control) if ending.is_none() => control.unwrap_or(Control::Continue),
                    Ok(_) => Control::Stop,
                    Err(error) => {
                        ending.get_or_insert((error, Clock::start()));
                        Control::Stop
                    }
                };
                // If the work has ended meanwhile, its last event is in the channel.
                let _ = answer.send(control);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => {
                    return Err(Fault::value(
                        "the work ended without a result; this is a bug in lobcod",
                    ));
                }
            },
        }
        if ending.is_none() {
            ending = py.check_signals().err().map(|error| (error, Clock::start()));
        }
        if ending.is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        if ending.as_ref().is_some_and(|(_, since)| since.elapsed() > PATIENCE) {
            let (error, _) = ending.expect("just seen");
            return Err(Fault(error));
        }
    }
}

fn call(callback: &Bound<'_, PyAny>, now: &Progress) -> PyResult<Control> {
    let word = callback.call1((progress(callback.py(), now)?,))?;
    Ok(if word.extract::<bool>().is_ok_and(|go_on| !go_on) {
        Control::Stop
    } else {
        Control::Continue
    })
}
