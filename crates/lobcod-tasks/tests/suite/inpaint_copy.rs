//! Filling large holes with copied content.

use lobcod::{Dictionary, Extent, Mask, Signal};
use lobcod_conformance::cpu;
use lobcod_tasks::inpaint::{Fill, InpaintParams, Inpainted};

const SIDE: usize = 112;

/// Tiles with a pattern and shading, in colour if there are three channels.
fn tiles(channels: usize) -> Signal<f32> {
    let sample = |c: usize, i: usize| {
        let (y, x) = (i / SIDE, i % SIDE);
        let joint = y % 14 < 2 || (x + 7 * (y / 14 % 2)) % 16 < 2;
        let grain = (x * 7 + y * 13) % 5;
        (if joint { 70 } else { 160 + 8 * grain } + 10 * c + x / 8) as f32
    };
    let data = (0..channels).flat_map(|c| (0..SIDE * SIDE).map(move |i| sample(c, i))).collect();
    Signal::from_planar(Extent::new(&[SIDE, SIDE]).unwrap(), channels, data).unwrap()
}

fn blotch(i: usize) -> bool {
    let (y, x) = ((i / SIDE) as f32 - 60.0, (i % SIDE) as f32 - 50.0);
    y * y + x * x < 15.0 * 15.0
}

fn fill(fill: Fill, image: &Signal<f32>, hole: impl Fn(usize) -> bool) -> Inpainted<f32> {
    let known: Vec<bool> = (0..image.extent().volume()).map(|i| !hole(i)).collect();
    let mut damaged = image.clone();
    let volume = known.len();
    for i in (0..damaged.data().len()).filter(|&i| !known[i % volume]) {
        damaged.data_mut()[i] = f32::NAN;
    }
    let inpaint = InpaintParams::default().with(|p| p.fill = fill).check().unwrap();
    let mask = Mask::from_known(image.extent(), &known).unwrap();
    inpaint.run(&cpu(2), &damaged, &mask, &[Dictionary::natural()], &mut ()).unwrap()
}

/// Mean square error in the hole, and the variance of the filled content.
fn error_and_variance(filled: &Signal<f32>, truth: &Signal<f32>) -> (f64, f64) {
    let pixels: Vec<usize> = (0..SIDE * SIDE).filter(|&i| blotch(i)).collect();
    let count = pixels.len() as f64;
    let value = |i: usize| f64::from(filled.data()[i]);
    let error =
        pixels.iter().map(|&i| (value(i) - f64::from(truth.data()[i])).powi(2)).sum::<f64>();
    let mean = pixels.iter().map(|&i| value(i)).sum::<f64>() / count;
    let variance = pixels.iter().map(|&i| (value(i) - mean).powi(2)).sum::<f64>();
    (error / count, variance / count)
}

#[test]
fn a_blotch_in_texture_is_filled_with_texture() {
    for channels in [1, 3] {
        let truth = tiles(channels);
        let model = fill(Fill::Model, &truth, blotch);
        let copied = fill(Fill::Auto, &truth, blotch);
        assert!(model.copied.is_none());
        let pixels =
            copied.copied.as_ref().expect("the blotch is wide and its surroundings detailed");
        assert!((0..SIDE * SIDE).all(|i| pixels[i] == blotch(i)));
        let (smudge, dull) = error_and_variance(&model.image, &truth);
        let (error, variance) = error_and_variance(&copied.image, &truth);
        let (_, usual) = error_and_variance(&truth, &truth);
        assert!(error < 0.4 * smudge, "{error}; the model alone has {smudge}");
        assert!(
            variance > 0.7 * usual && variance > 1.3 * dull,
            "{variance} of {usual}, model {dull}"
        );
        // Known samples are kept.
        for i in (0..truth.data().len()).filter(|i| !blotch(i % (SIDE * SIDE))) {
            assert_eq!(copied.image.data()[i], truth.data()[i]);
        }
        let again = fill(Fill::Auto, &truth, blotch);
        assert_eq!((again.image, again.copied), (copied.image, copied.copied));
    }
}

#[test]
fn content_is_copied_only_where_it_helps() {
    let ramp = |i: usize| 40.0 + (i % SIDE) as f32 + 0.5 * (i / SIDE) as f32;
    let extent = Extent::new(&[SIDE, SIDE]).unwrap();
    let smooth = Signal::from_planar(extent, 1, (0..SIDE * SIDE).map(ramp).collect()).unwrap();
    assert!(fill(Fill::Auto, &smooth, blotch).copied.is_none());
    let scratch = |i: usize| (i % SIDE).abs_diff(i / SIDE) < 2;
    assert!(fill(Fill::Auto, &tiles(1), scratch).copied.is_none());
    assert!(fill(Fill::Copy, &tiles(1), scratch).copied.is_some());
    // Nothing to copy from: every patch touches the hole.
    let grid = |i: usize| !(i % SIDE).is_multiple_of(40) || !(i / SIDE).is_multiple_of(40);
    assert!(fill(Fill::Copy, &tiles(1), grid).copied.is_none());
}
