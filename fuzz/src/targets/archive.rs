//! Arrays, dictionaries, codes and checkpoints.

use super::picture::one_line;
use super::{LIMIT, split};
use crate::scratch;
use crate::seeds::{learner, learning_signal, pursuit, pursuit_signal};
use lobcod_image::npz::Npz;
use lobcod_image::{
    is_codes, npy, read_checkpoint, read_codes, read_dictionary, read_learn_checkpoint, read_map, read_vector, write_codes,
    write_dictionary,
};
use std::path::Path;

/// Input: a byte, then a file that every reader of arrays is given.
pub fn run(input: &[u8]) {
    let Some((_, file)) = split(input) else { return };
    let path = scratch::file("archive", &file);
    arrays(&path, file);
    dictionary(&path);
    codes(&path);
    pursuit_checkpoint(&path);
    learning_checkpoint(&path);
}

fn told<T>(answer: lobcod_image::Result<T>) -> Option<T> {
    answer.inspect_err(|error| one_line(&error.to_string())).ok()
}

fn arrays(path: &Path, file: Vec<u8>) {
    if let Some(array) = told(npy::decode(path, &file)) {
        assert_eq!(npy::decode(path, &npy::encode(&array)).expect("an array that was written"), array);
    }
    told(read_vector(path));
    told(read_map::<f32>(path, 2, None));
    if let Some(npz) = told(Npz::new(path, file, LIMIT)) {
        npz.names().for_each(|name| drop(told(npz.get(name))));
    }
}

fn dictionary(path: &Path) {
    let Some(atoms) = told(read_dictionary::<f32>(path)) else { return };
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
    let Some(file) = told(read_codes::<f32>(path, Some(LIMIT))) else { return };
    assert!(named, "read as codes but not known as such");
    file.needles.synthesise(&file.dictionary).expect("codes that were checked");
    let copy = scratch::place("copy.npz");
    write_codes(&copy, &file).expect("a copy");
    let again = read_codes::<f32>(&copy, None).expect("the copy can be read");
    assert_eq!((again.needles, again.axes, again.base), (file.needles, file.axes, file.base));
}

/// A run from a checkpoint that was tampered with is refused, or ends with an honest answer.
fn pursuit_checkpoint(path: &Path) {
    let Some(checkpoint) = told(read_checkpoint(path)) else { return };
    let (signal, dictionary) = pursuit_signal();
    match pursuit().resume(&checkpoint, std::slice::from_ref(&signal), &dictionary, &mut ()) {
        Ok(answer) => lobcod_conformance::honesty::check(pursuit().params(), &signal, &dictionary, &answer),
        Err(error) => one_line(&error.to_string()),
    }
}

fn learning_checkpoint(path: &Path) {
    let Some(checkpoint) = told(read_learn_checkpoint(path)) else { return };
    let (signals, first) = learning_signal();
    match learner().resume(&checkpoint, &signals, &first, &mut ()) {
        Ok(learnt) => assert!(learnt.dictionary.data().iter().all(|x| x.is_finite()), "atoms that are not finite"),
        Err(error) => one_line(&error.to_string()),
    }
}
