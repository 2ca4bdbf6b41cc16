//! Finding damage on photographs.

use lobcod::{Extent, Signal};
use lobcod_tasks::damage::find_damage;
use lobcod_tasks::synthetic::still_life;

const SIZE: usize = 320;

/// A curved scratch of two pixels.
fn is_scratch(i: usize) -> bool {
    let (y, x) = ((i / SIZE) as f32, (i % SIZE) as f32);
    (x - 190.0 - 0.25 * y - 9.0 * (y / 50.0).sin()).abs() < 1.1 && y > 30.0
}

fn is_dust(i: usize) -> bool {
    let (y, x) = (i / SIZE, i % SIZE);
    [[40, 290], [100, 270], [140, 300]]
        .iter()
        .any(|[v, u]| y.abs_diff(*v).pow(2) + x.abs_diff(*u).pow(2) <= 5)
}

/// Digits of strokes 3 pixels wide, in the lower right corner.
fn is_date(i: usize) -> bool {
    let (y, x) = (i / SIZE, i % SIZE);
    if !(285..303).contains(&y) || !(200..296).contains(&x) || (x - 200) % 16 > 9 {
        return false;
    }
    let (v, u) = (y - 285, (x - 200) % 16);
    !(3..15).contains(&v) || (7..10).contains(&v) || u < 3 || ((x - 200) / 16 % 2 == 0 && u > 6)
}

/// Which pixels belong to a kind of damage.
type Shape = fn(usize) -> bool;

fn damaged(parts: &[(Shape, [f32; 3])]) -> Signal<f32> {
    let mut image = still_life(SIZE).unwrap();
    for (part, colour) in parts {
        for i in (0..SIZE * SIZE).filter(|&i| part(i)) {
            (0..3).for_each(|c| image.data_mut()[c * SIZE * SIZE + i] = colour[c]);
        }
    }
    image
}

fn found(mask: &Signal<f32>, part: Shape) -> f64 {
    let pixels: Vec<usize> = (0..SIZE * SIZE).filter(|&i| part(i)).collect();
    pixels.iter().filter(|&&i| mask.data()[i] == 1.0).count() as f64 / pixels.len() as f64
}

#[test]
fn scratches_dust_and_dates_are_found() {
    let image =
        damaged(&[(is_scratch, [6.0; 3]), (is_dust, [8.0; 3]), (is_date, [255.0, 140.0, 30.0])]);
    let damage = find_damage(&image, 255.0, 2).unwrap();
    let rates = [is_scratch, is_dust, is_date].map(|part| found(&damage.mask, part));
    assert!(rates[0] > 0.7 && rates[1] > 0.9 && rates[2] > 0.9, "{rates:?}");
    assert!(damage.scratches >= 1 && damage.spots >= 3 && damage.stamps == 1, "{damage:?}");
    assert_eq!(find_damage(&image, 255.0, 1).unwrap(), damage);
    // The scale of the values makes no difference.
    let scaled: Vec<f32> = image.data().iter().map(|x| x / 255.0).collect();
    let scaled = Signal::from_planar(image.extent(), 3, scaled).unwrap();
    let again = find_damage(&scaled, 1.0, 2).unwrap();
    assert_eq!(again.scratches, damage.scratches);
}

#[test]
fn little_is_marked_on_a_sound_image() {
    let damage = find_damage(&still_life(SIZE).unwrap(), 255.0, 2).unwrap();
    let marked = damage.mask.data().iter().filter(|&&x| x > 0.0).count();
    assert!(marked < SIZE * SIZE / 50, "{marked}: {damage:?}");
    assert_eq!(damage.stamps, 0);
    let flat = Signal::zeros(Extent::new(&[40, 30]).unwrap(), 1);
    assert!(find_damage(&flat, 255.0, 1).unwrap().mask.data().iter().all(|&x| x == 0.0));
    let tiny = Signal::zeros(Extent::new(&[1, 1]).unwrap(), 3);
    assert_eq!(find_damage(&tiny, 1.0, 1).unwrap().mask.data(), [0.0]);
    assert!(find_damage(&Signal::zeros(Extent::new(&[9]).unwrap(), 1), 1.0, 1).is_err());
}

#[test]
fn large_images_are_searched_at_a_reduced_size() {
    let (height, width) = (300, 4100);
    let is_scratch = |i: usize| (i / width).abs_diff(120) < 5 && i % width > 500;
    let sample = |i: usize| if is_scratch(i) { 250.0 } else { 90.0 + (i % width) as f32 * 0.01 };
    let image = (0..height * width).map(sample).collect();
    let image = Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, image).unwrap();
    let damage = find_damage(&image, 255.0, 2).unwrap();
    assert_eq!(damage.scratches, 1);
    for i in 0..height * width {
        let (marked, near) = (damage.mask.data()[i] == 1.0, (i / width).abs_diff(120) < 12);
        assert!(!marked || near, "{i}");
        assert!(marked || !is_scratch(i) || i % width < 520, "{i}");
    }
}
