//! Learning checkpoints.

use super::codes::from_arrays;
use super::{Kind, open, rows, whole, write};
use crate::array::Array;
use crate::error::Result;
use crate::fields::Fields;
use lobcod::checkpoint::{LearnCheckpoint, LearnerState};
use lobcod::engine::ranks::World;
use lobcod::learn::LearnPoint;
use std::path::Path;

/// Separator between the names of the state arrays.
const SEPARATOR: char = '\n';

/// Writes a learning checkpoint atomically as a `.npz` file; every array has a checksum.
///
/// The state of the method is stored in arrays `memory.NAME`; the array `memory` lists the names,
/// so that none can be lost.
pub fn write_learn_checkpoint(
    path: &Path,
    checkpoint: &LearnCheckpoint,
    ranks: Option<&dyn World>,
) -> Result<()> {
    let LearnCheckpoint { seconds, penalty, dictionary, codes, history, learner, .. } = checkpoint;
    let row = |p: &LearnPoint| {
        let counts = [p.pass, p.nonzeros, p.replaced_atoms, p.merged_atoms].map(|n| n as f64);
        [p.seconds, p.objective, p.data_term, counts[0], counts[1], counts[2], counts[3]]
    };
    let vector = |numbers: &[f64]| Array::new(&[numbers.len()], numbers.iter().copied());
    let names: Vec<&str> = learner.keys().map(String::as_str).collect();
    let mut arrays = vec![
        ("course", vector(&[*seconds, *penalty])),
        ("dictionary", vector(dictionary)),
        ("history", Array::new(&[history.len(), 7], history.iter().flat_map(row))),
        ("memory", Array::from_text(&names.join(&SEPARATOR.to_string()))),
    ];
    let places: Vec<String> = names.iter().map(|name| array_name(name)).collect();
    arrays.extend(
        places
            .iter()
            .zip(learner.values())
            .map(|(place, numbers)| (place.as_str(), vector(numbers))),
    );
    write(path, Kind::Learning, checkpoint.fingerprint, arrays, codes, ranks)
}

/// Reads a learning checkpoint; damaged files and other kinds or versions are refused.
pub fn read_learn_checkpoint(path: &Path) -> Result<LearnCheckpoint> {
    let (fields, fingerprint) = open(path, Kind::Learning)?;
    let course = fields.numbers("course", Some(2))?;
    let point = |[seconds, objective, data_term, pass, nonzeros, replaced, merged]: [f64; 7]| {
        let count = |x: f64| whole(&fields, "history", x);
        let pass = count(pass)?;
        let nonzeros = count(nonzeros)?;
        let replaced_atoms = count(replaced)?;
        let merged_atoms = count(merged)?;
        Ok(LearnPoint {
            seconds,
            pass,
            objective,
            data_term,
            nonzeros,
            replaced_atoms,
            merged_atoms,
        })
    };
    Ok(LearnCheckpoint {
        fingerprint,
        seconds: course[0],
        penalty: course[1],
        dictionary: fields.numbers("dictionary", None)?,
        codes: from_arrays(&fields)?,
        history: rows(&fields, "history")?.into_iter().map(point).collect::<Result<_>>()?,
        learner: learner(&fields)?,
    })
}

fn learner(fields: &Fields<'_>) -> Result<LearnerState> {
    let names: String = fields.word("memory")?;
    let names = names.split(SEPARATOR).filter(|name| !name.is_empty());
    names.map(|name| Ok((name.into(), fields.numbers(&array_name(name), None)?))).collect()
}

/// Name of the array for the state `name`.
fn array_name(name: &str) -> String {
    format!("memory.{name}")
}
