//! Requests and their events.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod node;

use lobcod::engine::CpuEngine;
use lobcod::run::Stop;
use lobcod_simd::Level;
use lobcod_tasks::synthetic;
use lobcod_web::message::{Draft, Message};
use lobcod_web::{Listener, Machine};
use serde_json::{Value, json};

/// A request for a task, without arrays.
pub fn request(task: &str, options: Value) -> Draft {
    Draft::new(json!({"protocol": 1, "task": task, "options": options}))
}

/// All events of a job, and a stop after some of them.
#[derive(Default)]
pub struct Events {
    pub messages: Vec<Vec<u8>>,
    pub stop: Stop,
}

impl Listener for Events {
    fn event(&mut self, message: Vec<u8>) {
        self.messages.push(message);
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

impl Events {
    /// Runs a request natively on one thread, with plain vectors.
    pub fn of(request: &[u8]) -> Self {
        let mut events = Self::default();
        lobcod_web::run(request, &portable(), &mut events);
        events
    }

    /// Events of one kind.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Message<'a>> {
        let read = |message: &'a Vec<u8>| Message::read(message).unwrap();
        self.messages.iter().map(read).filter(move |message| message.head["event"] == name)
    }

    /// The result; panics if there is an error instead.
    pub fn result(&self) -> Message<'_> {
        let last = Message::read(self.messages.last().unwrap()).unwrap();
        assert_eq!(last.head["event"], "result", "{}", last.head);
        last
    }

    /// The sentence of the error.
    pub fn error(&self) -> String {
        let last = Message::read(self.messages.last().unwrap()).unwrap();
        assert_eq!(last.head["event"], "error", "{}", last.head);
        last.head["message"].as_str().unwrap().to_string()
    }
}

/// One thread with plain vectors.
pub fn portable() -> Machine {
    Machine::new(|_, _| Ok(Box::new(CpuEngine::new(1)?.with_level(Level::Portable))), None)
}

/// A synthetic colour image as RGBA.
pub fn still_life(side: usize) -> Vec<u8> {
    let image = synthetic::still_life(side).unwrap();
    let volume = side * side;
    let pixel =
        |i: usize| [0, 1, 2, 3].map(|c| image.data().get(c * volume + i).map_or(255, |x| *x as u8));
    let mut bytes: Vec<u8> = (0..volume).flat_map(pixel).collect();
    bytes.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
    bytes
}

/// The grey values of an RGBA image: its green channel.
pub fn grey(rgba: &[u8]) -> Vec<u8> {
    rgba.iter().skip(1).step_by(4).copied().collect()
}

/// A mask with lines of holes.
pub fn lines(side: usize) -> Vec<u8> {
    (0..side * side).map(|i| u8::from((i / side + i % side) % 16 < 3)).collect()
}
