//! Checkpoints on disk: a pursuit or a learning between two passes.
//!
//! A checkpoint is a `.npz` file: what kind it is and of which version, the fingerprint of its problem, the codes, and what else
//! its kind needs. Every array carries a checksum, and the file is written whole or not at all.

mod codes;
mod keeper;
mod learning;
mod pursuit;

pub use keeper::{Keeper, Kept};
pub use learning::{read_learn_checkpoint, write_learn_checkpoint};
pub use pursuit::{read_checkpoint, write_checkpoint};

use crate::array::Array;
use crate::atomic::write_atomically;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::npz::{self, Npz};
use crate::source::{Allowance, load};
use std::path::Path;

/// Version of the layout; files of another one are refused.
const VERSION: f64 = 2.0;

/// What a checkpoint is of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Pursuit,
    Learning,
}

impl Kind {
    const ALL: [Self; 2] = [Kind::Pursuit, Kind::Learning];

    /// As it stands in the file and in sentences.
    fn word(self) -> &'static str {
        match self {
            Kind::Pursuit => "pursuit",
            Kind::Learning => "learning",
        }
    }
}

/// Writes a checkpoint of this kind and fingerprint, with the arrays that belong to it.
fn write(path: &Path, kind: Kind, fingerprint: u64, arrays: Vec<(&str, Array)>) -> Result<()> {
    let mut all = vec![
        ("version", Array::scalar(VERSION)),
        ("kind", Array::from_text(kind.word())),
        // The bits of the fingerprint: the readers of this crate know no larger integers.
        ("fingerprint", Array::scalar(fingerprint as i64)),
    ];
    all.extend(arrays);
    write_atomically(path, &npz::encode(&all))
}

/// Opens a checkpoint: its arrays and its fingerprint. Error unless it is one of this kind and version.
fn open(path: &Path, kind: Kind) -> Result<(Fields<'_>, u64)> {
    let allowance = Allowance::new::<f64>(None);
    let file = load(path, allowance)?;
    let foreign = || Error::format(path, "is not a checkpoint; give a file written by --checkpoint");
    if !file.starts_with(b"PK") {
        return Err(foreign());
    }
    let fields = Fields { path, npz: Npz::new(path, file, allowance.on_disk())? };
    if !["version", "fingerprint"].iter().all(|field| fields.npz.names().any(|name| name == *field)) {
        return Err(foreign());
    }
    if fields.number("version")? != VERSION {
        return Err(Error::format(path, "was written by another version of lobcod; start the work again"));
    }
    let found: String = fields.word("kind")?;
    if found != kind.word() {
        let other = Kind::ALL.iter().find(|other| other.word() == found).ok_or_else(|| fields.unsound("kind"))?;
        let (other, this) = (other.word(), kind.word());
        return Err(Error::format(path, format!("is a checkpoint of a {other}, not of a {this}; give one of a {this}")));
    }
    let fingerprint = fields.npz.get("fingerprint")?.to_integers().filter(|f| f.len() == 1);
    let fingerprint = fingerprint.ok_or_else(|| fields.unsound("fingerprint"))?[0] as u64;
    Ok((fields, fingerprint))
}

/// The rows of a table with `N` columns.
fn rows<const N: usize>(fields: &Fields<'_>, name: &str) -> Result<Vec<[f64; N]>> {
    let table = fields.npz.get(name)?;
    let numbers = table.to_reals::<f64>(1.0).filter(|_| matches!(table.shape(), [_, columns] if *columns == N));
    Ok(numbers.ok_or_else(|| fields.unsound(name))?.as_chunks().0.to_vec())
}

/// A count that lies in the array `name` among other numbers.
fn whole(fields: &Fields<'_>, name: &str, x: f64) -> Result<usize> {
    if (0.0..1e15).contains(&x) { Ok(x as usize) } else { Err(fields.unsound(name)) }
}
