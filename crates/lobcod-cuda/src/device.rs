//! The device: its properties and its errors.

use crate::libraries::{driver_is_there, nvrtc_is_there};
use cudarc::driver::{CudaContext, DriverError, sys};
use lobcod::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// Properties of a device, printed by `lobcod doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Name of the card.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Size of its memory in bytes.
    pub memory: u64,
    /// Number of multiprocessors.
    pub multiprocessors: usize,
    /// CUDA version supported by the driver, major and minor.
    pub driver: (i32, i32),
}

impl DeviceFacts {
    /// Properties of the first device, or an error that says what is missing and how to fix it.
    pub fn find() -> Result<Self> {
        open().and_then(|context| Self::of(&context))
    }

    pub(crate) fn of(context: &CudaContext) -> Result<Self> {
        let mut version = 0;
        // SAFETY: the driver is loaded and writes one number.
        unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed)?;
        Ok(Self {
            name: context.name().map_err(failed)?,
            capability: context.compute_capability().map_err(failed)?,
            memory: context.total_mem().map_err(failed)? as u64,
            multiprocessors: attribute(
                context,
                sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            )?,
            driver: (version / 1000, version % 1000 / 10),
        })
    }
}

impl fmt::Display for DeviceFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, capability: (major, minor), memory, multiprocessors, driver } = self;
        let memory = lobcod::memory::words(*memory);
        write!(
            f,
            "{name}, {memory}, {multiprocessors} multiprocessors, sm_{major}{minor}, CUDA {}.{}",
            driver.0, driver.1
        )
    }
}

/// Opens the first device.
pub(crate) fn open() -> Result<Arc<CudaContext>> {
    const CPU: &str = "or use the cpu engine";
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        return Err(Error::Unavailable(format!(
            "this static program cannot load CUDA; use the one for glibc, {CPU}"
        )));
    }
    if !driver_is_there() {
        return Err(Error::Unavailable(format!(
            "the CUDA engine needs an NVIDIA driver, which was not found; install one, {CPU}"
        )));
    }
    if !nvrtc_is_there() {
        return Err(Error::Unavailable(format!(
            "the CUDA engine needs NVRTC, NVIDIA's run-time compiler, which was not found; \
             install CUDA, or `pip install nvidia-cuda-nvrtc` and activate its environment, {CPU}"
        )));
    }
    if !CudaContext::device_count().is_ok_and(|count| count > 0) {
        return Err(Error::Unavailable(format!(
            "the NVIDIA driver finds no device; check `nvidia-smi`, {CPU}"
        )));
    }
    CudaContext::new(0).map_err(|error| {
        Error::Unavailable(format!(
            "the CUDA device could not be opened ({error}); check `nvidia-smi`, {CPU}"
        ))
    })
}

pub(crate) fn attribute(context: &CudaContext, which: sys::CUdevice_attribute) -> Result<usize> {
    context.attribute(which).map(|value| value as usize).map_err(failed)
}

/// Converts a driver error to a one-sentence message.
pub(crate) fn failed(error: DriverError) -> Error {
    const CURE: &str = "or use the cpu engine or --engine auto";
    Error::Device(if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        format!(
            "the CUDA device has too little free memory for this problem; use a smaller signal, \
             {CURE}"
        )
    } else {
        format!("the CUDA device failed ({error}); check `nvidia-smi`, {CURE}")
    })
}
