//! Defaults of the command line are those of the library.

use super::*;
use crate::params::USUAL_PENALTY;
use crate::{denoise, encode, fuse, inpaint, learn, separate};
use lobcod::{LearnParams, Penalty, PursuitParams};
use lobcod_tasks::denoise::{DenoiseParams, Noise};
use lobcod_tasks::fuse::FuseParams;
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::separate::SeparateParams;

const PENALTY: Penalty = Penalty::Relative(USUAL_PENALTY);

fn parse(line: &str) -> AnyCommand {
    let matches = Cli::tree().get_matches_from(line.split_whitespace());
    Cli::from_arg_matches(&matches).unwrap().command
}

#[test]
fn defaults_are_those_of_the_library() {
    let AnyCommand::Encode(args) = parse("lobcod encode a.png") else { unreachable!() };
    assert_eq!(*encode::pursuit(&args).unwrap().params(), PursuitParams::new(PENALTY));
    let AnyCommand::Learn(args) = parse("lobcod learn a.png -o d.npz") else { unreachable!() };
    assert_eq!(*learn::learner(&args).unwrap().params(), LearnParams::new(PENALTY));
    let AnyCommand::Inpaint(args) = parse("lobcod inpaint a.png -o b.png") else { unreachable!() };
    assert_eq!(*inpaint::inpaint(&args).unwrap().params(), InpaintParams::default());
    let AnyCommand::Fuse(args) = parse("lobcod fuse a.png b.png -o c.png") else { unreachable!() };
    assert_eq!(fuse::params(&args).unwrap(), FuseParams::default());
    let AnyCommand::Denoise(args) = parse("lobcod denoise a.png -o b.png") else { unreachable!() };
    assert_eq!(*denoise::denoiser(&args).unwrap().params(), DenoiseParams::new(Noise::Auto));
    let line = "lobcod separate a.png --smooth-out b.png --texture-out c.png";
    let AnyCommand::Separate(args) = parse(line) else { unreachable!() };
    assert_eq!(*separate::separator(&args).unwrap().params(), SeparateParams::new(PENALTY));
}
