//! The two rows of slice-based learning in the paper's table of inpainting, compared with lobcod:
//! PSNR with outside atoms, and with atoms learnt on the damaged image.
//!
//! `cargo run --release -p lobcod-baselines --example baseline_inpaint -- IMAGE KNOWN PENALTY
//! [ITERATIONS [DICTIONARY|natural [ROW...]]]`
//!
//! `KNOWN` is a mask, non-zero where the image is known; `PENALTY` is that of the slices (lobcod
//! chooses its own). Rows: `outside`, `ksvd`, `mod`, `lobcod`, `lobcod-learnt`; all, if none is
//! given.

use lobcod::base::Base;
use lobcod::engine::CpuEngine;
use lobcod::{Dictionary, Error, Mask, Observed, Result, Signal};
use lobcod_baselines::{Sbdl, Update};
use lobcod_io::{Polarity, ReadOptions, read_dictionary, read_image, read_mask};
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::metrics;
use std::path::Path;
use std::time::Instant;

struct Scene {
    image: Signal<f64>,
    known: Mask<f64>,
    atoms: Dictionary<f64>,
    penalty: f64,
    iterations: usize,
}

impl Scene {
    fn slices(&self, update: Option<Update>) -> Result<f64> {
        let base = Base::LocalMean.layer(&self.image, Some(&self.known), self.atoms.extent())?;
        let details =
            [Observed { mask: Some(self.known.clone()), ..self.image.minus(&base)?.into() }];
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let warm_up = self.iterations / 2;
        let sbdl = Sbdl {
            update,
            iterations: self.iterations,
            measure_every: self.iterations,
            warm_up,
            threads,
            ..Sbdl::new(self.penalty)
        };
        let answer = sbdl.run(&details, &self.atoms)?;
        metrics::psnr(
            &answer.needles[0].synthesise(&answer.dictionary)?.plus(&base)?,
            &self.image,
            255.0,
        )
    }

    fn lobcod(&self, learn: bool) -> Result<f64> {
        let params = InpaintParams::default().with(|p| p.learn = learn);
        let answer = params.check()?.run(
            &CpuEngine::new(0)?,
            &self.image,
            &self.known,
            std::slice::from_ref(&self.atoms),
            &mut (),
        )?;
        metrics::psnr(&answer.fit, &self.image, 255.0)
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, known, penalty, rest @ ..] = &words[..] else {
        return Err(Error::Data(
            "usage: inpaint IMAGE KNOWN PENALTY [ITERATIONS [DICTIONARY|natural [ROW...]]]".into(),
        ));
    };
    let number = |word: &String| {
        word.parse::<f64>().map_err(|_| Error::Data(format!("{word} is not a number")))
    };
    let file = |error: lobcod_io::Error| Error::Data(error.to_string());
    let image = read_image::<f64>(Path::new(image), &ReadOptions::default()).map_err(file)?.signal;
    let known: Mask<f64> =
        read_mask(Path::new(known), Polarity::Known, image.extent(), None).map_err(file)?;
    let atoms = match rest.get(1).map(String::as_str) {
        None | Some("natural") => Dictionary::natural(),
        Some(path) => read_dictionary(Path::new(path)).map_err(file)?,
    };
    let iterations = rest.first().map_or(Ok(100.0), number)? as usize;
    let scene = Scene { image, known, atoms, penalty: number(penalty)?, iterations };
    let selected = rest.get(2..).unwrap_or_default();
    for (row, title) in [
        ("outside", "slices, outside atoms"),
        ("ksvd", "slices, K-SVD atoms"),
        ("mod", "slices, MOD atoms"),
        ("lobcod", "lobcod, outside atoms"),
        ("lobcod-learnt", "lobcod, learnt atoms"),
    ] {
        if !selected.is_empty() && !selected.iter().any(|word| word == row) {
            continue;
        }
        let clock = Instant::now();
        let decibels = match row {
            "outside" => scene.slices(None)?,
            "ksvd" => scene.slices(Some(Update::Ksvd))?,
            "mod" => scene.slices(Some(Update::Mod))?,
            _ => scene.lobcod(row == "lobcod-learnt")?,
        };
        println!("{title:23} {decibels:.2} dB, {:.1} s", clock.elapsed().as_secs_f64());
    }
    Ok(())
}
