//! Bit-exact answers on fixed synthetic inputs, to detect unintended changes.
//!
//! Hashes are for the portable vector level; the inputs use the sine and the exponential of glibc.
//! A change that is meant to alter an answer replaces its hash and explains why in its commit
//! message.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

use lobcod::bands::Strip;
use lobcod::engine::CpuEngine;
use lobcod::learn::Method;
use lobcod::pursuit::{Schedule, Start};
use lobcod::{
    Border, Dictionary, Extent, LearnParams, Mask, Needles, Observed, Penalty, PursuitParams, Real,
    Signal,
};
use lobcod_simd::Level;
use lobcod_tasks::fuse::{FuseParams, Mode};
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::synthetic;

/// FNV-1a over the bits of numbers.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    fn number(self, bits: u64) -> Self {
        let step =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(bits.to_le_bytes().iter().fold(self.0, step))
    }

    fn samples<T: Real>(self, samples: &[T]) -> Self {
        samples.iter().fold(self, |hash, x| hash.number(x.to_f64().to_bits()))
    }

    fn needles<T: Real>(self, needles: &Needles<T>) -> Self {
        needles.codes().iter().fold(self, |hash, code| {
            let place = code.position.iter().fold(hash, |hash, &at| hash.number(at as u64));
            place
                .number(u64::from(code.atom))
                .number(u64::from(code.channel))
                .number(code.value.to_f64().to_bits())
        })
    }
}

fn engine() -> CpuEngine {
    CpuEngine::new(2).unwrap().with_level(Level::Portable)
}

fn check(found: &[(String, Hash)], kept: &[(&str, u64)]) {
    let lines: Vec<String> = found
        .iter()
        .map(|(name, hash)| format!("        (\"{name}\", 0x{:016x}),", hash.0))
        .collect();
    let same = found.len() == kept.len()
        && found.iter().zip(kept).all(|((a, x), (b, y))| a == b && x.0 == *y);
    assert!(same, "the answers are now\n{}", lines.join("\n"));
}

fn signal<T: Real>(axes: &[usize], channels: usize) -> Signal<T> {
    let extent = Extent::new(axes).unwrap();
    let (volume, width) = (extent.volume(), *axes.last().unwrap());
    let wave = |i: usize| {
        let (y, x) = ((i % volume / width) as f64, (i % width) as f64);
        let grain = (i * 2_654_435_761 % 1000) as f64 / 1000.0 - 0.5;
        T::from_f64(
            40.0 * (0.7 * x + 0.2 * y).sin()
                + 25.0 * (0.31 * y).cos()
                + 15.0 * grain
                + (i / volume) as f64,
        )
    };
    Signal::from_planar(extent, channels, (0..volume * channels).map(wave).collect()).unwrap()
}

fn masked<T: Real>(signal: Signal<T>) -> Observed<T> {
    let weight = |i: usize| T::from_f64([1.0, 1.0, 0.0, 0.5, 1.0, 1.0, 1.0][i * 31 % 7]);
    let weights = Signal::from_planar(
        signal.extent(),
        1,
        (0..signal.extent().volume()).map(weight).collect(),
    )
    .unwrap();
    Observed { mask: Some(Mask::new(weights).unwrap()), ..signal.into() }
}

fn encoded<T: Real>(
    axes: &[usize],
    atom: &[usize],
    channels: (usize, usize),
) -> Vec<(String, Hash)> {
    let dictionary =
        Dictionary::<T>::random(Extent::new(atom).unwrap(), channels.1, 14, 3).unwrap();
    let mut found = Vec::new();
    for border in Border::ALL {
        let (mut full, plain) = (Hash::EMPTY, signal::<T>(axes, channels.0));
        for schedule in [Schedule::Tiles, Schedule::Layers, Schedule::Needles] {
            for (tile, nonnegative) in [(None, false), (Some(9), true)] {
                let params = params().with(|p| {
                    p.border = border;
                    p.schedule = schedule;
                    p.tile = tile;
                    p.nonnegative = nonnegative;
                    p.max_sweeps = 8;
                });
                for observed in [plain.clone().into(), masked(plain.clone())] {
                    let answer = params
                        .clone()
                        .check()
                        .unwrap()
                        .run(&engine(), &[observed], &dictionary, &mut ())
                        .unwrap();
                    full = full
                        .needles(&answer.needles[0])
                        .number(answer.report.total.objective.to_bits());
                    full = full.number(answer.report.total.gap.to_bits());
                }
            }
        }
        found.push((format!("{} {axes:?} {channels:?} {border}", T::NAME), full));
    }
    found
}

fn params() -> PursuitParams {
    PursuitParams::new(Penalty::Relative(0.08)).with(|p| p.tolerance = 1e-4)
}

#[test]
fn codes_are_unchanged() {
    let mut found = encoded::<f32>(&[300], &[9], (1, 1));
    found.extend(encoded::<f32>(&[61, 70], &[6, 5], (1, 1)));
    found.extend(encoded::<f64>(&[40, 33], &[5, 5], (3, 3)));
    found.extend(encoded::<f32>(&[40, 33], &[5, 5], (2, 1)));
    found.extend(encoded::<f64>(&[12, 14, 13], &[3, 4, 3], (1, 1)));
    let kept = [
        ("f32 [300] (1, 1) free", 0x07d7bbf6d5a60449),
        ("f32 [300] (1, 1) zero", 0x2f1463b31edbd399),
        ("f32 [300] (1, 1) periodic", 0xefa42df4ba667c17),
        ("f32 [300] (1, 1) inside", 0xf537e7e0fd98a1a2),
        ("f32 [61, 70] (1, 1) free", 0xa024f8041aca6220),
        ("f32 [61, 70] (1, 1) zero", 0x9d2a2a6bff8e31ca),
        ("f32 [61, 70] (1, 1) periodic", 0x52dfabb7c210db8e),
        ("f32 [61, 70] (1, 1) inside", 0xbdd49f999d5c479e),
        ("f64 [40, 33] (3, 3) free", 0x27922564d85b57e7),
        ("f64 [40, 33] (3, 3) zero", 0x69bcf16eb173a8a3),
        ("f64 [40, 33] (3, 3) periodic", 0x08facfa97c304f18),
        ("f64 [40, 33] (3, 3) inside", 0xbd2b570814ffbadc),
        ("f32 [40, 33] (2, 1) free", 0x24bfff18ba70be0e),
        ("f32 [40, 33] (2, 1) zero", 0x56b8f18c32867a37),
        ("f32 [40, 33] (2, 1) periodic", 0x3fc9bbd65bd5755f),
        ("f32 [40, 33] (2, 1) inside", 0x8232ea90462507cf),
        ("f64 [12, 14, 13] (1, 1) free", 0xa1b4957dc5d6b478),
        ("f64 [12, 14, 13] (1, 1) zero", 0xb333906f2691367e),
        ("f64 [12, 14, 13] (1, 1) periodic", 0x593a7e1f581c3037),
        ("f64 [12, 14, 13] (1, 1) inside", 0x5f90626bfc249651),
    ];
    check(&found, &kept);
}

#[test]
fn codes_of_a_large_image_and_of_bands_are_unchanged() {
    let dictionary = Dictionary::<f32>::random(Extent::new(&[4, 4]).unwrap(), 1, 14, 7).unwrap();
    let mut found = Vec::new();
    for border in [Border::Free, Border::Zero, Border::Periodic] {
        let params = params().with(|p| {
            p.border = border;
            p.tolerance = 1e-3;
        });
        let large = signal::<f32>(&[176, 181], 1);
        let spread = Observed { start: Start::Spread, ..signal::<f32>(&[80, 90], 1).into() };
        let pursuit = params.check().unwrap();
        for (name, observed) in [("large", large.clone().into()), ("spread", spread)] {
            let answer = pursuit.run(&engine(), &[observed], &dictionary, &mut ()).unwrap();
            let hash =
                Hash::EMPTY.needles(&answer.needles[0]).number(answer.report.total.gap.to_bits());
            found.push((format!("{name} {border}"), hash));
        }
        if border != Border::Periodic {
            let mut codes: Vec<Vec<lobcod::Code<f32>>> = Vec::new();
            let mut samples = Strip { samples: large, weights: None };
            let report = pursuit
                .run_in_bands(&engine(), &mut samples, &mut codes, &dictionary, 60, &mut ())
                .unwrap();
            let needles =
                Needles::new(Extent::new(&[176, 181]).unwrap(), 1, border, codes.concat());
            found.push((
                format!("bands {border}"),
                Hash::EMPTY.needles(&needles).number(report.total.gap.to_bits()),
            ));
        }
    }
    let kept = [
        ("large free", 0x0ec680294318efe2),
        ("spread free", 0x029d228e6d891942),
        ("bands free", 0x7813c57d0dcf2efc),
        ("large zero", 0x148594a676b27227),
        ("spread zero", 0x5567dc8d3053f7bf),
        ("bands zero", 0x2f636b5dc294a725),
        ("large periodic", 0x6f0533ca1bed30e1),
        ("spread periodic", 0x58545280af117120),
    ];
    check(&found, &kept);
}

#[test]
fn learnt_atoms_are_unchanged() {
    let mut found = Vec::new();
    for (name, method) in [
        ("atomwise", Method::Atomwise),
        ("stochastic", Method::STOCHASTIC),
        ("batch", Method::Batch),
    ] {
        for border in Border::ALL {
            let first = Dictionary::<f32>::random(Extent::new(&[6, 6]).unwrap(), 1, 12, 2).unwrap();
            let params = LearnParams::new(Penalty::Relative(0.1)).with(|p| {
                p.method = method;
                p.border = border;
                p.passes = 10;
                p.tolerance = 1e-2;
            });
            let signals = [signal::<f32>(&[50, 47], 1).into(), masked(signal(&[33, 64], 1))];
            let learnt = params.check().unwrap().run(&engine(), &signals, &first, &mut ()).unwrap();
            let hash = Hash::EMPTY.samples(learnt.dictionary.data()).needles(&learnt.needles[0]);
            found.push((format!("{name} {border}"), hash));
        }
    }
    let first = Dictionary::<f64>::random(Extent::new(&[7]).unwrap(), 2, 8, 2).unwrap();
    let mut stream =
        LearnParams::new(Penalty::Relative(0.1)).check().unwrap().stream(&first).unwrap();
    for length in [200, 150, 220] {
        stream.partial_fit(&engine(), &[signal(&[length], 2).into()], &mut ()).unwrap();
    }
    found.push(("stream".into(), Hash::EMPTY.samples(stream.dictionary().data())));
    let kept = [
        ("atomwise free", 0x6757922ada85f6c8),
        ("atomwise zero", 0xd25c98b1b367c84f),
        ("atomwise periodic", 0x1431ac044aa08988),
        ("atomwise inside", 0xe0d6566cbcfa50e2),
        ("stochastic free", 0x4f377a0459b2c62f),
        ("stochastic zero", 0x18b4b0126aebc100),
        ("stochastic periodic", 0x26ffaeef36820ceb),
        ("stochastic inside", 0x99961d78a9819179),
        ("batch free", 0x799d9e48d9209eab),
        ("batch zero", 0x8cd7c859c4056bb6),
        ("batch periodic", 0x9bf6df3adcaee6ed),
        ("batch inside", 0xfcaabc26a7699efc),
        ("stream", 0x5b4a46768a96dcb6),
    ];
    check(&found, &kept);
}

#[test]
fn filled_and_fused_pixels_are_unchanged() {
    let image = synthetic::grey_still_life(72).unwrap();
    let known: Vec<bool> = (0..72 * 72).map(|i| i * 7919 % 13 > 5).collect();
    let mask = Mask::from_known(image.extent(), &known).unwrap();
    let mut found = Vec::new();
    for (name, params) in [
        ("inpaint", InpaintParams::default()),
        ("inpaint learnt", InpaintParams::default().with(|p| p.learn = true)),
        ("inpaint colour", InpaintParams::default().with(|p| p.penalty = Some(6.0))),
    ] {
        let image = if name == "inpaint colour" {
            synthetic::still_life(72).unwrap()
        } else {
            image.clone()
        };
        let filled = params
            .check()
            .unwrap()
            .run(&engine(), &image, &mask, &[Dictionary::natural()], &mut ())
            .unwrap();
        found.push((
            name.to_string(),
            Hash::EMPTY.samples(filled.image.data()).samples(filled.fit.data()),
        ));
    }
    let bright = |gain: f32| {
        Signal::from_planar(image.extent(), 1, image.data().iter().map(|x| gain * x).collect())
            .unwrap()
    };
    for (name, mode) in [("focus", Mode::Focus), ("exposure", Mode::Exposure)] {
        let mut frames = vec![bright(0.5), image.clone(), bright(0.8)];
        let params = FuseParams::default().with(|p| p.mode = mode);
        let fused = params
            .check()
            .unwrap()
            .run(&engine(), &mut frames, &Dictionary::natural(), &mut ())
            .unwrap();
        found.push((
            name.to_string(),
            Hash::EMPTY.samples(fused.image.data()).samples(fused.decision.data()),
        ));
    }
    let kept = [
        ("inpaint", 0xcd9cb2ee0d949078),
        ("inpaint learnt", 0xcd9cb2ee0d949078),
        ("inpaint colour", 0x4532401ed3735da5),
        ("focus", 0x8985620bb71ae53b),
        ("exposure", 0x456916d6cadb4de8),
    ];
    check(&found, &kept);
}
