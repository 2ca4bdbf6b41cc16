//! Masks of any kind with images of any size, and a pursuit with them.

use super::image::one_line;
use super::split;
use crate::scratch;
use lobcod::base::Base;
use lobcod::{Border, Dictionary, Extent, Observed, Penalty, PursuitParams, Signal};
use lobcod_conformance::cpu;
use lobcod_conformance::honesty;
use lobcod_io::{Polarity, read_mask};

/// Input: a byte that selects the kind of mask and the image, then the file of the mask.
pub fn run(input: &[u8]) {
    let Some((choice, file)) = split(input) else { return };
    let path = scratch::file("mask", &file);
    let axes: &[usize] = [&[7, 6][..], &[3, 4], &[20], &[2, 3, 4]][usize::from(choice) / 2 % 4];
    let extent = Extent::new(axes).expect("a shape");
    let polarity = if choice & 1 == 0 { Polarity::Known } else { Polarity::Holes };
    let mask = match read_mask::<f32>(&path, polarity, extent, None) {
        Ok(mask) => mask,
        Err(error) => return one_line(&error.to_string()),
    };
    let mut signal = Signal::from_planar(
        extent,
        1,
        (0..extent.volume()).map(|i| (i as f32 * 0.7).sin()).collect(),
    )
    .unwrap();
    mask.check_fits(&signal).expect("the mask has this size");
    let atom = Extent::new(&vec![2; axes.len()]).expect("a shape");
    // Masked samples are never read, so they may hold any value.
    for (x, w) in signal.data_mut().iter_mut().zip(mask.channel(0)) {
        if *w == 0.0 {
            *x = f32::NAN;
        }
    }
    let base = Base::LocalMean
        .layer(&signal, Some(&mask), atom)
        .expect("a base layer of the known samples");
    signal.data_mut().iter_mut().zip(base.data()).for_each(|(y, b)| *y -= *b);
    let border = Border::ALL[usize::from(choice) / 8 % 4];
    let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| {
        p.border = border;
        p.max_sweeps = 20;
    });
    let dictionary = Dictionary::random(atom, 1, 5, 3).expect("atoms");
    let observed = Observed { mask: Some(mask), ..signal.into() };
    let pursuit = params.check().expect("valid");
    match pursuit.run(&cpu(1), std::slice::from_ref(&observed), &dictionary, &mut ()) {
        Ok(answer) => honesty::check(pursuit.params(), &observed, &dictionary, &answer),
        Err(error) => one_line(&error.to_string()),
    }
}
