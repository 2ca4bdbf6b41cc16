//! A pass over the atoms lowers the objective, preserves unit norms, and updates the residual
//! consistently.

use lobcod::dictionary::Constraints;
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, Measure, Plane, Problem, Session, Support, Visit,
};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::{Border, Dictionary, Extent, Real};

struct Setting {
    axes: &'static [usize],
    atom: &'static [usize],
    channels: usize,
    border: Border,
    masked: bool,
}

fn open<T: Real>(setting: &Setting) -> Box<dyn Session<T>>
where
    CpuEngine: Engine<T>,
{
    let extent = Extent::new(setting.axes).unwrap();
    let count = extent.volume() * setting.channels;
    let wave = |i: usize| {
        4.0 * (i as f64 * 0.61).sin() + 2.0 * (i as f64 * 0.113).cos() + (i * 7 % 19) as f64 * 0.2
    };
    let weight = |i: usize| [1.0, 0.0, 1.0, 0.5, 1.0][i * 13 % 5];
    let planes = (0..2).map(|p| Plane {
        target: (0..count)
            .map(|i| {
                T::from_f64(if setting.masked && weight(i) == 0.0 {
                    0.0
                } else {
                    wave(i + 1000 * p)
                })
            })
            .collect(),
        weights: setting.masked.then(|| (0..count).map(|i| T::from_f64(weight(i))).collect()),
        ..Plane::empty(extent)
    });
    let dictionary =
        Dictionary::random(Extent::new(setting.atom).unwrap(), setting.channels, 7, 5).unwrap();
    let problem = Problem {
        planes: planes.collect(),
        dictionary,
        border: setting.border,
        grouping: Grouping::Tiles(6),
        atom_weights: vec![T::ONE; 7],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: true,
    };
    CpuEngine::new(2).unwrap().open(problem, None).unwrap()
}

fn objective<T: Real>(session: &mut dyn Session<T>, what: Measure, penalty: f64) -> f64 {
    session.measure(what, &Context::default()).unwrap().iter().map(|m| m.objective(penalty)).sum()
}

fn check<T: Real>(setting: &Setting, rounding: f64)
where
    CpuEngine: Engine<T>,
{
    let name = format!(
        "{:?} {:?} x{} {} masked {}",
        setting.axes, setting.atom, setting.channels, setting.border, setting.masked
    );
    let mut session = open::<T>(setting);
    let penalty = 1.5;
    let mut first = None;
    for _ in 0..4 {
        let context = Context::default();
        let sweep =
            Discovery { penalty, visit: Visit::All, local_tolerance: 1e-6, layer_seed: None };
        session.discover(&sweep, &context).unwrap();
        session
            .support(&Support { penalty, sweeps: 1, rounds: 3, tolerance: 0.0 }, &context)
            .unwrap();
        for _ in 0..3 {
            let before = objective(&mut *session, Measure::Progress, penalty);
            let moved =
                session.learning().improve_atoms(&Constraints::default(), &context).unwrap();
            let after = objective(&mut *session, Measure::Progress, penalty);
            assert!(moved > 0.0, "{name}: no atom moved");
            assert!(
                after <= before * (1.0 + rounding),
                "{name}: a pass over the atoms raised {before} to {after}"
            );
            let synthesised = objective(&mut *session, Measure::Objective, penalty);
            assert!(
                (synthesised - after).abs() <= rounding * synthesised,
                "{name}: the residual gives {after}, codes and atoms give {synthesised}"
            );
            first.get_or_insert(before);
        }
        let dictionary = session.dictionary();
        for k in 0..dictionary.len() {
            let norm =
                dictionary.atom(k).iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
            assert!((norm - 1.0).abs() < 1e-5, "{name}: atom {k} has norm {norm}");
        }
    }
    let last = objective(&mut *session, Measure::Objective, penalty);
    assert!(last < 0.9 * first.unwrap(), "{name}: learning hardly improved, {first:?} to {last}");
}

#[test]
fn the_objective_falls_for_every_border_rank_and_mask() {
    for border in Border::ALL {
        for masked in [false, true] {
            let shapes: [(&[usize], &[usize], usize); 4] = [
                (&[61], &[5], 1),
                (&[19, 23], &[4, 5], 1),
                (&[17, 14], &[3, 4], 3),
                (&[8, 9, 10], &[2, 3, 3], 1),
            ];
            for (axes, atom, channels) in shapes {
                let setting = Setting { axes, atom, channels, border, masked };
                check::<f64>(&setting, 1e-12);
                check::<f32>(&setting, 2e-6);
            }
        }
    }
}
