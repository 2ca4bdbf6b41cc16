//! The WebAssembly module under Node against AVX2 on one thread: `cargo xtask studio`, then `cargo
//! bench -p lobcod-web --bench module [SIDE]`.
//!
//! Rounds of both alternate; the best of each counts. On Linux, processor time of the thread. Also how
//! often the page would refresh.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Events, grey, lines, node, request, still_life};
use lobcod::engine::CpuEngine;
use lobcod::run::Clock;
use lobcod_simd::Level;
use lobcod_web::Machine;
use serde_json::json;

const ROUNDS: usize = 3;

fn main() {
    let side = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(512);
    let image = grey(&still_life(side));
    let shape = [side, side];
    let jobs = [
        (
            "inpainting",
            request("inpaint", json!({})).with_u8("image", &shape, &image).with_u8(
                "mask",
                &shape,
                &lines(side),
            ),
        ),
        ("pursuit", request("encode", json!({})).with_u8("image", &shape, &image)),
        (
            "learning, thirty passes, and a pursuit",
            request("learn", json!({"passes": 30, "atoms": 81})).with_u8("image", &shape, &image),
        ),
    ];
    for (name, job) in jobs {
        let job = job.to_bytes();
        let mut best = [f64::INFINITY; 2];
        let mut previews = 0;
        for _ in 0..ROUNDS {
            let Some((events, seconds)) = node::run(&job) else { return };
            best[0] = best[0].min(seconds);
            best[1] = best[1].min(natively(&job));
            previews = events.named("preview").count();
        }
        let [module, native] = best;
        println!(
            "{name}, {side}x{side}: module {module:.2} s, native {native:.2} s, ratio {:.2}, \
             {:.1} previews per second",
            module / native,
            previews as f64 / module
        );
    }
}

/// Seconds of a job on one thread with the vectors that most machines have.
fn natively(job: &[u8]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    let level = Level::Avx2;
    #[cfg(not(target_arch = "x86_64"))]
    let level = Level::detect();
    let open = move |_, _| Ok(Box::new(CpuEngine::new(1)?.with_level(level)) as _);
    let (clock, began) = (Clock::start(), processor_seconds());
    assert!(lobcod_web::run(job, &Machine::new(open, None), &mut Events::default()));
    match (began, processor_seconds()) {
        (Some(began), Some(ended)) => ended - began,
        _ => clock.seconds(),
    }
}

/// Processor time of this thread, on Linux.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}
