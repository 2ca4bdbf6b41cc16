//! Small coding problems with arbitrary numbers: rejected, or answered with a true report.

use super::image::one_line;
use crate::bytes::Bytes;
use lobcod::pursuit::{Local, Schedule};
use lobcod::{Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Real, Signal};
use lobcod_conformance::cpu;
use lobcod_conformance::honesty;

/// Shapes of signals and atoms.
const SHAPES: [(&[usize], &[usize]); 8] = [
    (&[1], &[1]),
    (&[9], &[4]),
    (&[2], &[5]),
    (&[1, 8], &[2, 3]),
    (&[6, 5], &[3, 3]),
    (&[1, 1], &[3, 3]),
    (&[4, 4], &[1, 1]),
    (&[2, 3, 3], &[2, 2, 2]),
];

/// Input: shapes, parameters, samples, atoms.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    if bytes.byte().is_multiple_of(2) { solve::<f32>(&mut bytes) } else { solve::<f64>(&mut bytes) }
}

fn solve<T: Real>(bytes: &mut Bytes) {
    let (signal, atom) = bytes.one_of(&SHAPES);
    let (extent, atom) =
        (Extent::new(signal).expect("a shape"), Extent::new(atom).expect("a shape"));
    let channels = 1 + bytes.below(2);
    let params = params(bytes);
    let scale = bytes.one_of(&[1.0, 1.0, 1.0, 1e-30, 1e30, 255.0]);
    let mut numbers = |count: usize, scale: f64| -> Vec<T> {
        (0..count).map(|_| T::from_f64(scale * bytes.number())).collect()
    };
    let atoms = numbers(3 * atom.volume(), 1.0);
    let mut observed = Observed::from(
        Signal::from_planar(extent, channels, numbers(extent.volume() * channels, scale)).unwrap(),
    );
    if bytes.byte().is_multiple_of(3) {
        let weights = (0..extent.volume())
            .map(|_| T::from_f64(bytes.one_of(&[0.0, 1.0, 1.0, 0.5, 1e-20])))
            .collect();
        observed.mask = Signal::from_planar(extent, 1, weights).and_then(Mask::new).ok();
    }
    let dictionary = match Dictionary::new(atom, 1, atoms) {
        Ok(dictionary) => dictionary,
        Err(error) => return one_line(&error.to_string()),
    };
    let pursuit = match params.check() {
        Ok(pursuit) => pursuit,
        Err(error) => return one_line(&error.to_string()),
    };
    match pursuit.run(&cpu(1), std::slice::from_ref(&observed), &dictionary, &mut ()) {
        Ok(answer) => honesty::check(pursuit.params(), &observed, &dictionary, &answer),
        Err(error) => one_line(&error.to_string()),
    }
}

fn params(bytes: &mut Bytes) -> PursuitParams {
    let relative = f64::powi(10.0, bytes.below(25) as i32 - 12);
    let penalty = match bytes.below(3) {
        0 => Penalty::Absolute(bytes.number().abs()),
        _ => Penalty::Relative(relative),
    };
    PursuitParams::new(penalty).with(|p| {
        p.border = bytes.one_of(&Border::ALL);
        p.schedule =
            bytes.one_of(&[Schedule::Tiles, Schedule::Tiles, Schedule::Layers, Schedule::Needles]);
        p.local = bytes.one_of(&[Local::Coordinate, Local::Lars]);
        p.nonnegative = bytes.byte().is_multiple_of(4);
        p.max_nonzeros = bytes.one_of(&[None, None, None, Some(1)]);
        p.tile = bytes.one_of(&[None, Some(1), Some(3), Some(usize::MAX)]);
        p.tolerance = bytes.one_of(&[1e-3, 1e-6, 0.0]);
        p.max_sweeps = 30;
    })
}
