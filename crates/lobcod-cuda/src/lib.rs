//! lobcod on NVIDIA GPUs.
//!
//! The driver and NVRTC, NVIDIA's run-time compiler, are loaded when an engine is created, so this
//! crate builds and links on machines without either; the error of [`CudaEngine::new`] states what
//! is missing. Kernels (`kernels/*.cu`) are compiled for the device and the shape of the atoms, and
//! cached.
//!
//! ```no_run
//! use lobcod::{Dictionary, Extent, Penalty, PursuitParams, Signal};
//! let engine = lobcod_cuda::CudaEngine::new()?;
//! let image = Signal::from_planar(
//!     Extent::new(&[64, 64])?,
//!     1,
//!     (0..4096).map(|i| (i as f32 * 0.1).sin()).collect(),
//! )?;
//! let dictionary = Dictionary::dct(Extent::new(&[8, 8])?, 1, 64)?;
//! let pursuit = PursuitParams::new(Penalty::Relative(0.1)).check()?;
//! let answer = pursuit.run(&engine, &[image.into()], &dictionary, &mut ())?;
//! println!("{}", answer.report.total.objective);
//! # Ok::<(), lobcod::Error>(())
//! ```

mod buffers;
mod cache;
mod code_store;
mod device;
mod engine;
mod kernel_args;
mod launches;
mod layout;
mod learning;
mod libraries;
mod opening;
mod program;
mod recipe;
mod scaled;
mod schedule;
mod session;
mod sizes;
mod state;
mod transfer;

pub use device::DeviceFacts;
pub use engine::CudaEngine;
pub use recipe::{Recipe, compile_without_device};
