//! Takes chosen pixels of a fused image from chosen frames.

use super::compose::Blend;
use super::{Frames, Fused, Fuser};
use crate::Rectangle;
use crate::align::{Motion, warp};
use crate::colour;
use lobcod::{Error, Signal};

impl Fuser {
    /// Takes pixels of a fused image from the frames that `painted` names: the index of a frame, or
    /// NaN where the image is kept. `motions` align the frames, and `crop` is the part of them that
    /// the image covers. Painted regions are blended in along the edges of the image.
    pub fn repaint<F: Frames>(
        &self,
        threads: usize,
        frames: &mut F,
        image: &Signal<f32>,
        (motions, crop): (&[Motion], Rectangle),
        painted: &Signal<f32>,
    ) -> Result<Signal<f32>, F::Error> {
        let count = frames.count();
        let [_, height, width] = painted.extent().padded();
        let [_, rows, columns] = image.extent().padded();
        if motions.len() != count || [[height, width], crop.size] != [[rows, columns]; 2] {
            return Err(Error::Shape(format!(
                "the painted map of {width}x{height} pixels or the alignment of {} frames does \
                 not fit {count} frames and a fused image of {columns}x{rows} pixels; fuse them \
                 again",
                motions.len()
            ))
            .into());
        }
        let is_frame = |k: f32| k >= 0.0 && k.fract() == 0.0 && (k as usize) < count;
        if let Some(&k) = painted.data().iter().find(|&&k| !k.is_nan() && !is_frame(k)) {
            return Err(Error::Data(format!(
                "the painted map names frame {k}, but there are {count} frames, counted from 0"
            ))
            .into());
        }
        // The image itself counts as one more frame.
        let chosen: Vec<u16> = painted
            .data()
            .iter()
            .map(|&k| if k.is_nan() { count as u16 } else { k as u16 })
            .collect();
        let used: Vec<usize> = (0..=count).filter(|&k| chosen.contains(&(k as u16))).collect();
        let mut layer = |number: usize| -> Result<Signal<f32>, F::Error> {
            if number == count {
                return Ok(image.clone());
            }
            self.place(threads, frames, number, (&motions[number], crop))
        };
        let mut guide = vec![0.0; chosen.len()];
        for &number in &used {
            let light = colour::lightness(&layer(number)?, self.params.scale, threads)?;
            for (i, &l) in light.data().iter().enumerate() {
                if chosen[i] as usize == number {
                    guide[i] = l;
                }
            }
        }
        let mut blend = Blend::new(&chosen, &guide, image.extent(), image.channels(), threads);
        for &number in &used {
            blend.add(number, &layer(number)?, |_| true);
        }
        Ok(blend.finish()?.0.finite()?)
    }

    /// A fused image with pixels from the frames that `painted` names, as in
    /// [`repaint`](Self::repaint), and its decision. The depth is kept.
    pub fn repainted<F: Frames>(
        &self,
        threads: usize,
        frames: &mut F,
        mut fused: Fused,
        painted: &Signal<f32>,
    ) -> Result<Fused, F::Error> {
        let place = (&fused.motions[..], fused.crop);
        fused.image = self.repaint(threads, frames, &fused.image, place, painted)?;
        let decided = fused.decision.data_mut().iter_mut().zip(painted.data());
        decided.filter(|(_, k)| !k.is_nan()).for_each(|(frame, &k)| *frame = k);
        Ok(fused)
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
