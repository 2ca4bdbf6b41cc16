//! The engine: a device on which sessions are opened.

use crate::code_store::LISTS;
use crate::device::{self, DeviceFacts, attribute, failed};
use crate::kernel_args::DeviceCode;
use crate::layout::Layout;
use crate::program::{Program, architecture};
use crate::recipe::Recipe;
use crate::session::CudaSession;
use crate::sizes::{Sizes, tilings};
use crate::state::STAGING;
use cudarc::driver::result::mem_get_info;
use cudarc::driver::{CudaContext, CudaStream, sys};
use lobcod::engine::{Engine, Problem, Session};
use lobcod::geometry::{InSignal, Region};
use lobcod::pursuit::Local;
use lobcod::{Error, Real, Result, parallel};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An NVIDIA GPU. Works in single precision; its answers are bit-identical from run to run.
#[derive(Clone)]
pub struct CudaEngine {
    pub(crate) device: Arc<Device>,
}

/// The device, and the kernels loaded on it so far.
pub(crate) struct Device {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) facts: DeviceFacts,
    architecture: String,
    /// Maximum shared memory of a block in bytes.
    pub(crate) shared_memory: usize,
    programs: Arc<Mutex<Programs>>,
}

/// The kernels of every recipe, loaded on first use.
type Programs = HashMap<Recipe, Arc<Mutex<Option<Arc<Program>>>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CudaEngine {
    /// Opens the first device of this machine.
    pub fn new() -> Result<Self> {
        let context = device::open()?;
        let facts = DeviceFacts::of(&context)?;
        let architecture = architecture(facts.capability)?;
        let shared_memory = attribute(
            &context,
            sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?;
        // SAFETY: all work of an engine goes to one stream, in order, so events are not needed.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed)?;
        keep_memory(&context);
        let device = Device {
            context,
            stream,
            facts,
            architecture,
            shared_memory,
            programs: Arc::default(),
        };
        Ok(Self { device: Arc::new(device) })
    }

    /// An engine on the same device with a separate stream, for threads that solve small problems
    /// concurrently.
    pub fn another(&self) -> Result<Self> {
        let Device { context, facts, architecture, shared_memory, programs, .. } = &*self.device;
        let stream = context.new_stream().map_err(failed)?;
        let (context, programs) = (Arc::clone(context), Arc::clone(programs));
        let device = Device {
            context,
            stream,
            facts: facts.clone(),
            architecture: architecture.clone(),
            shared_memory: *shared_memory,
            programs,
        };
        Ok(Self { device: Arc::new(device) })
    }

    /// Properties of the device.
    pub fn facts(&self) -> &DeviceFacts {
        &self.device.facts
    }
}

/// The memory pool of sessions.
fn pool(context: &CudaContext) -> Option<sys::CUmemoryPool> {
    if !context.has_async_alloc() {
        return None;
    }
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device was opened; the pool is its own.
    let found = unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()) }.result();
    found.is_ok().then_some(pool)
}

/// Keeps memory released by a session for the next one. Errors are ignored, since they only cost
/// time.
fn keep_memory(context: &CudaContext) {
    let mut all = u64::MAX;
    let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    if let Some(pool) = pool(context) {
        // SAFETY: the attribute is one 64-bit number.
        let _ = unsafe {
            sys::cuMemPoolSetAttribute(pool, threshold, std::ptr::from_mut(&mut all).cast())
        }
        .result();
    }
}

/// Bytes released by sessions that the driver counts as used.
fn kept_memory(context: &CudaContext) -> u64 {
    use sys::CUmemPool_attribute::{
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
    };
    let Some(pool) = pool(context) else { return 0 };
    let [reserved, used] = [CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT]
        .map(|attribute| {
            let mut bytes = 0u64;
            // SAFETY: both attributes are 64-bit numbers.
            let read = unsafe {
                sys::cuMemPoolGetAttribute(pool, attribute, std::ptr::from_mut(&mut bytes).cast())
            };
            if read.result().is_ok() { bytes } else { 0 }
        });
    reserved.saturating_sub(used)
}

impl Device {
    /// The kernels of a recipe.
    pub(crate) fn program(&self, recipe: &Recipe) -> Result<Arc<Program>> {
        // Compiling takes a second or two; other threads may compile other kernels meanwhile.
        let place = Arc::clone(locked(&self.programs).entry(recipe.clone()).or_default());
        let mut program = locked(&place);
        if let Some(program) = &*program {
            return Ok(Arc::clone(program));
        }
        let loaded =
            Arc::new(Program::load(&self.context, recipe, &self.architecture, self.shared_memory)?);
        Ok(Arc::clone(program.insert(loaded)))
    }
}

impl<T: Real> Engine<T> for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn threads(&self) -> usize {
        parallel::count(0)
    }

    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let any: &dyn Any = problem;
        let problem = any.downcast_ref::<Problem<f32>>().ok_or_else(not_single)?;
        let sizes = Sizes::of(problem, &tilings(problem, None)?);
        let (n, m) = (problem.dictionary.atom_len(), problem.dictionary.len());
        let layout = Layout::new(&sizes, n, m, self.device.shared_memory);
        let fields = 2 + usize::from(problem.planes.iter().any(|p| p.weights.is_some()));
        let maps = 1 + usize::from(problem.planes.iter().any(|p| p.position_weights.is_some()));
        let capacity = CudaSession::first_capacity(&sizes)
            .max((density * 1.5 * sizes.most_needles as f64) as usize);
        // Some tiles have more codes than most, and leave their initial memory unused.
        let staging = STAGING.min(capacity * sizes.tiles).max(capacity);
        let codes =
            size_of::<DeviceCode>() * (LISTS * (capacity + capacity / 2) * sizes.tiles + staging);
        let places = if problem.learning {
            (density * sizes.positions as f64) as usize * 24 + 4 * m * sizes.tiles
        } else {
            0
        };
        let neighbours = 3usize.pow(problem.dictionary.extent().rank() as u32) - 1;
        let tables =
            (4 * layout.scratch + 128 + 4 * neighbours) * sizes.tiles + 4 * (6 * m * n + m * m);
        let scaled = 4 * (sizes.plane_samples + sizes.plane_positions);
        Ok((4 * fields * sizes.samples
            + 4 * maps * sizes.positions
            + codes
            + places
            + tables
            + scaled) as u64)
    }

    /// Most of the free memory, to allow for fragmentation.
    fn own_memory(&self) -> Option<u64> {
        let context = &self.device.context;
        let free = context.bind_to_thread().and_then(|()| mem_get_info()).ok();
        free.map(|(free, _)| (free as u64 + kept_memory(context)) / 4 * 3)
    }

    fn open(
        &self,
        problem: Problem<T>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Box<dyn Session<T>>> {
        let problem: Box<dyn Any> = Box::new(problem);
        let problem = *problem.downcast::<Problem<f32>>().map_err(|_| not_single())?;
        if problem.local == Local::Lars {
            return Err(Error::Unavailable(
                "the CUDA engine does not support LARS; use the coordinate solver or the cpu \
                 engine"
                    .into(),
            ));
        }
        if let Some(model) = problem.special_model() {
            return Err(Error::Unavailable(format!(
                "the CUDA engine does not support {model}; use the cpu engine"
            )));
        }
        let session: Box<dyn Session<f32>> =
            Box::new(CudaSession::open(self.device.clone(), problem, positions)?);
        let session: Box<dyn Any> = Box::new(session);
        Ok(*session.downcast::<Box<dyn Session<T>>>().expect("the problem is in single precision"))
    }
}

fn not_single() -> Error {
    Error::Unavailable(
        "the CUDA engine works in single precision; use the precision f32 or the cpu engine".into(),
    )
}
