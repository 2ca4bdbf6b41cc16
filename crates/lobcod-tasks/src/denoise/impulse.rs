//! Impulse noise: isolated samples, filled by a pursuit that ignores them.

use super::Denoised;
use super::extremes::{LEAST_FRACTION, Plane};
use super::level::sheet;
use super::params::DenoiseParams;
use lobcod::base::Base;
use lobcod::engine::Engine;
use lobcod::run::Run;
use lobcod::{Dictionary, LearnParams, Mask, Observed, Penalty, PursuitParams, Result, Signal};

/// Penalties for the range 0 to 1: of atoms, as in the authors' experiment on text, and of the
/// single-sample atom that represents an impulse. The authors' 0.5 finds impulses of black on
/// white; 0.06 also finds those in mid-grey and next to strokes.
const PENALTY: f64 = 0.1;
const IMPULSE_PENALTY: f64 = 0.06;
/// How much more an impulse must cost when represented by the atom closest to it.
const DEARER: f64 = 2.0;
/// Penalty of the filling pursuit for the range 0 to 1: the remaining samples are free of noise.
const FILLING_PENALTY: f64 = 0.01;
/// Number of searches for impulses, each without those found before.
const SEARCHES: usize = 2;
/// Maximum ratio of impulses of any value to isolated ones in smooth regions.
const MISSED: f64 = 1.5;
/// Passes that fit the atoms.
const PASSES: usize = 8;

pub(super) fn denoise(
    params: &DenoiseParams,
    engine: &dyn Engine<f32>,
    image: &Signal<f32>,
    fraction: Option<f64>,
    dictionary: &Dictionary<f32>,
    run: &mut Run,
) -> Result<Denoised> {
    let penalty = params.penalty.unwrap_or(PENALTY * params.scale);
    let stop = run.interrupt().clone();
    let mut known = salt_and_pepper(image, fraction);
    if known.iter().all(|k| *k) {
        let isolated = planes(image).map(|plane| plane.isolated_fraction()).fold(0.0, f64::max);
        if isolated < LEAST_FRACTION {
            return Ok(Denoised::unchanged(image));
        }
        let most = fraction.unwrap_or(1.0).min(MISSED * isolated);
        for search_number in 0..SEARCHES {
            if stop.is_due() {
                break;
            }
            let part = |i: usize| 0.3 * i as f64 / SEARCHES as f64;
            run.begin_part(part(search_number)..part(search_number + 1));
            known = search(params, engine, image, &known, (penalty, most), dictionary, run)?;
        }
    }
    let mask = mask_of(image, &known)?;
    let base = Base::LocalMean.layer(image, Some(&mask), dictionary.extent())?;
    let rest: [Observed<f32>; 1] = [Observed { mask: Some(mask), ..image.minus(&base)?.into() }];
    let mut atoms = dictionary.clone();
    if params.fit_atoms && !stop.is_due() {
        run.begin_part(0.3..0.8);
        let learning = LearnParams::new(Penalty::Absolute(penalty)).with(|p| {
            p.passes = PASSES;
            p.time_limit = run.time_left();
            p.tolerance = 1.0;
        });
        atoms = learning.check()?.run(engine, &rest, dictionary, &mut run.part())?.dictionary;
    }
    run.begin_part(0.8..1.0);
    let filling = PursuitParams::new(Penalty::Absolute(FILLING_PENALTY * params.scale));
    let answer =
        params.pursuit(filling, run).check()?.run(engine, &rest, &atoms, &mut run.part())?;
    let made = answer.needles[0].synthesise(&atoms)?.plus(&base)?;
    let mut clean = image.clone();
    let [low, high] = range(image);
    for (i, x) in clean.data_mut().iter_mut().enumerate().filter(|(i, _)| !known[*i]) {
        *x = made.data()[i].clamp(low, high);
    }
    let level = known.iter().filter(|k| !**k).count() as f64 / known.len() as f64;
    let status = answer.report.status;
    let report = Some(answer.report);
    Ok(Denoised {
        image: clean,
        level,
        detected: None,
        dictionary: Some(atoms),
        report,
        status,
        seconds: 0.0,
    })
}

/// Which samples are not impulses, assuming that impulses take the smallest or largest value; at
/// most the given fraction are.
fn salt_and_pepper(image: &Signal<f32>, most: Option<f64>) -> Vec<bool> {
    let volume = image.extent().volume();
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (c, plane) in planes(image).enumerate() {
        for extreme in plane.extremes().into_iter().filter(|e| e.fraction >= LEAST_FRACTION) {
            found.extend(
                plane
                    .impulses(extreme)
                    .iter()
                    .map(|(probability, i)| (*probability, c * volume + i)),
            );
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut known = vec![true; image.data().len()];
    let most = most.map_or(found.len(), |most| (most * known.len() as f64).ceil() as usize);
    found.iter().take(most).for_each(|(_, i)| known[*i] = false);
    known
}

/// The channels of an image.
pub(super) fn planes(image: &Signal<f32>) -> impl Iterator<Item = Plane<'_>> {
    let size = sheet(image.extent());
    (0..image.channels()).map(move |c| Plane { samples: image.channel(c), size })
}

fn range(image: &Signal<f32>) -> [f32; 2] {
    image.data().iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], &x| [l.min(x), h.max(x)])
}

/// Which samples are not impulses of any value: a pursuit with the extra atom explains each sample
/// by texture or by an impulse.
fn search(
    params: &DenoiseParams,
    engine: &dyn Engine<f32>,
    image: &Signal<f32>,
    known: &[bool],
    (penalty, most): (f64, f64),
    dictionary: &Dictionary<f32>,
    run: &mut Run,
) -> Result<Vec<bool>> {
    let mask = mask_of(image, known)?;
    // The base uses the samples trusted so far, the pursuit sees all: a suspected impulse may be
    // cleared.
    let base = Base::LocalMean.layer(image, Some(&mask), dictionary.extent())?;
    let extent = dictionary.extent();
    let n = dictionary.atom_len();
    let m = dictionary.len();
    let [_, h, w] = extent.padded();
    let (row, column) = (h / 2, w / 2);
    let mut data = dictionary.data().to_vec();
    data.extend((0..n).map(|i| if i == row * w + column { 1.0 } else { 0.0 }));
    let with_impulse = Dictionary::new(extent, 1, data)?;
    let impulse = IMPULSE_PENALTY * params.scale / penalty;
    // An atom with a peak could represent an impulse too, so its penalty is raised.
    let peak =
        |k: usize| f64::from(dictionary.atom(k).iter().fold(0.0, |most: f32, x| most.max(x.abs())));
    let mut weights: Vec<f64> = (0..m).map(|k| f64::max(1.0, DEARER * impulse * peak(k))).collect();
    weights.push(impulse);
    let pursuit =
        PursuitParams::new(Penalty::Absolute(penalty)).with(|p| p.atom_weights = Some(weights));
    let answer = params.pursuit(pursuit, run).check()?.run(
        engine,
        &[image.minus(&base)?.into()],
        &with_impulse,
        &mut run.part(),
    )?;

    let [_, height, width] = image.extent().padded();
    let mut hits: Vec<(f32, usize)> = Vec::new();
    for code in answer.needles[0].codes().iter().filter(|code| code.atom as usize == m) {
        let (y, x) = (code.position[1] + row as i32, code.position[2] + column as i32);
        if (0..height as i32).contains(&y) && (0..width as i32).contains(&x) {
            hits.push((
                code.value.abs(),
                (code.channel as usize * height + y as usize) * width + x as usize,
            ));
        }
    }
    hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let most = (most * known.len() as f64).ceil() as usize;
    let mut clean = vec![true; known.len()];
    hits.iter().take(most).for_each(|hit| clean[hit.1] = false);
    Ok(clean)
}

fn mask_of(image: &Signal<f32>, known: &[bool]) -> Result<Mask<f32>> {
    let weights = known.iter().map(|&k| if k { 1.0 } else { 0.0 }).collect();
    Mask::new(Signal::from_planar(image.extent(), image.channels(), weights)?)
}
