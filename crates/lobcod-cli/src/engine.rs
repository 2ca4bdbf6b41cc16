//! The engine asked for.

use crate::args::RunArgs;
use crate::ranks;
use crate::values::{EngineChoice, Precision};
use anyhow::{Result, bail};
use lobcod::Real;
use lobcod::engine::{CpuEngine, Engine};
use lobcod_cuda::CudaEngine;
use std::sync::OnceLock;

/// Error unless this build and this machine have the engine asked for.
pub fn check(run: &RunArgs) -> Result<()> {
    match run.engine {
        EngineChoice::Cpu => Ok(()),
        EngineChoice::Cuda if matches!(run.precision, Precision::F64) => {
            bail!("the CUDA engine works in single precision; use --precision f32 or --engine cpu")
        }
        EngineChoice::Cuda => cuda().map(drop),
        EngineChoice::Mpi => ranks::check(),
    }
}

/// The engine asked for.
pub fn open<T: Real>(run: &RunArgs) -> Result<Box<dyn Engine<T>>> {
    check(run)?;
    Ok(match run.engine {
        EngineChoice::Cuda => Box::new(cuda()?),
        EngineChoice::Mpi => ranks::engine(run.threads)?,
        EngineChoice::Cpu => Box::new(CpuEngine::new(run.threads)?),
    })
}

/// The device, opened once.
fn cuda() -> Result<CudaEngine> {
    static ENGINE: OnceLock<lobcod::Result<CudaEngine>> = OnceLock::new();
    Ok(ENGINE.get_or_init(CudaEngine::new).clone()?)
}
