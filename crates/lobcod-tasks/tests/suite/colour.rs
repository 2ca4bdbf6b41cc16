//! Lab against published values, and the round trip.

use lobcod::{Extent, Signal};
use lobcod_tasks::colour::{from_lab, lightness, to_lab};

#[test]
fn known_colours() {
    // sRGB, then L, a, b under D65 (2 degrees), as colour tables print them.
    let table = [
        ([255.0, 0.0, 0.0], [53.24, 80.09, 67.20]),
        ([0.0, 255.0, 0.0], [87.73, -86.18, 83.18]),
        ([0.0, 0.0, 255.0], [32.30, 79.19, -107.86]),
        ([255.0, 255.0, 255.0], [100.0, 0.0, 0.0]),
        ([119.0, 119.0, 119.0], [50.03, 0.0, 0.0]),
        ([5.0, 5.0, 5.0], [1.37, 0.0, 0.0]),
    ];
    for (rgb, lab) in table {
        let pixel = Signal::from_planar(Extent::new(&[1, 1]).unwrap(), 3, rgb.to_vec()).unwrap();
        let found = to_lab(&pixel, 255.0).unwrap();
        assert!(
            found.data().iter().zip(lab).all(|(x, y)| (x - y).abs() < 0.03),
            "{rgb:?}: {found:?}"
        );
        let light = lightness(&pixel, 255.0, 1).unwrap();
        assert!((light.data()[0] - lab[0]).abs() < 0.03);
    }
}

#[test]
fn lab_round_trips_beyond_the_range() {
    let samples: Vec<f32> = (0..300).map(|i| (i * 37 % 311) as f32 / 250.0 - 0.1).collect();
    let rgb = Signal::from_planar(Extent::new(&[10, 10]).unwrap(), 3, samples).unwrap();
    let back = from_lab(&to_lab(&rgb, 1.0).unwrap(), 1.0).unwrap();
    let farthest =
        rgb.data().iter().zip(back.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(farthest < 2e-4, "{farthest}");
}

#[test]
fn grey_is_scaled_and_other_channels_are_rejected() {
    let grey = Signal::from_planar(Extent::new(&[1, 2]).unwrap(), 1, vec![0.0, 65535.0]).unwrap();
    assert_eq!(lightness(&grey, 65535.0, 2).unwrap().data(), [0.0, 100.0]);
    let two = Signal::<f32>::zeros(Extent::new(&[4, 4]).unwrap(), 2);
    assert!(lightness(&two, 255.0, 1).unwrap_err().to_string().contains('2'));
    assert!(to_lab(&grey, 255.0).unwrap_err().to_string().contains("3"));
    assert!(to_lab(&two, 0.0).unwrap_err().to_string().contains("scale"));
}
