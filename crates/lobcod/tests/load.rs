//! Many runs in one process: memory does not grow.
//!
//! `LOBCOD_LOAD=10000` (`cargo xtask long`) sets the number of runs.

use lobcod::{Dictionary, Extent, LearnParams, Penalty, PursuitParams, Signal};
use lobcod_conformance::cpu;

fn runs() -> usize {
    std::env::var("LOBCOD_LOAD").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// Resident memory of this process in bytes; `None` if the system does not report it.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|k| k << 10)
}

fn image(phase: usize) -> Signal<f32> {
    let extent = Extent::new(&[24, 24]).unwrap();
    let wave = |i: usize| ((i % 24) as f32 * 0.7).sin() * 40.0 + ((i * 13 + phase) % 17) as f32;
    Signal::from_planar(extent, 1, (0..extent.volume()).map(wave).collect()).unwrap()
}

fn dictionary() -> Dictionary<f32> {
    Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 12, 1).unwrap()
}

/// Runs the work `count` times; compares the memory after a tenth of the runs and at the end.
fn growth(what: &str, count: usize, mut work: impl FnMut(usize)) {
    let mut early = None;
    for i in 0..count {
        work(i);
        if i == count / 10 {
            early = resident();
        }
    }
    let Some((early, late)) = early.zip(resident()) else { return };
    println!(
        "{what}: {count} runs, {} KiB after a tenth of them, {} KiB at the end",
        early >> 10,
        late >> 10
    );
    assert!(late <= early + (4 << 20), "{what} grew from {early} to {late} bytes in {count} runs");
}

#[test]
fn memory_stays_flat() {
    let atoms = dictionary();
    growth("encode", runs(), |i| {
        let params = PursuitParams::new(Penalty::Relative(0.1));
        params.check().unwrap().run(&cpu(1 + i % 2), &[image(i).into()], &atoms, &mut ()).unwrap();
    });
    // A long stream: many passes over short images.
    let mut stream =
        LearnParams::new(Penalty::Absolute(20.0)).check().unwrap().stream(&atoms).unwrap();
    growth("learning from a stream", runs(), |i| {
        stream.partial_fit(&cpu(1), &[image(i).into()], &mut ()).unwrap();
    });
    growth("learning", runs() / 20, |i| {
        let params = LearnParams::new(Penalty::Relative(0.2)).with(|p| p.passes = 10);
        params.check().unwrap().run(&cpu(1), &[image(i).into()], &atoms, &mut ()).unwrap();
    });
}
