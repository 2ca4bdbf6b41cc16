//! Alignment: known motions are recovered, and crops contain what all frames cover.

use lobcod::{Extent, Signal};
use lobcod_tasks::align::{Align, Aligner, Motion, warp};

/// A scene defined at every point: blobs of several sizes.
fn scene(y: f64, x: f64) -> f64 {
    let blob = |k: f64| {
        (0.11 * k * y + 0.7 * k + (0.07 * k * x).sin()).sin()
            * (0.13 * k * x - 1.3 * k + (0.05 * k * y).cos()).cos()
    };
    50.0 + 12.0 * blob(1.0) + 9.0 * blob(2.3) + 6.0 * blob(3.7)
}

/// The scene seen by a camera that moved: point `p` of the first frame is at `motion(p)`.
fn frame([height, width]: [usize; 2], motion: &Motion) -> Signal<f32> {
    let half = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
    // The inverse of a similarity, so that the frame is exact and not interpolated.
    let (sin, cos) = motion.angle.sin_cos();
    let value = |i: usize| {
        let (v, u) = (
            (i / width) as f64 - half[0] - motion.shift[0],
            (i % width) as f64 - half[1] - motion.shift[1],
        );
        let (y, x) = ((cos * v + sin * u) / motion.scale, (cos * u - sin * v) / motion.scale);
        scene(y, x) as f32
    };
    Signal::from_planar(
        Extent::new(&[height, width]).unwrap(),
        1,
        (0..height * width).map(value).collect(),
    )
    .unwrap()
}

fn measured(kind: Align, frames: &[Signal<f32>]) -> Motion {
    let mut aligner = Aligner::new(kind, 2);
    frames.iter().for_each(|f| aligner.add(f).unwrap());
    *aligner.motions().last().unwrap()
}

#[test]
fn shifts_are_accurate_to_a_tenth_of_a_sample() {
    let size = [150, 190];
    for shift in [[0.0, 0.0], [3.0, -5.0], [-0.4, 0.7], [11.3, 8.6], [-17.0, 2.25]] {
        let motion = Motion { shift, ..Motion::STILL };
        let found = measured(Align::Shift, &[frame(size, &Motion::STILL), frame(size, &motion)]);
        assert!((0..2).all(|a| (found.shift[a] - shift[a]).abs() < 0.1), "{shift:?}: {found:?}");
        assert_eq!((found.scale, found.angle), (1.0, 0.0));
    }
}

#[test]
fn similarities_are_found_and_chained() {
    let size = [180, 160];
    let truth = Motion { shift: [2.5, -3.0], scale: 1.03, angle: 0.012 };
    let found = measured(Align::Similarity, &[frame(size, &Motion::STILL), frame(size, &truth)]);
    let corner = |m: &Motion| m.apply([80.0, 70.0]);
    let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    assert!(apart(corner(&found), corner(&truth)) < 0.2, "{found:?}");
    let further = truth.then(&Motion { shift: [-1.0, 4.0], scale: 1.02, angle: -0.01 });
    let chained =
        measured(Align::Similarity, &[&Motion::STILL, &truth, &further].map(|m| frame(size, m)));
    assert!(apart(corner(&chained), corner(&further)) < 0.4, "{chained:?}");
    // A frame aligned to the first one matches it where both are defined.
    let laid = warp(&frame(size, &truth), &found, 1);
    let (first, crop) = (frame(size, &Motion::STILL), found.crop(laid.extent()).unwrap());
    let worst = (0..size[0] * size[1])
        .filter(|&i| crop.contains([i / size[1], i % size[1]]))
        .map(|i| (laid.data()[i] - first.data()[i]).abs());
    assert!(worst.fold(0.0, f32::max) < 3.0);
    assert!(crop.size[0] > 165 && crop.size[1] > 145, "{crop:?}");
}

#[test]
fn brightness_does_not_matter() {
    let (size, motion) = ([120, 120], Motion { shift: [4.0, 2.0], ..Motion::STILL });
    let mut bright = frame(size, &motion);
    bright.data_mut().iter_mut().for_each(|x| *x = 1.7 * *x - 20.0);
    let found = measured(Align::Shift, &[frame(size, &Motion::STILL), bright]);
    assert!((found.shift[0] - 4.0).abs() < 0.1 && (found.shift[1] - 2.0).abs() < 0.1, "{found:?}");
}

#[test]
fn every_corner_of_a_crop_is_inside_the_frame() {
    let extent = Extent::new(&[100, 140]).unwrap();
    for motion in [
        Motion { shift: [7.5, -3.2], ..Motion::STILL },
        Motion { shift: [0.0, 0.0], scale: 1.1, angle: 0.0 },
        Motion { shift: [2.0, 9.0], scale: 0.95, angle: 0.05 },
    ] {
        let crop = motion.crop(extent).unwrap();
        for (y, x) in [
            (0, 0),
            (0, crop.size[1] - 1),
            (crop.size[0] - 1, 0),
            (crop.size[0] - 1, crop.size[1] - 1),
        ] {
            let p = [(crop.start[0] + y) as f64 - 49.5, (crop.start[1] + x) as f64 - 69.5];
            let [v, u] = motion.apply(p);
            assert!(
                v.abs() <= 49.5 + 1e-6 && u.abs() <= 69.5 + 1e-6,
                "{motion:?}: {crop:?} shows {v} {u}"
            );
        }
    }
    let shift = Motion { shift: [7.5, -3.2], ..Motion::STILL };
    let crop = shift.crop(extent).unwrap();
    assert_eq!((crop.start, crop.size), ([0, 4], [92, 136]));
    assert!(Motion { shift: [300.0, 0.0], ..Motion::STILL }.crop(extent).is_err());
    assert_eq!(shift.largest_shift(extent), 7.5f64.hypot(3.2));
}

#[test]
fn resampling_keeps_fine_texture() {
    // A grating of 3 samples per period, half a sample away: cubic interpolation loses a third of
    // it.
    let size = [64, 96];
    let wave = |x: f64| (50.0 + 40.0 * (2.0 * std::f64::consts::PI * x / 3.0).sin()) as f32;
    let extent = Extent::new(&size).unwrap();
    let at = |shift: f64| {
        let data = (0..64 * 96).map(|i| wave((i % 96) as f64 - shift)).collect();
        Signal::from_planar(extent, 1, data).unwrap()
    };
    let moved = warp(&at(0.5), &Motion { shift: [0.0, 0.5], ..Motion::STILL }, 1);
    let inner = |s: &Signal<f32>| -> Vec<f32> {
        (0..64 * 96).filter(|i| (8..88).contains(&(i % 96))).map(|i| s.data()[i]).collect()
    };
    let (moved, truth) = (inner(&moved), inner(&at(0.0)));
    let worst = moved.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 4.0, "{worst} of an amplitude of 40");
    assert_eq!(warp(&at(0.3), &Motion::STILL, 2), at(0.3));
}

#[test]
fn a_centred_zoom_of_one_per_cent_is_noticed() {
    let zoom = Motion { scale: 1.01, ..Motion::STILL };
    for size in [[160, 200], [500, 400]] {
        // The second frame is out of focus on one half, like a frame of a focus stack.
        let first = frame(size, &Motion::STILL);
        let mut second = frame(size, &zoom);
        let sharp = second.clone();
        for i in (0..sharp.data().len()).filter(|i| i % size[1] > size[1] / 2) {
            let (y, x) = (i / size[1], i % size[1]);
            let near = |d: usize| [y.saturating_sub(3) + d, x.saturating_sub(3) + d];
            let ([top, left], [bottom, right]) = (near(0), near(6));
            let (bottom, right) = (bottom.min(size[0] - 1), right.min(size[1] - 1));
            let rows = || (top..=bottom).flat_map(|y| (left..=right).map(move |x| [y, x]));
            let sum: f32 = rows().map(|[y, x]| sharp.data()[y * size[1] + x]).sum();
            second.data_mut()[i] = sum / rows().count() as f32;
        }
        let found = measured(Align::Auto, &[first, second]);
        assert!((found.scale - 1.01).abs() < 0.002, "{size:?}: {found:?}");
    }
}
