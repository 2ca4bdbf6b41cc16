//! Time of the stages of a pursuit, compared with the limits of the machine:
//!
//! ```text
//! cargo xtask speed                      every stage of the default workloads, compared with its limit
//! cargo xtask speed passes fruit-20      the same with every call of one workload
//! cargo xtask speed threads 4096 [1 16]  these numbers of threads (default 1, 2, 4, ...) on a procedural image of this side
//! cargo xtask speed scale 8192           one thread, images of 512 up to this side: time and memory per pixel
//! cargo xtask speed bands 8192 300       an image of this side in bands of this many MiB, one thread
//! cargo xtask speed stream 1000          learning from a stream of this many images of 256x256
//! cargo xtask speed precision            f64 compared with f32
//! ```

mod bands;
mod ceilings;
#[path = "../peak.rs"]
mod peak;
mod scaling;
mod stages;
mod streaming;
mod timed;
mod workloads;

use ceilings::Ceilings;
use lobcod_simd::Level;

fn main() -> lobcod::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let side = |word: &str| word.parse().unwrap_or_else(|_| panic!("{word} is not a number"));
    match words[..] {
        ["threads", word, ref counts @ ..] => {
            return scaling::threads(
                side(word),
                &counts.iter().map(|word| side(word)).collect::<Vec<_>>(),
            );
        }
        ["scale", word] => return scaling::scale(side(word)),
        ["bands", word, memory] => return bands::bands(side(word), side(memory)),
        ["stream", word] => return streaming::stream(side(word)),
        ["precision"] => return scaling::precision(),
        _ => {}
    }
    let passes = words.first() == Some(&"passes");
    let wanted = if passes { &words[1..] } else { &words[..] };
    let ceilings = Ceilings::measure()?;
    println!(
        "one core, {}: {:.0} GFLOP/s of multiply-adds; reads {:.0} GB/s from L1, {:.0} from L2, \
         {:.0} from memory\n",
        Level::detect(),
        ceilings.peak,
        ceilings.l1,
        ceilings.l2,
        ceilings.memory
    );
    for load in workloads::all()? {
        if wanted.is_empty() || wanted.contains(&load.name.as_str()) {
            stages::print(&load, &ceilings, 7, passes)?;
        }
    }
    Ok(())
}
