//! The two rows of slice-based learning in the paper's table of inpainting, beside lobcod's: PSNR with outside atoms, and with atoms learnt
//! on the damaged picture.
//!
//! `cargo run --release -p lobcod-baselines --example inpaint -- PICTURE KNOWN PENALTY [ITERATIONS]`
//!
//! `KNOWN` is a mask, non-zero where the picture is known; `PENALTY` is that of the slices (lobcod chooses its own).

use lobcod::base::Base;
use lobcod::tasks::inpaint::InpaintParams;
use lobcod::{Dictionary, Error, Mask, Observed, Result, Signal, metrics};
use lobcod_baselines::{Sbdl, Update};
use lobcod_image::{Polarity, ReadOptions, read_mask, read_picture};
use std::path::Path;

fn slices(picture: &Signal<f64>, known: &Mask<f64>, penalty: f64, iterations: usize, update: Option<Update>) -> Result<f64> {
    let first = Dictionary::<f64>::natural();
    let base = Base::LocalMean.layer(picture, Some(known), first.extent())?;
    let details = [Observed { mask: Some(known.clone()), ..picture.minus(&base)?.into() }];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let sbdl = Sbdl { update, iterations, warm_up: iterations / 2, threads, ..Sbdl::new(penalty) };
    let answer = sbdl.run(&details, &first)?;
    metrics::psnr(&answer.needles[0].synthesise(&answer.dictionary)?.plus(&base)?, picture, 255.0)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [picture, known, penalty, rest @ ..] = &words[..] else {
        return Err(Error::Data("usage: inpaint PICTURE KNOWN PENALTY [ITERATIONS]".into()));
    };
    let number = |word: &String| word.parse::<f64>().map_err(|_| Error::Data(format!("{word} is not a number")));
    let (penalty, iterations) = (number(penalty)?, rest.first().map_or(Ok(100.0), number)? as usize);
    let file = |error: lobcod_image::Error| Error::Data(error.to_string());
    let picture = read_picture::<f64>(Path::new(picture), &ReadOptions::default()).map_err(file)?.signal;
    let known: Mask<f64> = read_mask(Path::new(known), Polarity::Known, picture.extent()).map_err(file)?;
    println!("slices, outside atoms   {:.2} dB", slices(&picture, &known, penalty, iterations, None)?);
    for (name, update) in [("slices, K-SVD atoms", Update::Ksvd), ("slices, MOD atoms", Update::Mod)] {
        println!("{name:23} {:.2} dB", slices(&picture, &known, penalty, iterations, Some(update))?);
    }
    for (name, learn) in [("lobcod, outside atoms", false), ("lobcod, learnt atoms", true)] {
        let params = InpaintParams { learn, ..InpaintParams::default() };
        let answer = params.check()?.run(&picture, &known, &[Dictionary::natural()], &mut ())?;
        println!("{name:23} {:.2} dB at penalty {:.2}", metrics::psnr(&answer.fit, &picture, 255.0)?, answer.report.penalty);
    }
    Ok(())
}
