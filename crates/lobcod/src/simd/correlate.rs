//! Correlation of many patches with all atoms: the machine-limited part.

use super::vector::Vector;
use crate::dictionary::Dictionary;
use crate::real::Real;

/// The dictionary in the order the correlation reads it: panels of two vectors of atoms, a last panel of one where the number of
/// vectors is odd, each panel sample after sample. Atoms beyond `m` are zero.
pub(crate) struct PackedAtoms<T> {
    panels: Vec<T>,
    /// Numbers in an atom, `n`.
    samples: usize,
    /// Atoms rounded up to whole vectors: length of a correlation.
    pub(crate) stride: usize,
    lanes: usize,
}

impl<T: Real> PackedAtoms<T> {
    pub(crate) fn new(dictionary: &Dictionary<T>, lanes: usize) -> Self {
        let (samples, stride) = (dictionary.atom_len(), dictionary.len().next_multiple_of(lanes));
        let mut panels = vec![T::ZERO; stride * samples];
        for (panel, first) in panels.chunks_mut(2 * lanes * samples).zip((0..).step_by(2 * lanes)) {
            let width = panel.len() / samples;
            for k in first..(first + width).min(dictionary.len()) {
                let lane = panel[k - first..].iter_mut().step_by(width);
                lane.zip(dictionary.atom(k)).for_each(|(to, &d)| *to = d);
            }
        }
        Self { panels, samples, stride, lanes }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.panels[..])
    }
}

/// `out[j] = D^T (patch at offsets[j])` for every needle `j`: `stride` numbers each. Sample `p` of a patch lies at `field[offset + patch[p]]`.
///
/// Every output is one chain of multiply-adds over `p` in order, so it does not depend on the needles beside it.
#[inline(always)]
pub(crate) fn correlate<V: Vector>(
    atoms: &PackedAtoms<V::Elem>,
    field: &[V::Elem],
    patch: &[u32],
    offsets: &[u32],
    out: &mut [V::Elem],
) where
    V::Elem: Real,
{
    assert_eq!(atoms.lanes, V::LANES);
    assert_eq!(patch.len(), atoms.samples);
    assert!(out.len() >= offsets.len() * atoms.stride);
    let reach = patch.iter().copied().max().unwrap_or(0) as usize;
    assert!(offsets.iter().all(|&o| o as usize + reach < field.len()));
    let mut first = 0;
    while first < atoms.stride {
        let width = (2 * V::LANES).min(atoms.stride - first);
        // SAFETY: a panel holds `width` numbers for each of the `samples` patch entries; offsets and reach were checked against the
        // field, the output length against the needles.
        unsafe {
            let panel = atoms.panels.as_ptr().add(first * atoms.samples);
            let out = out.as_mut_ptr().add(first);
            if width == V::LANES {
                columns::<V, 1>(panel, field.as_ptr(), patch, offsets, out, atoms.stride);
            } else {
                columns::<V, 2>(panel, field.as_ptr(), patch, offsets, out, atoms.stride);
            }
        }
        first += width;
    }
}

/// All needles against one panel, six at a time (twelve for a narrow panel) so that the accumulators hide the latency.
#[inline(always)]
unsafe fn columns<V: Vector, const WIDE: usize>(
    panel: *const V::Elem,
    field: *const V::Elem,
    patch: &[u32],
    offsets: &[u32],
    out: *mut V::Elem,
    stride: usize,
) {
    let mut j = 0;
    macro_rules! step {
        ($n:literal) => {{
            // SAFETY: the caller vouches for panel, field and out; `j + n` needles are left.
            unsafe { block::<V, WIDE, $n>(panel, field, patch, &offsets[j..j + $n], out.add(j * stride), stride) };
            j += $n;
        }};
    }
    if WIDE == 1 {
        while offsets.len() - j >= 12 {
            step!(12);
        }
    }
    while offsets.len() - j >= 6 {
        step!(6);
    }
    match offsets.len() - j {
        1 => step!(1),
        2 => step!(2),
        3 => step!(3),
        4 => step!(4),
        5 => step!(5),
        _ => {}
    }
    debug_assert_eq!(j, offsets.len());
}

#[inline(always)]
unsafe fn block<V: Vector, const WIDE: usize, const NEEDLES: usize>(
    panel: *const V::Elem,
    field: *const V::Elem,
    patch: &[u32],
    offsets: &[u32],
    out: *mut V::Elem,
    stride: usize,
) where
    V::Elem: Copy,
{
    // SAFETY: as vouched for by the caller: every address lies inside panel, field and out.
    unsafe {
        let base: [*const V::Elem; NEEDLES] = std::array::from_fn(|j| field.add(offsets[j] as usize));
        let zero = V::splat(std::mem::zeroed());
        let mut sums = [[zero; WIDE]; NEEDLES];
        let mut atoms = panel;
        for &p in patch {
            let d: [V; WIDE] = std::array::from_fn(|v| V::load(atoms.add(v * V::LANES)));
            for j in 0..NEEDLES {
                let x = V::splat(*base[j].add(p as usize));
                for v in 0..WIDE {
                    sums[j][v] = d[v].mul_add(x, sums[j][v]);
                }
            }
            atoms = atoms.add(WIDE * V::LANES);
        }
        for (j, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                sum.store(out.add(j * stride + v * V::LANES));
            }
        }
    }
}
