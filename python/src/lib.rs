//! The extension module beneath the Python package `lobcod`.
//!
//! It is thin: arrays in, arrays and dictionaries of plain values out. What users see (names, defaults, reports, plots) is
//! written in Python, in `package/lobcod`. Long work runs on a thread of its own while the interpreter stays free.

mod arrays;
mod denoise;
mod dictionaries;
mod errors;
mod fuse;
mod inpaint;
mod learn;
mod options;
mod pictures;
mod pursuit;
mod reports;
mod separate;
mod stream;
mod supervise;

use pyo3::prelude::*;

#[pymodule]
mod _lobcod {
    #[pymodule_export]
    use crate::denoise::denoise;
    #[pymodule_export]
    use crate::dictionaries::{
        cosine_atoms, embedded_atoms, normalised_atoms, patch_atoms, random_atoms, read_atoms, write_atoms,
    };
    #[pymodule_export]
    use crate::fuse::fuse;
    #[pymodule_export]
    use crate::inpaint::inpaint;
    #[pymodule_export]
    use crate::learn::learn;
    #[pymodule_export]
    use crate::pictures::{base_layer, psnr, ssim, still_life};
    #[pymodule_export]
    use crate::pursuit::{encode, maps, synthesise};
    #[pymodule_export]
    use crate::separate::separate;
    #[pymodule_export]
    use crate::stream::Stream;

    /// Version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
