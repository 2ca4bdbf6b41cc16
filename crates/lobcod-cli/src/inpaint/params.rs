//! Conversion of options to inpainting parameters.

use crate::args::InpaintArgs;
use crate::params::time_limit;
use crate::values::{LearnChoice, Preset};
use anyhow::Result;
use lobcod_tasks::inpaint::{self, InpaintParams, Inpainter};

/// The parameters for these options.
pub fn inpaint(args: &InpaintArgs) -> Result<Inpainter> {
    let mut params = InpaintParams::preset(match args.preset {
        Preset::Fast => inpaint::Preset::Fast,
        Preset::Standard => inpaint::Preset::Standard,
        Preset::Best => inpaint::Preset::Best,
    });
    params.penalty = args.penalty.0;
    params.learn = args.learn.map_or(params.learn, |learn| learn == LearnChoice::Image);
    // Atoms that are given are used.
    let least = usize::from(!args.dictionary.is_empty() || args.size.size.is_some());
    params.variants = args.variants.unwrap_or(params.variants.max(least));
    params.windows = args.windows.clone().unwrap_or(params.windows);
    params.density = args.density.unwrap_or(params.density);
    params.groups = args.groups.unwrap_or(params.groups);
    params.held_out = args.held_out;
    params.everywhere = args.refit_known;
    params.seed = args.run.seed;
    params.time_limit = time_limit(&args.run)?;
    params.max_memory = args.run.max_memory.map(|bytes| bytes.0);
    Ok(params.check()?)
}
