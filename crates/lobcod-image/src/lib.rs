//! Files of lobcod: pictures, masks, maps, dictionaries, codes and checkpoints.
//!
//! Pictures come from png, jpeg, tiff, npy, npz and wav; dictionaries from npy and npz; codes are npz files that numpy reads.
//! A file is told by its content when read and by its name when written. Every file is written whole or not at all, and every
//! error is one sentence that names the file and the cure.
//!
//! ```
//! use lobcod_image::{ReadOptions, WriteOptions, read_picture, write_picture};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("grey.png");
//! let signal = lobcod::Signal::<f32>::from_planar(lobcod::Extent::new(&[2, 2])?, 1, vec![0.0, 50.0, 100.0, 300.0])?;
//! write_picture(&path, &signal, &WriteOptions::default())?;
//! let back = read_picture::<f32>(&path, &ReadOptions::default())?;
//! assert_eq!(back.signal.data(), [0.0, 50.0, 100.0, 255.0]);
//! # Ok::<(), lobcod_image::Error>(())
//! ```

#![forbid(unsafe_code)]

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
mod kind;
mod map;
mod mask;
mod notes;
mod notes_npz;
pub mod npy;
pub mod npz;
mod picture;
mod raster;
mod rows;
mod shelf;
mod source;
mod tiff;
mod wav;
mod write;
mod xmp;

pub use array::{Array, DataType, Element};
pub use atomic::{check_writable, write_atomically};
pub use axes::Axes;
pub use bitmap::encode_png;
pub use checkpoint::{Keeper, Kept, read_checkpoint, read_learn_checkpoint, write_checkpoint, write_learn_checkpoint};
pub use codes::{CodesFile, is_codes, read_codes, write_codes, write_codes_of};
pub use codes_stream::{BaseRows, CodesFacts, CodesList, stream_codes};
pub use codes_together::write_codes_together;
pub use depth::Depth;
pub use dictionary::{MetaValue, read_dictionary, write_dictionary};
pub use error::{Access, Error, Result};
pub use kind::FileKind;
pub use map::{read_map, read_vector};
pub use mask::{Polarity, read_mask};
pub use notes::{Dialect, Grid, Notes, PageOrder};
pub use picture::{Picture, ReadOptions, read_picture};
pub use rows::PictureRows;
pub use shelf::CodesShelf;
pub use source::DEFAULT_MAX_BYTES;
pub use write::{WriteOptions, write_picture};
