//! Correlations with atoms of rank 1 over many channels.
//!
//! Atom `k` is `u_k v_k^T`. The footprint of a tile is projected on every `u_k` once; then a
//! correlation is a dot product with `v_k`: `C + L` multiply-adds per atom and position instead of
//! `C L`. Where a code changes, the projections follow by the products of the `u`.

use crate::dictionary::Dictionary;
use crate::engine::cpu::data::footprint::Layout;
use crate::real::Real;
use crate::simd::{AtomRows, Vector, add_atom, dot_atom, project};

/// Channels from which projecting pays off.
const LEAST_CHANNELS: usize = 8;

/// The factors of a dictionary of rank 1.
pub struct RankOne<T> {
    channels: usize,
    atoms: usize,
    /// `u_k` of every atom, channel by channel.
    u: Vec<T>,
    /// `v_k` of every atom.
    v: AtomRows<T>,
    /// `<u_j, u_k>`.
    products: Vec<T>,
}

/// The projections of a footprint on every `u_k`.
pub struct Projected<T> {
    /// One channel per atom.
    field: Vec<T>,
    /// Whether the field belongs to the current residual of the tile.
    valid: bool,
    /// Samples correlated in the tile without projections.
    direct: usize,
}

impl<T: Real> Projected<T> {
    pub fn new() -> Self {
        Self { field: Vec::new(), valid: false, direct: 0 }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.field[..])
    }

    /// Forgets the projections, which belong to another residual.
    pub fn begin(&mut self) {
        self.valid = false;
        self.direct = 0;
    }
}

impl<T: Real> RankOne<T> {
    /// The factors; `None` if an atom has a higher rank or there are few channels.
    pub fn of(dictionary: &Dictionary<T>, lanes: usize) -> Option<Self> {
        let (channels, atoms) = (dictionary.channels(), dictionary.len());
        let factors = (channels >= LEAST_CHANNELS).then(|| dictionary.factors())??;
        let (u, samples) = (factors.u, dictionary.extent().volume());
        let product = |j: usize, k: usize| {
            let [a, b] = [j, k].map(|k| &u[k * channels..(k + 1) * channels]);
            T::from_f64(a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum())
        };
        let products = (0..atoms * atoms).map(|i| product(i / atoms, i % atoms)).collect();
        let v = AtomRows::from_data(&factors.v, dictionary.extent().padded()[2], samples, lanes);
        Some(Self { channels, atoms, u, v, products })
    }

    pub fn bytes(&self) -> usize {
        (self.u.len() + self.products.len()) * size_of::<T>() + self.v.bytes()
    }

    /// Whether to correlate this many needles by projections, which are made once that costs less
    /// than what was correlated without them.
    #[inline(always)]
    pub fn takes<V: Vector<Elem = T>>(
        &self,
        needles: usize,
        layout: &Layout,
        residual: &[T],
        projected: &mut Projected<T>,
    ) -> bool {
        projected.direct += needles * layout.patch.len() / self.channels;
        if !projected.valid && projected.direct > layout.strides[2] {
            projected.field.resize(self.atoms * layout.strides[2], T::ZERO);
            let stride = layout.strides[2];
            project::<V>(&self.u, self.channels, residual, &mut projected.field, stride, 0..stride);
            projected.valid = true;
        }
        projected.valid
    }

    /// `out[j] = D^T (patch at offsets[j])`, `width` numbers each; the padding is 0.
    #[inline(always)]
    pub fn correlate<V: Vector<Elem = T>>(
        &self,
        layout: &Layout,
        projected: &Projected<T>,
        offsets: &[u32],
        width: usize,
        out: &mut [T],
    ) {
        let stride = layout.strides[2];
        for k in 0..self.atoms {
            let field = &projected.field[k * stride..(k + 1) * stride];
            for (j, &offset) in offsets.iter().enumerate() {
                out[j * width + k] =
                    dot_atom::<V>(&self.v, k, &layout.channel_rows, field, offset as usize);
            }
        }
        for j in 0..offsets.len() {
            out[j * width + self.atoms..(j + 1) * width].fill(T::ZERO);
        }
    }

    /// Follows a change of the residual by `back` times an atom, or by that times the weights of a
    /// clipped patch.
    #[inline(always)]
    pub fn follow<V: Vector<Elem = T>>(
        &self,
        layout: &Layout,
        residual: &[T],
        projected: &mut Projected<T>,
        change: Change<T>,
    ) {
        let stride = layout.strides[2];
        if !projected.valid {
            return;
        }
        if change.clipped {
            let range = change.offset..(change.offset + layout.channel_rows.last() + 1).min(stride);
            let into = &mut projected.field;
            return project::<V>(&self.u, self.channels, residual, into, stride, range);
        }
        for j in 0..self.atoms {
            let field = &mut projected.field[j * stride..(j + 1) * stride];
            let scale = change.back * self.products[j * self.atoms + change.atom];
            let (rows, at) = (&layout.channel_rows, change.offset);
            add_atom::<V>(&self.v, change.atom, rows, field, None, at, scale);
        }
    }
}

/// A change of one code.
pub struct Change<T> {
    pub atom: usize,
    pub offset: usize,
    pub back: T,
    pub clipped: bool,
}
