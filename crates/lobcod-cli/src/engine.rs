//! Selection of the compute engine.

use crate::args::RunArgs;
use crate::output::{note, warn};
use crate::ranks;
use crate::values::{EngineChoice, Precision};
use anyhow::{Result, bail};
use lobcod::engine::{CpuEngine, Engine, FallbackEngine, words_of_fallback};
use lobcod::{Error, Extent, Real};
use lobcod_cuda::CudaEngine;
use std::sync::OnceLock;
use std::time::Duration;

/// Resolves `--engine auto` to a GPU or the CPU, and prints the choice.
pub fn choose(run: &mut RunArgs, quiet: bool) {
    if run.engine != EngineChoice::Auto {
        return;
    }
    let words = match usable_device(run) {
        Ok(device) => format!("--engine auto: using the GPU ({})", device.facts().name),
        Err(why) => {
            run.engine = EngineChoice::Cpu;
            format!("--engine auto: using the CPU, because {why}")
        }
    };
    if !quiet {
        note(&words);
    }
}

/// Error unless this build and this machine support the engine.
pub fn check(run: &RunArgs) -> Result<()> {
    match run.engine {
        EngineChoice::Cpu => Ok(()),
        EngineChoice::Cuda if matches!(run.precision, Precision::F64) => {
            bail!("the CUDA engine uses single precision; use --precision f32 or --engine cpu")
        }
        EngineChoice::Cuda | EngineChoice::Auto => cuda().map(drop),
        EngineChoice::Mpi => ranks::check(),
    }
}

/// Opens the engine for signals of these sizes and numbers of channels; the CPU uses fewer threads
/// for small ones.
pub fn open<T: Real>(run: &RunArgs, shapes: &[(Extent, usize)]) -> Result<Box<dyn Engine<T>>> {
    check(run)?;
    let samples = shapes.iter().map(|(extent, channels)| extent.volume() * channels).sum();
    let cpu = || CpuEngine::for_samples(run.threads.count, samples).map(Box::new);
    Ok(match run.engine {
        EngineChoice::Cuda => Box::new(cuda()?),
        EngineChoice::Mpi => ranks::engine(run.threads.count)?,
        EngineChoice::Cpu => cpu()?,
        EngineChoice::Auto => {
            Box::new(FallbackEngine::new(Box::new(cuda()?), cpu()?, continue_on_cpu))
        }
    })
}

/// Opens the GPU if there is one, otherwise the CPU.
pub fn open_automatically(threads: usize, samples: usize) -> lobcod::Result<Box<dyn Engine<f32>>> {
    let cpu = Box::new(CpuEngine::for_samples(threads, samples)?);
    Ok(match cuda() {
        Ok(device) => Box::new(FallbackEngine::new(Box::new(device), cpu, continue_on_cpu)),
        Err(_) => cpu,
    })
}

/// The CPU engine for signals of any size, used for estimates.
pub fn cpu(run: &RunArgs) -> lobcod::Result<CpuEngine> {
    CpuEngine::new(run.threads.count)
}

/// The GPU, or why it cannot be used.
fn usable_device(run: &RunArgs) -> Result<CudaEngine> {
    if matches!(run.precision, Precision::F64) {
        bail!("the GPU engine uses single precision and --precision f64 was given");
    }
    cuda()
}

fn continue_on_cpu(fault: &Error, lost: Duration) {
    warn(&format!("{fault}; {}", words_of_fallback(lost)));
}

/// The GPU, opened once.
fn cuda() -> Result<CudaEngine> {
    static ENGINE: OnceLock<lobcod::Result<CudaEngine>> = OnceLock::new();
    Ok(ENGINE.get_or_init(CudaEngine::new).clone()?)
}
