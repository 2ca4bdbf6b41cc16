//! Arrays, dictionaries, codes and checkpoints.

use super::image::one_line;
use super::{LIMIT, split};
use crate::scratch;
use crate::seeds::{learner, learning_signal, pursuit, pursuit_signal};
use lobcod_conformance::cpu;
use lobcod_io::npz::Npz;
use lobcod_io::{
    is_codes, npy, read_checkpoint, read_codes, read_dictionary, read_learn_checkpoint, read_map,
    read_vector, write_codes, write_dictionary,
};
use std::path::Path;

/// Input: a byte, then a file passed to every reader of arrays.
pub fn run(input: &[u8]) {
    let Some((_, file)) = split(input) else { return };
    let path = scratch::file("archive", &file);
    arrays(&path, file);
    dictionary(&path);
    codes(&path);
    pursuit_checkpoint(&path);
    learning_checkpoint(&path);
}

fn accepted<T>(answer: lobcod_io::Result<T>) -> Option<T> {
    answer.inspect_err(|error| one_line(&error.to_string())).ok()
}

fn arrays(path: &Path, file: Vec<u8>) {
    if let Some(array) = accepted(npy::decode(path, &file)) {
        assert_eq!(npy::decode(path, &npy::encode(&array)).expect("valid encoded array"), array);
    }
    accepted(read_vector(path));
    accepted(read_map::<f32>(path, 2, None));
    if let Some(npz) = accepted(Npz::new(path, file, LIMIT)) {
        npz.names().for_each(|name| drop(accepted(npz.get(name))));
    }
}

fn dictionary(path: &Path) {
    let Some(atoms) = accepted(read_dictionary::<f32>(path)) else { return };
    for atom in atoms.data().chunks_exact(atoms.atom_len()) {
        let norm = atom.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        assert!((norm - 1.0).abs() < 1e-3, "an atom of norm {norm}");
    }
    let copy = scratch::place("copy.npz");
    write_dictionary(&copy, &atoms, &[]).expect("a copy");
    let again = read_dictionary::<f32>(&copy).expect("the copy can be read");
    assert_eq!((again.extent(), again.data()), (atoms.extent(), atoms.data()));
}

fn codes(path: &Path) {
    let named = is_codes(path);
    let Some(file) = accepted(read_codes::<f32>(path, Some(LIMIT))) else { return };
    assert!(named, "read as codes but not known as such");
    file.needles.synthesise(&file.dictionary).expect("codes that were checked");
    let copy = scratch::place("copy.npz");
    write_codes(&copy, &file).expect("a copy");
    let again = read_codes::<f32>(&copy, None).expect("the copy can be read");
    assert_eq!((again.needles, again.axes, again.base), (file.needles, file.axes, file.base));
}

/// A run from a manipulated checkpoint is rejected, or ends with a true report.
fn pursuit_checkpoint(path: &Path) {
    let Some(checkpoint) = accepted(read_checkpoint(path)) else { return };
    let (signal, dictionary) = pursuit_signal();
    match pursuit().resume(
        &cpu(1),
        &checkpoint,
        std::slice::from_ref(&signal),
        &dictionary,
        &mut (),
    ) {
        Ok(answer) => {
            lobcod_conformance::honesty::check(pursuit().params(), &signal, &dictionary, &answer)
        }
        Err(error) => one_line(&error.to_string()),
    }
}

fn learning_checkpoint(path: &Path) {
    let Some(checkpoint) = accepted(read_learn_checkpoint(path)) else { return };
    let (signals, first) = learning_signal();
    match learner().resume(&cpu(1), &checkpoint, &signals, &first, &mut ()) {
        Ok(learnt) => assert!(
            learnt.dictionary.data().iter().all(|x| x.is_finite()),
            "atoms are NaN or infinite"
        ),
        Err(error) => one_line(&error.to_string()),
    }
}
