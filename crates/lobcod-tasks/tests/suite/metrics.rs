//! PSNR and SSIM against numbers computed with scikit-image 0.26.

use lobcod::{Error, Extent, Signal};
use lobcod_tasks::metrics::{psnr, ssim};

/// Two synthetic signals, so that the numbers below can be reproduced.
fn pair(axes: &[usize], channels: usize) -> (Signal<f64>, Signal<f64>) {
    let extent = Extent::new(axes).unwrap();
    let width = axes[axes.len() - 1];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for c in 0..channels {
        for i in 0..extent.volume() {
            let x = (i % width) as f64;
            let y = (i / width) as f64;
            let c = c as f64;
            a.push(
                127.5 + 80.0 * (0.31 * x + 0.17 * y + c).sin() + 30.0 * (0.05 * x * y / 7.0).cos(),
            );
            b.push(a[a.len() - 1] + 12.0 * (1.3 * i as f64 + c).sin() + 0.2 * (x - y % 9.0));
        }
    }
    (
        Signal::from_planar(extent, channels, a).unwrap(),
        Signal::from_planar(extent, channels, b).unwrap(),
    )
}

#[test]
fn scores_are_those_of_scikit_image() {
    // structural_similarity(a, b, data_range=peak, gaussian_weights=True, sigma=1.5,
    // use_sample_covariance=False), mean over channels, and peak_signal_noise_ratio(a, b,
    // data_range=peak).
    let cases: [(&[usize], usize, f64, f64, f64); 4] = [
        (&[31], 1, 255.0, 0.9190273851665774, 28.81648557814198),
        (&[23, 17], 1, 255.0, 0.9319653473677935, 29.441365648614713),
        (&[11, 40], 3, 255.0, 0.9414185563257124, 28.6867527766762),
        (&[12, 13, 14], 2, 100.0, 0.9896642208017021, 21.354987110977596),
    ];
    for (axes, channels, peak, similarity, decibels) in cases {
        let (a, b) = pair(axes, channels);
        let (s, p) = (ssim(&a, &b, peak).unwrap(), psnr(&a, &b, peak).unwrap());
        assert!((s - similarity).abs() < 1e-12, "SSIM of {axes:?}: {s} is not {similarity}");
        assert!((p - decibels).abs() < 1e-10, "PSNR of {axes:?}: {p} is not {decibels}");
        assert_eq!(ssim(&b, &a, peak).unwrap(), s, "SSIM is symmetric");
        let single = ssim(&a.cast::<f32>(), &b.cast::<f32>(), peak).unwrap();
        assert!((single - similarity).abs() < 1e-6);
    }
}

#[test]
fn equal_signals_score_best() {
    let (a, _) = pair(&[12, 15], 2);
    assert!((ssim(&a, &a, 255.0).unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(psnr(&a, &a, 255.0).unwrap(), f64::INFINITY);
}

#[test]
fn signals_that_cannot_be_compared_are_rejected() {
    let (a, _) = pair(&[12, 15], 1);
    let (b, _) = pair(&[15, 12], 1);
    let (small, _) = pair(&[10, 40], 1);
    assert!(matches!(psnr(&a, &b, 255.0), Err(Error::Shape(_))));
    assert!(matches!(ssim(&a, &b, 255.0), Err(Error::Shape(_))));
    assert!(matches!(ssim(&small, &small, 255.0), Err(Error::Shape(_))));
    for peak in [0.0, -1.0, f64::NAN] {
        assert!(matches!(psnr(&a, &a, peak), Err(Error::Parameter { .. })));
        assert!(matches!(ssim(&a, &a, peak), Err(Error::Parameter { .. })));
    }
}
