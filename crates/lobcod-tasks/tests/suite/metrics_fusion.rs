//! Fusion metrics against numbers computed with NumPy and SciPy from the definitions.

use lobcod::{Extent, Signal};
use lobcod_tasks::metrics::{
    EdgeScore, average_gradient, entropy, laplacian_energy, mutual_information, q_abf,
    spatial_frequency,
};

const SIZE: [usize; 2] = [12, 15];

/// Synthetic `A`, `B` and `F`; integers from 0 to 255.
fn images() -> [Signal<f32>; 3] {
    let make = |f: &dyn Fn(usize, usize) -> usize| {
        let data = (0..SIZE[0] * SIZE[1]).map(|i| f(i / SIZE[1], i % SIZE[1]) as f32).collect();
        Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, data).unwrap()
    };
    let a = |y: usize, x: usize| (37 * y + 91 * x + y * x * x) % 256;
    let b = |y: usize, x: usize| (7 * a(y, x) + 13) % 256;
    let f = |y: usize, x: usize| (a(y, x) + 3 * ((5 * y + 3 * x) % 17)).min(255);
    [make(&a), make(&b), make(&f)]
}

fn close(value: f64, known: f64) {
    assert!((value - known).abs() < 1e-9 * known.abs().max(1.0), "{value} is not {known}");
}

#[test]
fn edges_kept() {
    let [a, b, f] = images();
    close(q_abf(&[a.clone(), b.clone()], &f).unwrap(), 0.4294196995033831);
    // Bit-identical one at a time, and on any number of threads.
    let whole = q_abf(&[a.clone(), b.clone()], &f).unwrap();
    for threads in [1, 3] {
        let mut score = EdgeScore::new(&f, threads).unwrap();
        [&a, &b].into_iter().for_each(|source| score.add(source).unwrap());
        assert_eq!(score.value(), whole);
    }
    let flat = Signal::zeros(a.extent(), 1);
    assert_eq!(q_abf(std::slice::from_ref(&flat), &flat).unwrap(), 0.0);
}

#[test]
fn bits_shared() {
    let [a, b, f] = images();
    close(mutual_information(&a, &f).unwrap(), 6.066062574817108);
    close(mutual_information(&b, &f).unwrap(), 6.066062574817108);
    let coarse = |s: &Signal<f32>, step: f32| {
        Signal::from_planar(
            s.extent(),
            1,
            s.data().iter().map(|x| (x / step).floor() * step).collect(),
        )
        .unwrap()
    };
    close(mutual_information(&coarse(&a, 16.0), &coarse(&f, 32.0)).unwrap(), 1.9618547694544501);
}

#[test]
fn sharpness() {
    let [a, ..] = images();
    close(spatial_frequency(&a).unwrap(), 157.07742459060537);
    close(average_gradient(&a).unwrap(), 107.20818735507036);
    close(laplacian_energy(&a).unwrap(), 136582.3076923077);
    close(entropy(&a).unwrap(), 6.873052663078262);
}

#[test]
fn colours_and_other_shapes_are_rejected() {
    let [a, ..] = images();
    let colour = Signal::<f32>::zeros(a.extent(), 3);
    let wide = Signal::<f32>::zeros(Extent::new(&[12, 16]).unwrap(), 1);
    assert!(entropy(&colour).unwrap_err().to_string().contains("one channel"));
    assert!(q_abf(&[wide], &a).unwrap_err().to_string().contains("same shape"));
}
