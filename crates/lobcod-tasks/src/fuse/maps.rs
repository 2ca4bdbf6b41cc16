//! Fusion as in the paper: codes and smooth layers of the chosen frames.

use super::activity::centre;
use super::params::FuseBase;
use crate::separate::Layers;
use lobcod::{Code, Dictionary, Needles, Result, Signal};

/// Codes, smooth layer and chroma of the frames chosen so far.
pub struct Maps {
    codes: Vec<Code<f32>>,
    base: Signal<f32>,
    /// `a` and `b` of Lab, if the frames have colours.
    chroma: Option<Signal<f32>>,
    kind: FuseBase,
    frames: usize,
}

impl Maps {
    pub fn new(kind: FuseBase, like: &Signal<f32>) -> Self {
        let chroma = (like.channels() == 3).then(|| Signal::zeros(like.extent(), 2));
        Self { codes: Vec::new(), base: Signal::zeros(like.extent(), 1), chroma, kind, frames: 0 }
    }

    /// Copies the parts chosen from the newest frame; `lab` is that frame if it has colours.
    pub fn add(
        &mut self,
        number: usize,
        frame: &[u16],
        layers: &Layers<f32>,
        lab: Option<&Signal<f32>>,
        dictionary: &Dictionary<f32>,
    ) {
        let [_, height, width] = self.base.extent().padded();
        let atom = dictionary.extent().padded();
        let own = |i: usize| frame[i] as usize == number;
        let belongs = |code: &Code<f32>| own(centre(code, atom, [height, width]));
        self.codes.retain(|code| !belongs(code));
        self.codes.extend(layers.needles.codes().iter().filter(|code| belongs(code)));
        for (i, (sum, b)) in self.base.data_mut().iter_mut().zip(layers.base.data()).enumerate() {
            match self.kind {
                FuseBase::Average => *sum += b,
                FuseBase::Select if own(i) => *sum = *b,
                FuseBase::Select => {}
            }
        }
        if let (Some(chroma), Some(lab)) = (&mut self.chroma, lab) {
            let volume = height * width;
            for (i, x) in chroma.data_mut().iter_mut().enumerate().filter(|(i, _)| own(i % volume))
            {
                *x = lab.data()[volume + i];
            }
        }
        self.frames += 1;
    }

    /// Lightness, followed by chroma if there is any.
    pub fn image(mut self, dictionary: &Dictionary<f32>) -> Result<Signal<f32>> {
        if self.kind == FuseBase::Average {
            let fraction = 1.0 / self.frames as f32;
            self.base.data_mut().iter_mut().for_each(|x| *x *= fraction);
        }
        let needles = Needles::new(self.base.extent(), 1, lobcod::Border::Free, self.codes);
        let light = needles.synthesise(dictionary)?.plus(&self.base)?;
        let (extent, chroma) = (light.extent(), self.chroma);
        let channels = if chroma.is_some() { 3 } else { 1 };
        let mut data = light.into_data();
        data.extend(chroma.into_iter().flat_map(Signal::into_data));
        Signal::from_planar(extent, channels, data)
    }
}
