//! Composes frames by a given decision.

use super::compose::Blend;
use super::{Frames, Fuser};
use crate::Rectangle;
use crate::align::{Motion, warp};
use crate::colour;
use lobcod::{Error, Signal};

impl Fuser {
    /// Composes an image of pixels from the frames that `decision` names: the index of a frame for
    /// every pixel of the part `crop` of the frames, which `motions` align. No frame is coded.
    ///
    /// With the decision, the crop and the motions of a [`Fused`](super::Fused) in focus, the image
    /// differs from its image only a little, at edges: the weights follow the edges of the chosen
    /// frames.
    pub fn compose<F: Frames>(
        &self,
        threads: usize,
        frames: &mut F,
        (motions, crop): (&[Motion], Rectangle),
        decision: &Signal<f32>,
    ) -> Result<Signal<f32>, F::Error> {
        let count = frames.count();
        let [_, height, width] = decision.extent().padded();
        if motions.len() != count || [height, width] != crop.size {
            return Err(Error::Shape(format!(
                "the decision of {height}x{width} pixels or the alignment of {} frames does not \
                 fit {count} frames and a crop of {}x{}; fuse them again",
                motions.len(),
                crop.size[0],
                crop.size[1]
            ))
            .into());
        }
        if let Some(&k) = decision.data().iter().find(|&&k| !(k >= 0.0 && (k as usize) < count)) {
            return Err(Error::Data(format!(
                "the decision names frame {k}, but there are {count} frames, counted from 0"
            ))
            .into());
        }
        let chosen: Vec<u16> = decision.data().iter().map(|&k| k as u16).collect();
        let used: Vec<usize> = (0..count).filter(|&k| chosen.contains(&(k as u16))).collect();
        let mut guide = vec![0.0; chosen.len()];
        for &number in &used {
            let placed = self.place(threads, frames, number, (&motions[number], crop))?;
            let light = colour::lightness(&placed, self.params.scale, threads)?;
            for (i, &l) in light.data().iter().enumerate() {
                if chosen[i] as usize == number {
                    guide[i] = l;
                }
            }
        }
        let mut blend: Option<Blend> = None;
        for &number in &used {
            let placed = self.place(threads, frames, number, (&motions[number], crop))?;
            let (extent, channels) = (placed.extent(), placed.channels());
            let blend =
                blend.get_or_insert_with(|| Blend::new(&chosen, &guide, extent, channels, threads));
            blend.add(number, &placed, |_| true);
        }
        Ok(blend.expect("every pixel has a frame").finish()?.0.finite()?)
    }

    /// The part of a frame, aligned.
    fn place<F: Frames>(
        &self,
        threads: usize,
        frames: &mut F,
        number: usize,
        (motion, crop): (&Motion, Rectangle),
    ) -> Result<Signal<f32>, F::Error> {
        let frame = frames.read(number)?;
        let [_, height, width] = frame.extent().padded();
        let inside = |a: usize, length: usize| {
            crop.start[a].checked_add(crop.size[a]).is_some_and(|end| end <= length)
        };
        if !inside(0, height) || !inside(1, width) {
            return Err(
                Error::Shape("the crop is not inside the frames; fuse them again".into()).into()
            );
        }
        let frame = if motion.is_still() { frame } else { warp(&frame, motion, threads) };
        Ok(crop.crop(&frame)?)
    }
}
