//! The engine: a device on which sessions are opened.

use crate::device::{self, DeviceFacts, attribute, failed};
use crate::layout::Layout;
use crate::program::{Program, architecture};
use crate::recipe::Recipe;
use crate::rooms::REGIONS;
use crate::session::CudaSession;
use crate::sizes::{OpenPositions, Sizes, frames};
use crate::state::SHUTTLE;
use crate::world::DeviceCode;
use cudarc::driver::result::mem_get_info;
use cudarc::driver::{CudaContext, CudaStream, sys};
use lobcod::engine::{Engine, Problem, Session};
use lobcod::{Error, Local, Real, Result};
use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// A GPU of NVIDIA. Works in single precision; its answers are the same from run to run, bit for bit.
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
    /// Bytes on chip that a block may take.
    pub(crate) chip: usize,
    programs: Arc<Programs>,
}

/// The kernels of every recipe, loaded once, by whoever needs them first.
type Programs = Mutex<HashMap<Recipe, Arc<OnceLock<Result<Arc<Program>>>>>>;

impl CudaEngine {
    /// Opens the first device of this machine.
    pub fn new() -> Result<Self> {
        let context = device::open()?;
        let facts = DeviceFacts::of(&context)?;
        let architecture = architecture(facts.capability)?;
        let chip = attribute(&context, sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        // SAFETY: all work of an engine goes to one stream, in order; nothing needs events to wait for.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed)?;
        keep_memory(&context);
        let device = Device { context, stream, facts, architecture, chip, programs: Arc::default() };
        Ok(Self { device: Arc::new(device) })
    }

    /// An engine on the same device whose work waits for nobody else's: for threads that solve small problems at once.
    pub fn another(&self) -> Result<Self> {
        let Device { context, facts, architecture, chip, programs, .. } = &*self.device;
        let stream = context.new_stream().map_err(failed)?;
        let (context, programs) = (Arc::clone(context), Arc::clone(programs));
        let device = Device { context, stream, facts: facts.clone(), architecture: architecture.clone(), chip: *chip, programs };
        Ok(Self { device: Arc::new(device) })
    }

    /// What there is to say of the device.
    pub fn facts(&self) -> &DeviceFacts {
        &self.device.facts
    }
}

/// Where the memory of sessions comes from, and goes back to.
fn pool(context: &CudaContext) -> Option<sys::CUmemoryPool> {
    if !context.has_async_alloc() {
        return None;
    }
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device was opened; the pool is its own.
    let found = unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()) }.result();
    found.is_ok().then_some(pool)
}

/// Memory that a session gives back stays at hand for the next one. Where the driver does not want that, only time is lost.
fn keep_memory(context: &CudaContext) {
    let mut all = u64::MAX;
    let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    if let Some(pool) = pool(context) {
        // SAFETY: the attribute is one number of 64 bits.
        let _ = unsafe { sys::cuMemPoolSetAttribute(pool, threshold, std::ptr::from_mut(&mut all).cast()) }.result();
    }
}

/// Bytes that sessions gave back and the driver counts as taken.
fn kept_memory(context: &CudaContext) -> u64 {
    use sys::CUmemPool_attribute::{CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT};
    let Some(pool) = pool(context) else { return 0 };
    let [reserved, used] = [CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT].map(|attribute| {
        let mut bytes = 0u64;
        // SAFETY: both attributes are one number of 64 bits.
        let asked = unsafe { sys::cuMemPoolGetAttribute(pool, attribute, std::ptr::from_mut(&mut bytes).cast()) };
        if asked.result().is_ok() { bytes } else { 0 }
    });
    reserved.saturating_sub(used)
}

impl Device {
    /// The kernels of a recipe.
    pub(crate) fn program(&self, recipe: &Recipe) -> Result<Arc<Program>> {
        let mut programs = self.programs.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let program = Arc::clone(programs.entry(recipe.clone()).or_default());
        // Compiling takes a second or two; other threads may compile something else meanwhile.
        drop(programs);
        program.get_or_init(|| Program::load(&self.context, recipe, &self.architecture, self.chip).map(Arc::new)).clone()
    }
}

impl<T: Real> Engine<T> for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn threads(&self) -> usize {
        1
    }

    fn estimate_memory(&self, problem: &Problem<T>, density: f64) -> Result<u64> {
        let any: &dyn Any = problem;
        let problem = any.downcast_ref::<Problem<f32>>().ok_or_else(not_single)?;
        let sizes = Sizes::of(problem, &frames(problem, None)?);
        let (n, m) = (problem.dictionary.atom_len(), problem.dictionary.len());
        let layout = Layout::new(&sizes, n, m, self.device.chip);
        let fields = 2 + usize::from(problem.planes.iter().any(|p| p.weights.is_some()));
        let maps = 1 + usize::from(problem.planes.iter().any(|p| p.position_weights.is_some()));
        let capacity = CudaSession::first_capacity(&sizes).max((density * 1.5 * sizes.most_needles as f64) as usize);
        // Some tiles have more codes than most, and leave the room behind that they had first.
        let codes =
            size_of::<DeviceCode>() * (REGIONS * (capacity + capacity / 2) * sizes.tiles + SHUTTLE.min(capacity * sizes.tiles));
        let places = if problem.learning { (density * sizes.positions as f64) as usize * 24 + 4 * m * sizes.tiles } else { 0 };
        let tables = 4 * layout.scratch * sizes.tiles + 160 * sizes.tiles + 4 * (6 * m * n + m * m);
        let scaled = 4 * (sizes.plane_samples + sizes.plane_positions);
        Ok((4 * fields * sizes.samples + 4 * maps * sizes.positions + codes + places + tables + scaled) as u64)
    }

    /// Most of what is free, for blocks do not lie without gaps.
    fn own_memory(&self) -> Option<u64> {
        let context = &self.device.context;
        let free = context.bind_to_thread().and_then(|()| mem_get_info()).ok();
        free.map(|(free, _)| (free as u64 + kept_memory(context)) / 4 * 3)
    }

    fn open(&self, problem: Problem<T>) -> Result<Box<dyn Session<T>>> {
        self.open_session(problem, None)
    }

    fn open_part(&self, problem: Problem<T>, positions: &[Range<i64>; 3]) -> Result<Box<dyn Session<T>>> {
        self.open_session(problem, Some(positions))
    }
}

impl CudaEngine {
    fn open_session<T: Real>(&self, problem: Problem<T>, positions: OpenPositions) -> Result<Box<dyn Session<T>>> {
        let problem: Box<dyn Any> = Box::new(problem);
        let problem = *problem.downcast::<Problem<f32>>().map_err(|_| not_single())?;
        if problem.local == Local::Lars {
            return Err(Error::Unavailable("the CUDA engine has no LARS; use the coordinate solver or the cpu engine".into()));
        }
        let session: Box<dyn Session<f32>> = Box::new(CudaSession::open(self.device.clone(), problem, positions)?);
        let session: Box<dyn Any> = Box::new(session);
        Ok(*session.downcast::<Box<dyn Session<T>>>().expect("the problem was in single precision"))
    }
}

fn not_single() -> Error {
    Error::Unavailable("the CUDA engine works in single precision; use the precision f32 or the cpu engine".into())
}
