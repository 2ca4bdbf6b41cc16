//! Jobs: each runs on a thread of its own and streams its events.

use super::routes::Studio;
use crate::interrupt;
use hyper::body::{Body, Bytes, Frame};
use lobcod::run::Stop;
use lobcod_web::{Listener, run};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait for a slow browser before the job waits too.
const WAITING: usize = 4;

/// The events of a job; when the browser no longer reads them, the job stops.
pub struct Events {
    receiver: Receiver<Bytes>,
    gone: Arc<AtomicBool>,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// Starts a job.
pub fn start(studio: Arc<Studio>, request: Bytes) -> io::Result<Events> {
    let (sender, receiver) = channel(WAITING);
    let gone = Arc::new(AtomicBool::new(false));
    let mut browser = Browser { sender, gone: Arc::clone(&gone) };
    std::thread::Builder::new().name("job".into()).spawn(move || {
        run(&request, &studio.machine, &mut browser);
    })?;
    Ok(Events { receiver, gone })
}

/// The browser at the other end.
struct Browser {
    sender: Sender<Bytes>,
    gone: Arc<AtomicBool>,
}

impl Listener for Browser {
    fn event(&mut self, message: Vec<u8>) {
        let mut frame = (message.len() as u32).to_le_bytes().to_vec();
        frame.extend(message);
        // Nobody listens any more: the job stops soon.
        let _ = self.sender.blocking_send(frame.into());
    }

    fn stop(&self) -> Stop {
        let gone = Arc::clone(&self.gone);
        Stop::when(move || gone.load(Ordering::Relaxed) || interrupt::requested())
    }
}
