//! lobcod studio: jobs as messages, and the page that sends them.
//!
//! A job is a [`message`]: a task, its options and its arrays. [`run`] executes it and sends events:
//! progress, previews, and at the end a result or an error. The same jobs run in a browser, as
//! WebAssembly in a worker, and on the engines of a machine, behind a local server.
//!
//! ```
//! use lobcod::run::Stop;
//! use lobcod_web::{Listener, Machine, message::{Draft, Message}};
//!
//! struct Last(Vec<u8>);
//! impl Listener for Last {
//!     fn event(&mut self, message: Vec<u8>) {
//!         self.0 = message;
//!     }
//!     fn stop(&self) -> Stop {
//!         Stop::default()
//!     }
//! }
//!
//! let request = Draft::new(serde_json::json!({"protocol": 1, "task": "noise"}))
//!     .with_u8("image", &[64, 64], &[100; 64 * 64])
//!     .to_bytes();
//! let mut last = Last(Vec::new());
//! assert!(lobcod_web::run(&request, &Machine::default(), &mut last));
//! assert_eq!(Message::read(&last.0)?.head["kind"], "none");
//! # Ok::<(), lobcod::Error>(())
//! ```

mod denoise;
mod encode;
mod events;
mod fuse;
mod inpaint;
mod job;
mod learn;
pub mod message;
#[cfg(not(target_family = "wasm"))]
pub mod page;
mod pixels;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod wasm;

pub use events::Listener;
pub use job::{Machine, PROTOCOL, run};
