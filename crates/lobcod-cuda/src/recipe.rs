//! Compile-time parameters of kernels, and their compilation.

use crate::libraries::nvrtc_is_there;
use cudarc::nvrtc::{result, sys};
use lobcod::geometry::volume;
use lobcod::{Error, Result};
use std::ffi::{CString, c_char};

/// The kernel sources, in order of dependency.
const SOURCES: [(&str, &str); 11] = [
    ("types.cu", include_str!("../kernels/types.cu")),
    ("footprint.cu", include_str!("../kernels/footprint.cu")),
    ("needle.cu", include_str!("../kernels/needle.cu")),
    ("visit.cu", include_str!("../kernels/visit.cu")),
    ("support.cu", include_str!("../kernels/support.cu")),
    ("reach.cu", include_str!("../kernels/reach.cu")),
    ("tally.cu", include_str!("../kernels/tally.cu")),
    ("scaled.cu", include_str!("../kernels/scaled.cu")),
    ("atoms.cu", include_str!("../kernels/atoms.cu")),
    ("placed.cu", include_str!("../kernels/placed.cu")),
    ("atom_pass.cu", include_str!("../kernels/atom_pass.cu")),
];

/// Maximum shared memory of a block of the reach kernel: more than one must fit on a
/// multiprocessor.
const REACH_MEMORY: usize = 96 << 10;
/// Neighbouring positions per thread of it.
const AT_ONCE: usize = 8;

/// Compile-time parameters of kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Extent of an atom.
    pub atom: [usize; 3],
    /// Channels of an atom.
    pub channels: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Distance between rows, slices and channels of the footprint of a tile, and its samples.
    pub strides: [usize; 4],
    /// Whether all atoms have weight 1.
    pub unit_weights: bool,
    /// Whether the footprints of tiles fit into shared memory.
    pub shared: bool,
    /// Whether patches may have weights other than 1.
    pub clipped: bool,
    /// Whether the number of non-zeros of a needle is limited.
    pub capped: bool,
    /// Warps that share a tile in a discovery sweep.
    pub warps: usize,
}

impl Recipe {
    /// Length of an atom.
    fn samples(&self) -> usize {
        volume(self.atom) * self.channels
    }

    /// Number of atoms, padded to whole warps.
    pub(crate) fn stride(&self) -> usize {
        self.atoms.next_multiple_of(32)
    }

    /// Lanes that share a code.
    fn lanes(&self) -> usize {
        lanes_of_code(self.samples())
    }

    /// Length of all atoms in the layout of the lanes of a code, in fours.
    pub(crate) fn packed_rows(&self) -> usize {
        self.atoms * self.lanes() * self.samples().div_ceil(self.lanes()).div_ceil(4) * 4
    }

    /// Length of all atoms side by side, in fours.
    pub(crate) fn columns(&self) -> usize {
        self.samples().div_ceil(4) * (self.stride() + 1) * 4
    }

    /// Atoms per thread of the reach kernel in registers: the number with the smallest remainder.
    pub(crate) fn chunk(&self) -> usize {
        let padded =
            |chunk: &usize| (self.atoms.next_multiple_of(*chunk), std::cmp::Reverse(*chunk));
        (6..=10).min_by_key(padded).map_or(1, |chunk| chunk.min(self.atoms))
    }

    /// Taps of a padded row of an atom.
    fn row_taps(&self) -> usize {
        let width = self.atom[2];
        if width <= 12 { width } else { width.next_multiple_of(8) }
    }

    /// Length of the taps of all atoms in the layout of the reach kernel.
    pub(crate) fn taps(&self) -> usize {
        self.atoms.div_ceil(self.chunk()) * self.chunk_taps()
    }

    fn chunk_taps(&self) -> usize {
        self.channels
            * self.atom[0]
            * self.atom[1]
            * self.row_taps()
            * self.chunk().next_multiple_of(4)
    }

    /// Threads of a block of the reach kernel along each axis, and its shared memory.
    fn reach_block(&self) -> ([usize; 3], usize) {
        let all: &[[usize; 3]] = if self.atom[0] > 1 {
            &[[8, 8, 4], [4, 8, 4], [4, 4, 4], [2, 4, 4], [1, 4, 8], [1, 1, 32]]
        } else if self.atom[1] > 1 {
            &[[1, 32, 8], [1, 16, 8], [1, 8, 8], [1, 4, 8], [1, 1, 32]]
        } else {
            &[[1, 1, 256], [1, 1, 128], [1, 1, 64], [1, 1, 32]]
        };
        let memory = |threads: &[usize; 3]| {
            let field = (threads[0] + self.atom[0] - 1)
                * (threads[1] + self.atom[1] - 1)
                * (threads[2] * AT_ONCE + self.row_taps() - 1)
                * self.channels;
            4 * (field + self.chunk_taps())
        };
        let threads = all
            .iter()
            .find(|threads| memory(threads) <= REACH_MEMORY)
            .unwrap_or(&all[all.len() - 1]);
        (*threads, memory(threads))
    }

    /// Threads of a block of the reach kernel, and its shared memory.
    pub(crate) fn reach_threads(&self) -> (usize, usize) {
        let (threads, bytes) = self.reach_block();
        (volume(threads), bytes)
    }

    /// Positions of a block of the reach kernel along each axis.
    pub(crate) fn reach_step(&self) -> [usize; 3] {
        let ([depth, height, width], _) = self.reach_block();
        [depth, height, width * AT_ONCE]
    }

    fn options(&self, architecture: &str) -> Vec<String> {
        let flag = usize::from;
        let ([tz, ty, tx], _) = self.reach_block();
        let constants = [
            ("HZ", self.atom[0]),
            ("HY", self.atom[1]),
            ("HX", self.atom[2]),
            ("C", self.channels),
            ("M", self.atoms),
            ("ROW", self.strides[0]),
            ("SLICE", self.strides[1]),
            ("CHANNEL", self.strides[2]),
            ("FIELD", self.strides[3]),
            ("UNIT_WEIGHTS", flag(self.unit_weights)),
            ("SHARED", flag(self.shared)),
            ("CLIPPED", flag(self.clipped)),
            ("CAPPED", flag(self.capped)),
            ("LPC", self.lanes()),
            ("VISIT_WARPS", self.warps),
            ("CHUNK", self.chunk()),
            ("TZ", tz),
            ("TY", ty),
            ("TX", tx),
        ];
        let fixed = [format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
        fixed
            .into_iter()
            .chain(constants.iter().map(|(name, value)| format!("-D{name}={value}")))
            .collect()
    }

    /// Everything the machine code depends on except the compiler: the cache key.
    pub(crate) fn text(&self, architecture: &str) -> String {
        self.options(architecture).join(" ") + &source()
    }

    /// Machine code for an architecture such as `sm_90`.
    pub(crate) fn compile(&self, architecture: &str) -> Result<Vec<u8>> {
        let broken = |what: String| {
            Error::Device(format!(
                "the GPU kernels could not be compiled ({what}); use the cpu engine or --engine \
                 auto"
            ))
        };
        let source = CString::new(source()).expect("kernel sources contain no NUL");
        let options = self.options(architecture);
        let program =
            result::create_program(&source, None).map_err(|e| broken(format!("{e:?}")))?;
        // SAFETY: the program was just created, and is destroyed once, below.
        let compiled = unsafe { result::compile_program(program, &options) }.map_err(|error| {
            // SAFETY: as above.
            let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
            // SAFETY: the log ends in a zero.
            let log = String::from_utf8_lossy(
                &log.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect::<Vec<u8>>(),
            )
            .into_owned();
            let first = log.lines().find(|line| line.contains("error")).unwrap_or(&log).to_string();
            broken(format!("{error:?}: {first}"))
        });
        let code =
            compiled.and_then(|()| machine_code(program).map_err(|e| broken(format!("{e:?}"))));
        // SAFETY: it is no longer used.
        unsafe { result::destroy_program(program) }.map_err(|e| broken(format!("{e:?}")))?;
        code
    }
}

/// Lanes that share a code of this many samples: about eight each.
pub(crate) fn lanes_of_code(samples: usize) -> usize {
    samples.div_ceil(8).next_power_of_two().clamp(4, 32)
}

fn source() -> String {
    SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}")).collect()
}

fn machine_code(program: sys::nvrtcProgram) -> std::result::Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program was compiled for a real architecture, so it has machine code of this
    // size.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result()?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast::<c_char>()).result()?;
        Ok(code)
    }
}

/// Compiles the kernels of a recipe for an architecture such as `sm_90`; returns the size of the
/// machine code. Needs NVRTC but no device; `None` without NVRTC.
pub fn compile_without_device(recipe: &Recipe, architecture: &str) -> Option<Result<usize>> {
    nvrtc_is_there().then(|| recipe.compile(architecture).map(|code| code.len()))
}
