//! Kernels loaded on a device.

use crate::cache;
use crate::device::failed;
use crate::recipe::Recipe;
use cudarc::driver::{CudaContext, CudaFunction, sys};
use cudarc::nvrtc::{Ptx, sys as nvrtc};
use lobcod::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

const KERNELS: [&str; 26] = [
    "visit",
    "support",
    "synthesise",
    "reset_residual",
    "find_reach",
    "tally_parts",
    "tally_tiles",
    "tally_planes",
    "scale_residual",
    "tally_scaled",
    "reach_of_tiles",
    "pack_rows",
    "pack_columns",
    "make_gram",
    "find_curvatures",
    "gather_codes",
    "move_codes",
    "reset_changes",
    "count_atoms",
    "scan_parts",
    "scan_sums",
    "scan_within",
    "place_codes",
    "inspect_atom",
    "move_atom",
    "gradient",
];
/// Kernels that use dynamic shared memory.
const WITH_MEMORY: [&str; 5] = ["visit", "support", "synthesise", "find_reach", "gradient"];

/// The kernels of one recipe.
pub(crate) struct Program {
    functions: HashMap<&'static str, CudaFunction>,
}

impl Program {
    /// Loads the kernels, compiled now or cached; blocks may use `memory` bytes of shared memory.
    pub(crate) fn load(
        context: &Arc<CudaContext>,
        recipe: &Recipe,
        architecture: &str,
        memory: usize,
    ) -> Result<Self> {
        let name = format!("{} {}", compiler(), recipe.text(architecture));
        let module =
            cache::load(&name).and_then(|code| context.load_module(Ptx::from_binary(code)).ok());
        let module = match module {
            Some(module) => module,
            None => {
                let code = recipe.compile(architecture)?;
                cache::store(&name, &code);
                context.load_module(Ptx::from_binary(code)).map_err(failed)?
            }
        };
        let mut functions = HashMap::new();
        for kernel in KERNELS {
            let function = module.load_function(kernel).map_err(failed)?;
            if WITH_MEMORY.contains(&kernel) {
                let own = function.shared_size_bytes().map_err(failed)? as usize;
                let most =
                    sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                function.set_attribute(most, memory.saturating_sub(own) as i32).map_err(failed)?;
            }
            functions.insert(kernel, function);
        }
        Ok(Self { functions })
    }

    pub(crate) fn kernel(&self, name: &str) -> &CudaFunction {
        &self.functions[name]
    }
}

/// Version of the compiler.
fn compiler() -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is loaded and writes two numbers.
    let known =
        unsafe { nvrtc::nvrtcVersion(&mut major, &mut minor) } == nvrtc::nvrtcResult::NVRTC_SUCCESS;
    if known { format!("nvrtc {major}.{minor}") } else { "nvrtc".into() }
}

/// `sm_90` for a device of capability 9.0.
pub(crate) fn architecture((major, minor): (i32, i32)) -> Result<String> {
    if major < 7 {
        return Err(Error::Unavailable(format!(
            "the CUDA device has compute capability {major}.{minor}, but 7.0 or later is needed; \
             use the cpu engine"
        )));
    }
    Ok(format!("sm_{major}{minor}"))
}
