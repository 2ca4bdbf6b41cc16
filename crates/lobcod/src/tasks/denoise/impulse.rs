//! Impulses: found by an atom of their own, filled by a pursuit that does not see them.

use super::Denoised;
use super::params::DenoiseParams;
use crate::base::Base;
use crate::dictionary::Dictionary;
use crate::engine::Engine;
use crate::error::Result;
use crate::learn::LearnParams;
use crate::mask::Mask;
use crate::observe::Observer;
use crate::pursuit::{Observed, Penalty, PursuitParams};
use crate::signal::Signal;

/// Penalties on the range 0 to 1: of atoms, as in the authors' experiment on text, and of the single sample that stands for an
/// impulse. The authors' 0.5 finds impulses of black on white; 0.06 finds those in mid-grey and beside strokes too.
const PENALTY: f64 = 0.1;
const IMPULSE_PENALTY: f64 = 0.06;
/// How much dearer an impulse is to be by the atom that comes closest to it.
const DEARER: f64 = 2.0;
/// Share of the finds at the ends of the range from which the noise is taken to be salt and pepper, and other finds to be texture.
const SALT_AND_PEPPER: f64 = 0.5;
/// Penalty of the pursuit that fills, on the range 0 to 1: what is left there is no noise.
const FILLING_PENALTY: f64 = 0.01;
/// Times impulses are looked for, each without those found before.
const SEARCHES: usize = 2;
/// Passes in which the atoms are fitted.
const PASSES: usize = 8;

pub(super) fn denoise(
    params: &DenoiseParams,
    engine: &dyn Engine<f32>,
    picture: &Signal<f32>,
    share: Option<f64>,
    dictionary: &Dictionary<f32>,
    observer: &mut dyn Observer,
) -> Result<Denoised> {
    let penalty = params.penalty.unwrap_or(PENALTY * params.scale);
    let mut known = vec![true; picture.data().len()];
    let stop = observer.stop();
    for _ in 0..SEARCHES {
        if stop.is_due() {
            break;
        }
        known = search(params, engine, picture, &known, (penalty, share), dictionary, observer)?;
    }
    let mask = mask_of(picture, &known)?;
    let base = Base::LocalMean.layer(picture, Some(&mask), dictionary.extent())?;
    let rest: [Observed<f32>; 1] = [Observed { mask: Some(mask), ..picture.minus(&base)?.into() }];
    let mut atoms = dictionary.clone();
    if params.fit_atoms && !stop.is_due() {
        let learning = LearnParams {
            passes: PASSES,
            threads: params.threads,
            time_limit: params.time_limit,
            tolerance: 1.0,
            ..LearnParams::new(Penalty::Absolute(penalty))
        };
        atoms = learning.check()?.run_on(engine, &rest, dictionary, observer)?.dictionary;
    }
    let filling = PursuitParams::new(Penalty::Absolute(FILLING_PENALTY * params.scale));
    let answer = params.pursuit(filling).check()?.run_on(engine, &rest, &atoms, observer)?;
    let made = answer.needles[0].synthesise(&atoms)?.plus(&base)?;
    let mut clean = picture.clone();
    for (i, x) in clean.data_mut().iter_mut().enumerate().filter(|(i, _)| !known[*i]) {
        *x = made.data()[i];
    }
    let level = known.iter().filter(|k| !**k).count() as f64 / known.len() as f64;
    let status = answer.report.status;
    Ok(Denoised { picture: clean, level, dictionary: atoms, report: Some(answer.report), status, seconds: 0.0 })
}

/// Which samples are no impulses: a pursuit with the extra atom explains each by texture or by itself.
fn search(
    params: &DenoiseParams,
    engine: &dyn Engine<f32>,
    picture: &Signal<f32>,
    known: &[bool],
    (penalty, share): (f64, Option<f64>),
    dictionary: &Dictionary<f32>,
    observer: &mut dyn Observer,
) -> Result<Vec<bool>> {
    let mask = mask_of(picture, known)?;
    // The base is that of the samples trusted so far, the pursuit sees all: what was taken for an impulse may be cleared.
    let base = Base::LocalMean.layer(picture, Some(&mask), dictionary.extent())?;
    let (extent, n, m) = (dictionary.extent(), dictionary.atom_len(), dictionary.len());
    let [_, h, w] = extent.padded();
    let (row, column) = (h / 2, w / 2);
    let mut data = dictionary.data().to_vec();
    data.extend((0..n).map(|i| if i == row * w + column { 1.0 } else { 0.0 }));
    let with_impulse = Dictionary::new(extent, 1, data)?;
    let impulse = IMPULSE_PENALTY * params.scale / penalty;
    // An atom with a peak could stand for an impulse too; it is made to cost more.
    let peak = |k: usize| f64::from(dictionary.atom(k).iter().fold(0.0, |most: f32, x| most.max(x.abs())));
    let mut weights: Vec<f64> = (0..m).map(|k| f64::max(1.0, DEARER * impulse * peak(k))).collect();
    weights.push(impulse);
    let pursuit = PursuitParams { atom_weights: Some(weights), ..PursuitParams::new(Penalty::Absolute(penalty)) };
    let answer = params.pursuit(pursuit).check()?.run_on(engine, &[picture.minus(&base)?.into()], &with_impulse, observer)?;

    let [_, height, width] = picture.extent().padded();
    let mut hits: Vec<(f32, usize)> = Vec::new();
    for code in answer.needles[0].codes().iter().filter(|code| code.atom as usize == m) {
        let (y, x) = (code.position[1] + row as i32, code.position[2] + column as i32);
        if (0..height as i32).contains(&y) && (0..width as i32).contains(&x) {
            hits.push((code.value.abs(), (code.channel as usize * height + y as usize) * width + x as usize));
        }
    }
    let ends = picture.data().iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], &x| [l.min(x), h.max(x)]);
    let at_end = |hit: &(f32, usize)| ends.contains(&picture.data()[hit.1]);
    if hits.iter().filter(|hit| at_end(hit)).count() as f64 > SALT_AND_PEPPER * hits.len() as f64 {
        hits.retain(at_end);
    }
    hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let most = share.map_or(hits.len(), |share| (share * known.len() as f64).ceil() as usize);
    let mut clean = vec![true; known.len()];
    hits.iter().take(most).for_each(|hit| clean[hit.1] = false);
    Ok(clean)
}

fn mask_of(picture: &Signal<f32>, known: &[bool]) -> Result<Mask<f32>> {
    let weights = known.iter().map(|&k| if k { 1.0 } else { 0.0 }).collect();
    Mask::new(Signal::from_planar(picture.extent(), picture.channels(), weights)?)
}
