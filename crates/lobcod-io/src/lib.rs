//! File formats of lobcod: images, masks, maps, dictionaries, codes and checkpoints.
//!
//! Images are read from png, jpeg, tiff, npy, npz, wav and, with the feature `zarr`, OME-Zarr;
//! dictionaries from npy and npz; codes are npz files that numpy reads. Formats are recognized by
//! content when reading and by file extension when writing. Every file is written atomically, and
//! every error is one sentence that names the file and suggests a remedy.
//!
//! ```
//! use lobcod_io::{ReadOptions, WriteOptions, read_image, write_image};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("grey.png");
//! let signal = lobcod::Signal::<f32>::from_planar(
//!     lobcod::Extent::new(&[2, 2])?,
//!     1,
//!     vec![0.0, 50.0, 100.0, 300.0],
//! )?;
//! write_image(&path, &signal, &WriteOptions::default())?;
//! let back = read_image::<f32>(&path, &ReadOptions::default())?;
//! assert_eq!(back.signal.data(), [0.0, 50.0, 100.0, 255.0]);
//! # Ok::<(), lobcod_io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod alpha;
mod array;
mod atomic;
mod axes;
mod bitmap;
mod checkpoint;
mod codes;
mod codes_stream;
mod codes_together;
mod depth;
mod dictionary;
mod error;
mod exif;
mod fields;
mod format;
mod free_memory;
mod header;
mod image_file;
mod inversion;
mod kind;
mod map;
mod mask;
mod metadata;
mod metadata_npz;
pub mod npy;
pub mod npz;
mod orientation;
mod raster;
mod rows;
mod source;
mod store;
mod tiff;
mod time;
mod wav;
mod white;
mod write;
mod xmp;
mod zarr;

pub use alpha::known_by_alpha;
pub use array::{Array, DataType, Element};
pub use atomic::{check_writable, write_atomically};
pub use axes::Axes;
pub use bitmap::encode_png;
pub use checkpoint::{
    Keeper, Kept, read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint,
};
pub use codes::{CodesFile, is_codes, read_codes, write_codes, write_codes_of};
pub use codes_stream::{BaseRows, CodesFacts, CodesList, stream_codes};
pub use codes_together::write_codes_together;
pub use depth::Depth;
pub use dictionary::{
    MetaValue, dictionary_penalty, encode_dictionary, read_dictionary, write_dictionary,
};
pub use error::{Access, Error, Result};
pub use free_memory::free_memory;
pub use header::read_shape;
pub use image_file::{Image, ReadOptions, read_image};
pub use kind::FileKind;
pub use map::{read_coefficient_weights, read_map, read_vector};
pub use mask::{MaskFile, MaskRule, Polarity, read_mask, read_mask_file};
pub use metadata::{Dialect, Grid, Metadata, PageOrder};
pub use rows::ImageRows;
pub use source::DEFAULT_MAX_BYTES;
pub use store::CodesOnDisk;
pub use time::{count_time_points, split_time_point, time_point_of};
pub use white::common_white;
pub use write::{WriteOptions, write_image};
pub use zarr::is_zarr;
