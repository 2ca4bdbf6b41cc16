//! What kernels are compiled for, and the compilation.

use crate::libraries::nvrtc_is_there;
use cudarc::nvrtc::{result, sys};
use lobcod::{Error, Result};
use std::ffi::{CString, c_char};

/// The kernels, in the order they build on each other.
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

/// Bytes of shared memory a block of the reach kernel may take: more than one of them shall fit on a multiprocessor.
const REACH_MEMORY: usize = 96 << 10;
/// Neighbouring positions a thread of it has.
const AT_ONCE: usize = 8;

/// What kernels are compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Box of an atom.
    pub atom: [usize; 3],
    /// Channels of an atom.
    pub channels: usize,
    /// Atoms.
    pub atoms: usize,
    /// Distance between rows, slices and channels of the footprint of a tile, and its samples.
    pub strides: [usize; 4],
    /// Have all atoms weight 1?
    pub unit_weights: bool,
    /// Do the footprints of tiles fit on chip?
    pub shared: bool,
    /// May patches have weights other than 1?
    pub cut: bool,
    /// Are the non-zeros of a needle limited?
    pub capped: bool,
    /// Warps that share a tile in a discovery sweep.
    pub warps: usize,
}

impl Recipe {
    /// Numbers in an atom.
    pub(crate) fn samples(&self) -> usize {
        self.atom.iter().product::<usize>() * self.channels
    }

    /// Atoms with the padding of whole warps.
    pub(crate) fn stride(&self) -> usize {
        self.atoms.next_multiple_of(32)
    }

    /// Lanes that share a code.
    pub(crate) fn lanes(&self) -> usize {
        lanes_of_code(self.samples())
    }

    /// Samples of a lane, in fours.
    pub(crate) fn lane_fours(&self) -> usize {
        self.samples().div_ceil(self.lanes()).div_ceil(4)
    }

    /// Atoms a thread of the reach kernel has in its registers: the number that leaves the fewest over.
    pub(crate) fn chunk(&self) -> usize {
        let padded = |chunk: &usize| (self.atoms.next_multiple_of(*chunk), std::cmp::Reverse(*chunk));
        (6..=10).min_by_key(padded).map_or(1, |chunk| chunk.min(self.atoms))
    }

    /// Taps of a row of an atom with padding.
    fn row_taps(&self) -> usize {
        let width = self.atom[2];
        if width <= 12 { width } else { width.next_multiple_of(8) }
    }

    /// Numbers of the taps of all atoms as the reach kernel reads them.
    pub(crate) fn taps(&self) -> usize {
        self.atoms.div_ceil(self.chunk()) * self.chunk_taps()
    }

    fn chunk_taps(&self) -> usize {
        self.channels * self.atom[0] * self.atom[1] * self.row_taps() * self.chunk().next_multiple_of(4)
    }

    /// Threads of the reach kernel along each axis, and the shared memory of a block.
    pub(crate) fn region(&self) -> ([usize; 3], usize) {
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
        let threads = all.iter().find(|threads| memory(threads) <= REACH_MEMORY).unwrap_or(&all[all.len() - 1]);
        (*threads, memory(threads))
    }

    /// Positions of a region along each axis.
    pub(crate) fn region_step(&self) -> [usize; 3] {
        let ([depth, height, width], _) = self.region();
        [depth, height, width * AT_ONCE]
    }

    fn options(&self, architecture: &str) -> Vec<String> {
        let flag = usize::from;
        let ([tz, ty, tx], _) = self.region();
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
            ("CUT", flag(self.cut)),
            ("CAPPED", flag(self.capped)),
            ("LPC", self.lanes()),
            ("VISIT_WARPS", self.warps),
            ("CHUNK", self.chunk()),
            ("TZ", tz),
            ("TY", ty),
            ("TX", tx),
        ];
        let fixed = [format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
        fixed.into_iter().chain(constants.iter().map(|(name, value)| format!("-D{name}={value}"))).collect()
    }

    /// All that the machine code depends on but the compiler: the name it is cached by.
    pub(crate) fn text(&self, architecture: &str) -> String {
        self.options(architecture).join(" ") + &source()
    }

    /// Machine code for an architecture such as `sm_90`.
    pub(crate) fn compile(&self, architecture: &str) -> Result<Vec<u8>> {
        let broken =
            |what: &str| Error::Unavailable(format!("the GPU kernels could not be compiled ({what}); use the cpu engine"));
        let source = CString::new(source()).expect("kernels without zeros");
        let options = self.options(architecture);
        let program = result::create_program(&source, None).map_err(|e| broken(&format!("{e:?}")))?;
        // SAFETY: the program was just created, and is destroyed once, below.
        let compiled = unsafe { result::compile_program(program, &options) }.map_err(|error| {
            // SAFETY: as above.
            let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
            // SAFETY: the log ends in a zero.
            let log =
                String::from_utf8_lossy(&log.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect::<Vec<u8>>()).into_owned();
            let first = log.lines().find(|line| line.contains("error")).unwrap_or(&log).to_string();
            broken(&format!("{error:?}: {first}"))
        });
        let code = compiled.and_then(|()| machine_code(program).map_err(|e| broken(&format!("{e:?}"))));
        // SAFETY: nothing uses it any more.
        unsafe { result::destroy_program(program) }.map_err(|e| broken(&format!("{e:?}")))?;
        code
    }
}

/// Lanes that share a code of so many samples: about eight each.
pub(crate) fn lanes_of_code(samples: usize) -> usize {
    samples.div_ceil(8).next_power_of_two().clamp(4, 32)
}

fn source() -> String {
    SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}")).collect()
}

fn machine_code(program: sys::nvrtcProgram) -> std::result::Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program was compiled for a real architecture, so it has machine code of this size.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result()?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast::<c_char>()).result()?;
        Ok(code)
    }
}

/// Compiles the kernels of a recipe for an architecture such as `sm_90`: bytes of machine code. Needs NVRTC but no device; `None`
/// where there is no NVRTC.
pub fn compile_without_device(recipe: &Recipe, architecture: &str) -> Option<Result<usize>> {
    nvrtc_is_there().then(|| recipe.compile(architecture).map(|code| code.len()))
}
