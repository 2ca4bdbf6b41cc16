//! Image tasks on convolutional sparse codes: inpainting, fusion, denoising and separation.
//!
//! All tasks follow the same pattern. Parameters are validated once, and the resulting task runs on
//! an engine of [`lobcod`] as often as needed:
//!
//! ```
//! use lobcod::engine::CpuEngine;
//! use lobcod::{Dictionary, Mask};
//! use lobcod_tasks::inpaint::InpaintParams;
//! use lobcod_tasks::{colour, synthetic};
//!
//! let image = colour::lightness(&synthetic::still_life(48)?, 255.0, 1)?;
//! let known: Vec<bool> = (0..48 * 48).map(|i| i % 3 != 1).collect();
//! let mask = Mask::from_known(image.extent(), &known)?;
//! let inpaint = InpaintParams::default().check()?;
//! let filled =
//!     inpaint.run(&CpuEngine::new(0)?, &image, &mask, &[Dictionary::natural()], &mut ())?;
//! assert_eq!(filled.image.extent(), image.extent());
//! # Ok::<(), lobcod::Error>(())
//! ```
//!
//! | module | task |
//! |---|---|
//! | [`inpaint`] | fill in missing samples |
//! | [`fuse`] | combine focus and exposure stacks |
//! | [`denoise`] | remove noise |
//! | [`separate`] | split an image into a smooth layer and texture |
//! | [`damage`] | find scratches, dust and printed dates |
//! | [`align`] | align the frames of a stack |
//! | [`colour`] | convert between colour spaces |
//! | [`metrics`] | score results: PSNR, SSIM, Q_AB/F |
//! | [`synthetic`] | images for examples and tests |

pub mod align;
pub mod colour;
mod components;
pub mod damage;
pub mod denoise;
pub mod fuse;
pub mod inpaint;
pub mod metrics;
mod morphology;
mod nonlocal;
mod opponent;
mod rectangle;
pub mod separate;
pub mod synthetic;

pub use rectangle::Rectangle;
