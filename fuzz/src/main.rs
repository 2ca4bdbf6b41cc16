//! A driver that needs no special compiler: mutates seeds at random and runs a target on them until
//! time is up.
//!
//! `lobcod-fuzz TARGET SECONDS [SEED]`, or `lobcod-fuzz TARGET FILE` to run one input, or
//! `lobcod-fuzz seeds FOLDER` to write the seeds. Failing inputs are saved in `found`, or in the
//! folder given by `LOBCOD_FOUND`.

use lobcod_fuzz::{TARGETS, Target, mutate::mutate, target};
use rand::{Rng as _, RngExt as _};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum time of a case; command lines have their own limits.
const PATIENCE: Duration = Duration::from_secs(90);
/// Distinct failures after which the driver gives up.
const ENOUGH: usize = 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seeds", folder] => write_seeds(Path::new(folder)),
        [name, what, ref rest @ ..] => {
            match (target(name), what.parse::<u64>(), std::fs::read(what)) {
                (Some(target), Ok(seconds), _) => {
                    return drive(
                        target,
                        seconds,
                        rest.first().and_then(|seed| seed.parse().ok()).unwrap_or(0),
                    );
                }
                (Some(target), _, Ok(input)) => (target.run)(&input),
                _ => return usage(),
            }
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    eprintln!(
        "usage: lobcod-fuzz TARGET SECONDS [SEED] | TARGET FILE | seeds FOLDER\ntargets: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

fn write_seeds(folder: &Path) {
    for target in &TARGETS {
        let place = folder.join(target.name);
        std::fs::create_dir_all(&place).expect("a folder");
        for (i, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(place.join(format!("seed-{i}")), seed).expect("a file");
        }
    }
}

fn drive(target: &'static Target, seconds: u64, seed: u64) -> ExitCode {
    let seeds = (target.seeds)();
    seeds.iter().for_each(|input| (target.run)(input));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let running = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    watch(target.name, Arc::clone(&running));
    let (began, mut cases) = (Instant::now(), 0u64);
    let mut failures: Vec<String> = Vec::new();
    std::panic::set_hook(Box::new(|_| {}));
    while began.elapsed().as_secs() < seconds && failures.len() < ENOUGH {
        let mut choices = vec![0; rng.random_range(4..60)];
        rng.fill_bytes(&mut choices);
        let [one, other] = [0, 1].map(|_| &seeds[rng.random_range(0..seeds.len())]);
        let input = mutate(one, other, &choices);
        *running.lock().unwrap() = (Instant::now(), input.clone());
        cases += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text
                .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                .unwrap_or_default();
            // Report each failure once, however many inputs trigger it: digits in the message are
            // ignored.
            let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
            if !failures.contains(&kind) {
                eprintln!(
                    "{}: {text}\n  saved in {}",
                    target.name,
                    keep(target.name, &input).display()
                );
                failures.push(kind);
            }
        }
    }
    let peak = peak_memory().map_or("unknown".into(), lobcod::memory::words);
    println!(
        "{}: {cases} cases in {} s, {} failures, peak memory {peak}",
        target.name,
        began.elapsed().as_secs(),
        failures.len()
    );
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// Ends the process when a case takes too long.
fn watch(name: &'static str, running: Arc<Mutex<(Instant, Vec<u8>)>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (since, input) = &*running.lock().unwrap();
            if since.elapsed() > PATIENCE {
                eprintln!(
                    "{name}: a case takes more than {} s\n  saved in {}",
                    PATIENCE.as_secs(),
                    keep(name, input).display()
                );
                std::process::exit(1);
            }
        }
    });
}

fn keep(name: &str, input: &[u8]) -> PathBuf {
    let found = std::env::var_os("LOBCOD_FOUND").map(PathBuf::from);
    let folder =
        found.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("found")).join(name);
    let path = folder.join(format!("{:08x}", crc32fast::hash(input)));
    let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, input));
    path
}

fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|k| k * 1024)
}
