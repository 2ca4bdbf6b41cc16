//! Learns with one of the baselines and saves the dictionary at geometrically growing times, for
//! `paper/batch.py` and `paper/online.py`.
//!
//! `cargo run --release -p lobcod-baselines --example baseline_learn -- METHOD FIRST PENALTY
//! SECONDS FOLDER SIGNAL...`
//!
//! `METHOD`: `ksvd` or `mod` (slice-based learning), `slices` (slice-based pursuit with the first
//! atoms), `spatial` (stochastic gradients, cycling through the signals). Signals are used without
//! a base layer. One thread. A line `SECONDS PASSES` is printed for every dictionary, which is
//! saved in `FOLDER` under the number of the line.

use lobcod::{Dictionary, Error, Observed, Result};
use lobcod_baselines::{Sbdl, SpatialSgd, Update};
use lobcod_io::{ReadOptions, read_dictionary, read_image, write_dictionary};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ratio of the times of consecutive saved dictionaries.
const GROWTH: f64 = 1.35;

struct Folder {
    path: PathBuf,
    written: usize,
    last: f64,
}

impl Folder {
    fn keep(
        &mut self,
        seconds: f64,
        passes: usize,
        dictionary: &Dictionary<f64>,
        last: bool,
    ) -> Result<()> {
        if !last && self.written > 0 && seconds < GROWTH * self.last {
            return Ok(());
        }
        write_dictionary(&self.path.join(format!("{:03}.npy", self.written)), dictionary, &[])
            .map_err(file)?;
        println!("{seconds:.4} {passes}");
        (self.written, self.last) = (self.written + 1, seconds);
        Ok(())
    }
}

fn file(error: lobcod_io::Error) -> Error {
    Error::Data(error.to_string())
}

fn slices(
    update: Option<Update>,
    penalty: f64,
    limit: f64,
    first: &Dictionary<f64>,
    signals: &[Observed<f64>],
    into: &mut Folder,
) -> Result<()> {
    let time_limit = Some(Duration::from_secs_f64(limit));
    let sbdl =
        Sbdl { update, iterations: usize::MAX, measure_every: 1, time_limit, ..Sbdl::new(penalty) };
    let history = sbdl.run(signals, first)?.history;
    for (i, point) in history.iter().enumerate() {
        into.keep(point.seconds, point.iteration, &point.dictionary, i + 1 == history.len())?;
    }
    Ok(())
}

fn spatial(
    penalty: f64,
    limit: f64,
    first: &Dictionary<f64>,
    signals: &[Observed<f64>],
    into: &mut Folder,
) -> Result<()> {
    let mut learner = SpatialSgd::new(penalty, first);
    learner.threads = 1;
    let mut seconds = 0.0;
    for (seen, signal) in signals.iter().cycle().enumerate() {
        let clock = Instant::now();
        learner.step(signal)?;
        seconds += clock.elapsed().as_secs_f64();
        into.keep(seconds, seen + 1, learner.dictionary(), seconds > limit)?;
        if seconds > limit {
            break;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [method, first, penalty, limit, folder, signals @ ..] = &words[..] else {
        return Err(Error::Data(
            "usage: learn METHOD FIRST PENALTY SECONDS FOLDER SIGNAL...".into(),
        ));
    };
    let number = |word: &String| {
        word.parse::<f64>().map_err(|_| Error::Data(format!("{word} is not a number")))
    };
    let (penalty, limit) = (number(penalty)?, number(limit)?);
    let first = read_dictionary::<f64>(Path::new(first)).map_err(file)?;
    let read = |path: &String| {
        Ok(read_image::<f64>(Path::new(path), &ReadOptions::default()).map_err(file)?.signal.into())
    };
    let signals = signals.iter().map(read).collect::<Result<Vec<Observed<f64>>>>()?;
    let mut folder = Folder { path: PathBuf::from(folder), written: 0, last: 0.0 };
    match method.as_str() {
        "slices" => slices(None, penalty, limit, &first, &signals, &mut folder),
        "ksvd" => slices(Some(Update::Ksvd), penalty, limit, &first, &signals, &mut folder),
        "mod" => slices(Some(Update::Mod), penalty, limit, &first, &signals, &mut folder),
        "spatial" => spatial(penalty, limit, &first, &signals, &mut folder),
        _ => {
            Err(Error::Data(format!("{method} is not a method; use ksvd, mod, slices or spatial")))
        }
    }
}
