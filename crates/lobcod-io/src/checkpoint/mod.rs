//! Checkpoint files: the state of a pursuit or of learning between two passes.
//!
//! A checkpoint is a `.npz` file with its kind and version, the fingerprint of the problem, the
//! codes, and further state. Every array has a checksum, and the file is written atomically.

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
use crate::npz::{self, Npz, SharedArray, write_together};
use crate::source::{Allowance, load};
use codes::{columns, to_arrays};
use lobcod::Code;
use lobcod::engine::ranks::World;
use std::path::Path;

/// Version of the format: the arrays and the definition of the fingerprint. Files of other versions
/// are refused.
///
/// | version | difference |
/// |---|---|
/// | 2 | the fingerprint depends on how the program prints its parameters |
/// | 3 | the fingerprint is made of the names and values of parameters |
const VERSION: f64 = 3.0;

/// The kind of a checkpoint.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Pursuit,
    Learning,
}

impl Kind {
    const ALL: [Self; 2] = [Kind::Pursuit, Kind::Learning];

    /// The name in files and messages.
    fn word(self) -> &'static str {
        match self {
            Kind::Pursuit => "pursuit",
            Kind::Learning => "learning",
        }
    }
}

/// Writes a checkpoint of this kind with its fingerprint and arrays.
fn write(
    path: &Path,
    kind: Kind,
    fingerprint: u64,
    arrays: Vec<(&str, Array)>,
    codes: &[Vec<Code<f64>>],
    ranks: Option<&dyn World>,
) -> Result<()> {
    let mut all = vec![
        ("version", Array::scalar(VERSION)),
        ("kind", Array::from_text(kind.word())),
        // The fingerprint is stored as bits, because this crate reads no larger integers.
        ("fingerprint", Array::scalar(fingerprint as i64)),
    ];
    all.extend(arrays);
    let Some(world) = ranks else {
        all.extend(to_arrays(codes));
        return write_atomically(path, &npz::encode(&all));
    };
    let mut counts: Vec<i64> = codes.iter().map(|plane| plane.len() as i64).collect();
    world.reduce(&mut counts, &mut []);
    all.push(("code_counts", Array::new(&[counts.len()], counts.iter().copied())));
    let mut shared: Vec<SharedArray<'_>> =
        all.iter().map(|(name, array)| SharedArray::of_first(name, array, world)).collect();
    shared.extend(columns(codes, counts.iter().sum::<i64>() as usize));
    write_together(path, &shared, world).map_err(|source| Error::write(path, source))
}

/// Opens a checkpoint and returns its arrays and fingerprint. Error for other kinds and versions.
fn open(path: &Path, kind: Kind) -> Result<(Fields<'_>, u64)> {
    let allowance = Allowance::new::<f64>(None);
    let file = load(path, allowance)?;
    let foreign = || Error::format(path, "is not a checkpoint; use a file written by --checkpoint");
    if !file.starts_with(b"PK") {
        return Err(foreign());
    }
    let fields = Fields { path, npz: Npz::new(path, file, allowance.on_disk())? };
    if !["version", "fingerprint"].iter().all(|field| fields.npz.names().any(|name| name == *field))
    {
        return Err(foreign());
    }
    let version: f64 = fields.number("version")?;
    if version != VERSION {
        let writer = if version < VERSION { "an older" } else { "a newer" };
        let reason = format!(
            "is a checkpoint of version {version}, written by {writer} lobcod; this one reads \
             version {VERSION}"
        );
        return Err(Error::format(
            path,
            format!("{reason}; resume with that version, or start again"),
        ));
    }
    let found: String = fields.word("kind")?;
    if found != kind.word() {
        let other = Kind::ALL
            .iter()
            .find(|other| other.word() == found)
            .ok_or_else(|| fields.unsound("kind"))?;
        let (other, this) = (other.word(), kind.word());
        return Err(Error::format(
            path,
            format!("is a {other} checkpoint, not a {this} checkpoint; use a {this} checkpoint"),
        ));
    }
    let fingerprint = fields.npz.get("fingerprint")?.to_integers().filter(|f| f.len() == 1);
    let fingerprint = fingerprint.ok_or_else(|| fields.unsound("fingerprint"))?[0] as u64;
    Ok((fields, fingerprint))
}

/// The rows of a table with `N` columns.
fn rows<const N: usize>(fields: &Fields<'_>, name: &str) -> Result<Vec<[f64; N]>> {
    let table = fields.npz.get(name)?;
    let numbers = table
        .to_reals::<f64>(1.0)
        .filter(|_| matches!(table.shape(), [_, columns] if *columns == N));
    Ok(numbers.ok_or_else(|| fields.unsound(name))?.as_chunks().0.to_vec())
}

/// A count stored in the array `name` among other numbers.
fn whole(fields: &Fields<'_>, name: &str, x: f64) -> Result<usize> {
    if (0.0..1e15).contains(&x) { Ok(x as usize) } else { Err(fields.unsound(name)) }
}
