//! The extension module of the Python package `lobcod`.
//!
//! It is a thin layer that converts arrays and dictionaries of plain values. The public interface
//! (names, defaults, reports, plots) is written in Python, in `package/lobcod`. Long work runs on a
//! separate thread without holding the interpreter lock.

mod arrays;
mod bands;
mod denoise;
mod dictionaries;
mod errors;
mod fuse;
mod images;
mod inpaint;
mod learn;
mod options;
mod pursuit;
mod reports;
mod separate;
mod stream;
mod supervise;
mod table;

use pyo3::prelude::*;

#[pymodule]
mod _lobcod {
    #[pymodule_export]
    use crate::bands::encode_in_bands;
    #[pymodule_export]
    use crate::denoise::denoise;
    #[pymodule_export]
    use crate::dictionaries::{
        cosine_atoms, embedded_atoms, normalised_atoms, patch_atoms, random_atoms, read_atoms,
        write_atoms,
    };
    #[pymodule_export]
    use crate::fuse::fuse;
    #[pymodule_export]
    use crate::images::{base_layer, psnr, ssim, still_life};
    #[pymodule_export]
    use crate::inpaint::inpaint;
    #[pymodule_export]
    use crate::learn::learn;
    #[pymodule_export]
    use crate::options::{common_white, thread_count};
    #[pymodule_export]
    use crate::pursuit::{encode, maps, synthesise};
    #[pymodule_export]
    use crate::separate::separate;
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::table::{choices, defaults};

    /// Version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
