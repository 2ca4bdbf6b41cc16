//! Fusion of frames with known ground truth.

use lobcod::{Dictionary, Error, Extent, Signal, Status};
use lobcod_conformance::cpu;
use lobcod_tasks::align::Align;
use lobcod_tasks::fuse::{Compose, Frames, FuseBase, FuseParams, Fused, Mode, Prefer};
use lobcod_tasks::metrics::psnr;

const SIZE: [usize; 2] = [96, 120];

/// Synthetic foliage: detail everywhere, 0 to 255.
fn truth() -> Vec<f32> {
    let leaf = |i: usize| {
        let (y, x) = ((i / SIZE[1]) as f32, (i % SIZE[1]) as f32);
        let a = (0.9 * x + 0.3 * y + 2.0 * (0.11 * y).sin()).sin();
        let b = (1.1 * y - 0.5 * x + 1.5 * (0.07 * x).cos()).sin();
        (128.0
            + 50.0 * a * b
            + 45.0 * (0.31 * x + 0.1 * y).sin() * (0.24 * y - 0.05 * x).sin()
            + 20.0 * (0.05 * x).sin())
        .clamp(0.0, 255.0)
        .round()
    };
    (0..SIZE[0] * SIZE[1]).map(leaf).collect()
}

/// Box blur, three times: nearly a Gaussian.
fn blurred(image: &[f32]) -> Vec<f32> {
    let [height, width] = SIZE.map(|n| n as i64);
    let mut out = image.to_vec();
    for _ in 0..3 {
        let from = out.clone();
        let at = |y: i64, x: i64| {
            from[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize]
        };
        for i in 0..out.len() as i64 {
            let around = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (dy, dx)));
            out[i as usize] =
                around.map(|(dy, dx)| at(i / width + dy, i % width + dx)).sum::<f32>() / 25.0;
        }
    }
    out
}

fn signal(data: Vec<f32>) -> Signal<f32> {
    Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, data).unwrap()
}

/// Frames, each sharp where it is the `owner`.
fn stack(count: usize, owner: impl Fn(usize) -> usize) -> Vec<Signal<f32>> {
    let (sharp, soft) = (truth(), blurred(&truth()));
    let pick = |k: usize| {
        (0..sharp.len()).map(|i| if owner(i) == k { sharp[i] } else { soft[i] }).collect()
    };
    (0..count).map(|k| signal(pick(k))).collect()
}

fn fuse(params: FuseParams, mut frames: Vec<Signal<f32>>) -> Fused {
    params.check().unwrap().run(&cpu(0), &mut frames, &Dictionary::natural(), &mut ()).unwrap()
}

/// Index of the third of the width that contains a sample.
fn third(i: usize) -> usize {
    (i % SIZE[1]) * 3 / SIZE[1]
}

/// Number of samples far from the seams with the wrong frame.
fn wrong(fused: &Fused, owner: impl Fn(usize) -> usize, seams: &[usize]) -> usize {
    let far = |i: usize| seams.iter().all(|s| (i % SIZE[1]).abs_diff(*s) > 8);
    (0..SIZE[0] * SIZE[1])
        .filter(|&i| far(i) && fused.decision.data()[i] as usize != owner(i))
        .count()
}

#[test]
fn three_frames_become_one_sharp_image() {
    let fused = fuse(FuseParams::default(), stack(3, third));
    assert_eq!(wrong(&fused, third, &[40, 80]), 0);
    let score = psnr(&fused.image, &signal(truth()), 255.0).unwrap();
    let best = stack(3, third)
        .iter()
        .map(|f| psnr(f, &signal(truth()), 255.0).unwrap())
        .fold(0.0, f64::max);
    assert!(score > 33.0 && score > best + 8.0, "{score} dB, the best frame {best}");
    assert!(
        fused.motions.iter().all(|m| m.largest_shift(fused.image.extent()) < 1.0),
        "{:?}",
        fused.motions
    );
    assert_eq!(fused.reports.len(), 3);
    // The depth increases from frame to frame.
    let row = &fused.depth.data()[48 * SIZE[1]..][..SIZE[1]];
    assert!(row[10] < 0.1 && (row[60] - 1.0).abs() < 0.1 && row[110] > 1.9, "{row:?}");
}

#[test]
fn composing_codes_as_in_the_paper_works() {
    let plain = FuseParams::default().with(|p| {
        p.compose = Compose::Codes;
        p.activity = lobcod_tasks::fuse::Activity::Plain;
    });
    let owner = |i: usize| usize::from(i % SIZE[1] >= 60);
    let select = fuse(plain.clone(), stack(2, owner));
    let average = fuse(plain.with(|p| p.base = FuseBase::Average), stack(2, owner));
    let score = |f: &Fused| psnr(&f.image, &signal(truth()), 255.0).unwrap();
    assert!(score(&select) > 25.0, "{}", score(&select));
    assert_ne!(select.image, average.image);
    // Codes are those of a separation: without a seam nothing is mixed.
    let one = fuse(FuseParams::default().with(|p| p.compose = Compose::Codes), stack(2, |_| 0));
    assert!(score(&one) > 27.0, "{}", score(&one));
}

#[test]
fn ties_go_to_the_front_or_the_back() {
    let same = || vec![signal(truth()); 3];
    let flat = || vec![signal(vec![77.0; SIZE[0] * SIZE[1]]); 2];
    for (prefer, frames, number) in [
        (Prefer::Front, same(), 0.0),
        (Prefer::Back, same(), 2.0),
        (Prefer::Front, flat(), 0.0),
        (Prefer::Back, flat(), 1.0),
    ] {
        let fused = fuse(FuseParams::default().with(|p| p.prefer = prefer), frames.clone());
        assert!(fused.decision.data().iter().all(|d| *d == number), "{prefer:?}");
        let apart = fused
            .image
            .data()
            .iter()
            .zip(frames[0].data())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(apart < 1e-3, "{apart}");
    }
}

#[test]
fn a_pixel_of_misalignment_is_tolerated_and_measured() {
    let owner = |i: usize| usize::from(i % SIZE[1] >= 60);
    let mut frames = stack(2, owner);
    let moved: Vec<f32> = (0..SIZE[0] * SIZE[1])
        .map(|i| frames[1].data()[if i % SIZE[1] == 0 { i } else { i - 1 }])
        .collect();
    frames[1] = signal(moved);
    let fused = fuse(FuseParams::default().with(|p| p.align = Align::None), frames.clone());
    assert!(wrong(&fused, owner, &[60]) == 0);
    let left = |f: &Fused| {
        let half = |s: &Signal<f32>| {
            signal(
                (0..s.data().len())
                    .map(|i| if i % SIZE[1] < 48 { s.data()[i] } else { 0.0 })
                    .collect(),
            )
        };
        psnr(&half(&f.image), &half(&signal(truth())), 255.0).unwrap()
    };
    assert!(left(&fused) > 45.0, "{}", left(&fused));
    let measured = &fused.measured_motions;
    assert!((measured[1].shift[1] - 1.0).abs() < 0.4, "{measured:?}");
    // Nothing was moved, and a composition by these motions moves nothing either.
    assert!(fused.motions.iter().all(|motion| motion.is_still()), "{:?}", fused.motions);
    let aligned = fuse(FuseParams::default().with(|p| p.align = Align::Shift), frames);
    let width = aligned.crop.size[1];
    assert!(width < SIZE[1] && width > SIZE[1] - 4, "{:?}", aligned.crop);
    assert_eq!(aligned.image.extent().axes(), aligned.crop.size);
}

/// Mean over a disc; samples outside are those on the edge.
fn disc(image: &[f32], radius: i64) -> Vec<f32> {
    let [height, width] = SIZE.map(|n| n as i64);
    let near: Vec<[i64; 2]> = (-radius..=radius)
        .flat_map(|y| (-radius..=radius).map(move |x| [y, x]))
        .filter(|[y, x]| x * x + y * y <= radius * radius)
        .collect();
    let at =
        |y: i64, x: i64| image[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize];
    (0..height * width)
        .map(|i| {
            near.iter().map(|[y, x]| at(i / width + y, i % width + x)).sum::<f32>()
                / near.len() as f32
        })
        .collect()
}

#[test]
fn a_rim_darkened_by_blur_is_not_an_outline() {
    // Blurred with black around the image, as some programs do: the rim has the strongest slopes.
    const RADIUS: usize = 5;
    let sharp: Vec<f32> = truth().iter().map(|x| 130.0 + 0.3 * x).collect();
    let from_rim = |i: usize| {
        let (y, x) = (i / SIZE[1], i % SIZE[1]);
        y.min(x).min(SIZE[0] - 1 - y).min(SIZE[1] - 1 - x)
    };
    let darkened = |(i, x): (usize, f32)| {
        let t = (from_rim(i) as f32 / (2 * RADIUS) as f32).min(1.0);
        x * (0.5 + 0.5 * t * (2.0 - t))
    };
    let soft = disc(&sharp, RADIUS as i64).into_iter().enumerate().map(darkened).collect();
    let fused = fuse(FuseParams::default(), vec![signal(soft), signal(sharp.clone())]);
    let wrong: Vec<usize> = (0..sharp.len()).filter(|&i| fused.decision.data()[i] == 0.0).collect();
    assert!(wrong.is_empty(), "{} pixels: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

#[test]
fn no_halo_remains_beside_a_defocused_foreground() {
    // A dark foreground with little texture before bright foliage. Out of focus, it spreads over
    // the background and lets it shine through.
    const RADIUS: i64 = 5;
    let edge = |i: usize| 45.0 + 8.0 * ((i / SIZE[1]) as f32 / 9.0).sin();
    let distance = |i: usize| (i % SIZE[1]) as f32 - edge(i);
    let cover: Vec<f32> =
        (0..SIZE[0] * SIZE[1]).map(|i| (0.5 - distance(i)).clamp(0.0, 1.0)).collect();
    let back: Vec<f32> = truth().iter().map(|x| 120.0 + 0.5 * x).collect();
    let front: Vec<f32> = (0..cover.len()).map(|i| cover[i] * (35.0 + (i % 7) as f32)).collect();
    let over = |front: &[f32], cover: &[f32], back: &[f32]| -> Vec<f32> {
        (0..cover.len()).map(|i| front[i] + (1.0 - cover[i]) * back[i]).collect()
    };
    let sharp = over(&front, &cover, &back);
    let near = over(&front, &cover, &disc(&back, RADIUS));
    let far = over(&disc(&front, RADIUS), &disc(&cover, RADIUS), &back);
    let fused = fuse(FuseParams::default(), vec![signal(near.clone()), signal(far.clone())]);
    let band: Vec<usize> =
        (0..cover.len()).filter(|&i| distance(i).abs() < 2.0 * RADIUS as f32).collect();
    let error = |image: &[f32]| -> f32 {
        (band.iter().map(|&i| (image[i] - sharp[i]).powi(2)).sum::<f32>() / band.len() as f32)
            .sqrt()
    };
    // The best that a choice between the two frames can do.
    let best: Vec<f32> =
        (0..cover.len())
            .map(|i| {
                if (near[i] - sharp[i]).abs() < (far[i] - sharp[i]).abs() {
                    near[i]
                } else {
                    far[i]
                }
            })
            .collect();
    let (found, least) = (error(fused.image.data()), error(&best));
    assert!(found < 1.35 * least, "{found}; the best choice has {least}");
    // The fringe itself: foreground that spreads over the background.
    let fringe = (0..cover.len()).filter(|&i| (1.0..4.0).contains(&distance(i)));
    let darkest = fringe.map(|i| near[i] - fused.image.data()[i]).fold(0.0, f32::max);
    assert!(darkest < 25.0, "{darkest}");
}

#[test]
fn exposures_keep_what_each_shows_best() {
    // The dark frame has clipped shadows on the left, the bright one clipped lights on the right.
    let scene = truth();
    let dark = signal(
        scene
            .iter()
            .enumerate()
            .map(|(i, x)| (0.6 * x - if i % SIZE[1] < 60 { 120.0 } else { 0.0 }).clamp(0.0, 255.0))
            .collect(),
    );
    let bright = signal(
        scene
            .iter()
            .enumerate()
            .map(|(i, x)| (x + if i % SIZE[1] < 60 { 0.0 } else { 180.0 }).clamp(0.0, 255.0))
            .collect(),
    );
    let fused = fuse(
        FuseParams::default().with(|p| p.mode = Mode::Exposure),
        vec![dark.clone(), bright.clone()],
    );
    let detail = |s: &Signal<f32>, columns: std::ops::Range<usize>| -> f32 {
        let steps = (0..s.data().len())
            .filter(|i| columns.contains(&(i % SIZE[1])))
            .map(|i| (s.data()[i + 1] - s.data()[i]).abs());
        steps.sum()
    };
    for columns in [10..45, 75..110] {
        let kept = detail(&fused.image, columns.clone());
        let best = detail(&dark, columns.clone()).max(detail(&bright, columns.clone()));
        let worst = detail(&dark, columns.clone()).min(detail(&bright, columns.clone()));
        assert!(kept > 0.8 * best && best > 3.0 * worst, "{columns:?}: {kept} of {best}, {worst}");
    }
    assert_eq!(
        (fused.decision.data()[50 * SIZE[1] + 20], fused.decision.data()[50 * SIZE[1] + 100]),
        (1.0, 0.0)
    );
}

#[test]
fn colours_are_chosen_with_the_lightness() {
    let frames: Vec<Signal<f32>> = stack(2, |i| usize::from(i % SIZE[1] >= 60))
        .into_iter()
        .enumerate()
        .map(|(k, f)| {
            let tint = [[1.0, 0.8, 0.6], [0.6, 0.9, 1.0]][k];
            let data = tint.iter().flat_map(|t| f.data().iter().map(move |x| t * x)).collect();
            Signal::from_planar(f.extent(), 3, data).unwrap()
        })
        .collect();
    let fused = fuse(FuseParams::default(), frames.clone());
    for (k, x) in [(0, 20), (1, 100)] {
        let i = 48 * SIZE[1] + x;
        assert!((0..3).all(|c| (fused.image.channel(c)[i] - frames[k].channel(c)[i]).abs() < 1e-2));
    }
    let codes = fuse(FuseParams::default().with(|p| p.compose = Compose::Codes), frames.clone());
    assert!(psnr(&codes.image, &fused.image, 255.0).unwrap() > 22.0);
}

/// Frames that record the order of reads.
struct Recorded(Vec<Signal<f32>>, Vec<usize>);

impl Frames for Recorded {
    type Error = Error;
    fn count(&self) -> usize {
        self.0.len()
    }
    fn read(&mut self, i: usize) -> lobcod::Result<Signal<f32>> {
        self.1.push(i);
        Ok(self.0[i].clone())
    }
}

#[test]
fn frames_are_read_one_by_one_and_threads_change_nothing() {
    let mut recorded = Recorded(stack(3, third), Vec::new());
    let run = |frames: &mut Recorded, threads: usize| {
        let params = FuseParams::default().with(|p| p.mode = Mode::Focus);
        params.check().unwrap().run(&cpu(threads), frames, &Dictionary::natural(), &mut ()).unwrap()
    };
    let (one, three) = (run(&mut recorded, 1), run(&mut Recorded(stack(3, third), Vec::new()), 3));
    // Once to choose, once to blend.
    assert_eq!(recorded.1, [0, 1, 2, 0, 1, 2]);
    assert_eq!((one.image, one.depth, one.decision), (three.image, three.depth, three.decision));
}

#[test]
fn fast_preset_and_interruption() {
    let owner = |i: usize| usize::from(i % SIZE[1] >= 60);
    let fast = fuse(FuseParams::default().with(|p| p.fast = true), stack(2, owner));
    assert_eq!(wrong(&fast, owner, &[60]), 0);
    let mut frames = stack(3, third);
    let mut stop = |_: &lobcod::Progress| lobcod::Control::Stop;
    let fused = FuseParams::default()
        .check()
        .unwrap()
        .run(&cpu(0), &mut frames, &Dictionary::natural(), &mut stop)
        .unwrap();
    assert_eq!((fused.status, fused.reports.len()), (Status::Interrupted, 1));
    assert_eq!(fused.image, frames[0]);
}

#[test]
fn frames_that_cannot_be_fused_are_rejected() {
    let run = |mut frames: Vec<Signal<f32>>| {
        FuseParams::default().check().unwrap().run(
            &cpu(0),
            &mut frames,
            &Dictionary::natural(),
            &mut (),
        )
    };
    let one = signal(truth());
    let small = Signal::zeros(Extent::new(&[20, 20]).unwrap(), 1);
    let mut broken = one.clone();
    broken.data_mut()[7] = f32::NAN;
    for (frames, word) in [
        (vec![], "2 to"),
        (vec![one.clone()], "2 to"),
        (vec![one.clone(), small], "differ in shape"),
        (vec![one.clone(), Signal::zeros(one.extent(), 3)], "differ in shape"),
        (vec![one.clone(), broken], "NaN"),
        (vec![Signal::zeros(Extent::new(&[9, 9, 9]).unwrap(), 1); 2], "two axes"),
    ] {
        assert!(run(frames).unwrap_err().to_string().contains(word), "{word}");
    }
    for (params, word) in [
        (FuseParams::default().with(|p| p.window = 0), "window"),
        (FuseParams::default().with(|p| p.mu = -1.0), "smooth layer"),
        (FuseParams::default().with(|p| p.penalty = 0.0), "penalty"),
        (FuseParams::default().with(|p| p.scale = 0.0), "scale"),
        (FuseParams::default().with(|p| p.base = FuseBase::Average), "codes"),
        (
            FuseParams::default().with(|p| {
                p.fast = true;
                p.compose = Compose::Codes;
            }),
            "fast",
        ),
    ] {
        assert!(params.check().unwrap_err().to_string().contains(word), "{word}");
    }
    let tight = FuseParams::default().with(|p| p.max_memory = Some(1000)).check().unwrap();
    assert!(matches!(
        tight.run(&cpu(0), &mut stack(2, |_| 0), &Dictionary::natural(), &mut ()),
        Err(Error::Limits { .. })
    ));
}
