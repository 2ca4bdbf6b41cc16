//! Correlations of every channel with one-channel atoms, for joint sparsity.

use crate::engine::JointNorm;
use crate::engine::cpu::data::atoms::{Atoms, ColumnStore, MaskedColumns, PlainColumns};
use crate::engine::cpu::data::footprint::Layout;
use crate::lasso::{Columns, GroupColumns};
use crate::real::Real;

impl<T: Real> Atoms<T> {
    /// Correlations of the patches at these offsets, channel by channel, with all atoms.
    pub fn correlate_channels(&self, layout: &Layout, field: &[T], offsets: &[u32], out: &mut [T]) {
        let channel = layout.strides[2] as u32;
        let all = |&at: &u32| (0..layout.channels as u32).map(move |c| at + c * channel);
        let offsets: Vec<u32> = offsets.iter().flat_map(all).collect();
        self.packed.correlate(field, &layout.channel_patch, &offsets, out);
    }

    /// Largest dual norm of the correlations of an atom, relative to its weight, of each patch.
    pub fn joint_reach(
        &self,
        norm: JointNorm,
        layout: &Layout,
        field: &[T],
        offsets: &[u32],
        nonnegative: bool,
        out: &mut [T],
    ) {
        let (stride, channels) = (self.packed.stride, layout.channels);
        let mut all = vec![T::ZERO; offsets.len() * channels * stride];
        self.correlate_channels(layout, field, offsets, &mut all);
        if nonnegative {
            all.iter_mut().for_each(|c| *c = c.max(T::ZERO));
        }
        let (mut norms, mut sizes) = (vec![T::ZERO; stride], vec![0.0; channels]);
        for (reach, c) in out.iter_mut().zip(all.chunks_exact(channels * stride)) {
            norms.fill(T::ZERO);
            for c in c.chunks_exact(stride) {
                norms.iter_mut().zip(c).for_each(|(sum, &c)| *sum += c * c);
            }
            let (mut first, mut largest) = (0, T::ZERO);
            for (k, (norm, &inverse)) in norms.iter_mut().zip(&self.inverse_weights).enumerate() {
                *norm = norm.sqrt() * inverse;
                if *norm > largest {
                    (first, largest) = (k, *norm);
                }
            }
            let mut dual = |k: usize| {
                let of_atom = c[k..].iter().step_by(stride);
                sizes.iter_mut().zip(of_atom).for_each(|(size, c)| *size = c.to_f64().abs());
                T::from_f64(norm.dual(&sizes)) * self.inverse_weights[k]
            };
            // The Euclidean norm is an upper bound, so few atoms need more.
            let mut most = dual(first);
            for (k, &bound) in norms.iter().enumerate() {
                if bound > most && k != first {
                    most = most.max(dual(k));
                }
            }
            *reach = most;
        }
    }
}

impl<T: Real> GroupColumns<T> for PlainColumns<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize, _: usize) -> &[T] {
        Columns::column(self, atom)
    }
}

/// Columns of the masked Gram matrices of the channels of one patch.
pub struct MaskedChannels<'a, T> {
    pub atoms: &'a Atoms<T>,
    pub weights: &'a [T],
    pub layout: &'a Layout,
    pub offset: usize,
    /// One per channel.
    pub stores: &'a mut [ColumnStore<T>],
}

impl<T: Real> GroupColumns<T> for MaskedChannels<'_, T> {
    #[inline(always)]
    fn column(&mut self, atom: usize, channel: usize) -> &[T] {
        let Self { atoms, weights, layout, offset, stores } = self;
        let offset = *offset + channel * layout.strides[2];
        let patch = &layout.channel_patch;
        MaskedColumns::continued(atoms, weights, patch, offset, &mut stores[channel])
            .into_column(atom)
    }
}
