//! One atom against one patch: dot product and update.

use super::Aligned;
use super::Vector;
use crate::dictionary::Dictionary;
use crate::real::Real;

/// Atoms with every row padded by zeros to whole vectors, so that rows have no tail.
pub struct AtomRows<T> {
    data: Aligned<T>,
    /// Length of a row.
    row: usize,
    /// Length of a padded row.
    pub width: usize,
    /// Rows of an atom.
    pub rows: usize,
}

impl<T: Real> AtomRows<T> {
    pub fn new(dictionary: &Dictionary<T>, lanes: usize) -> Self {
        Self::from_data(
            dictionary.data(),
            dictionary.extent().padded()[2],
            dictionary.atom_len(),
            lanes,
        )
    }

    /// Rows of `row` numbers, `atom_len` numbers per atom, of any norm.
    pub fn from_data(atoms: &[T], row: usize, atom_len: usize, lanes: usize) -> Self {
        let width = row.next_multiple_of(lanes);
        let mut rows = Self {
            data: Aligned::new(atoms.len() / row * width),
            row,
            width,
            rows: atom_len / row,
        };
        rows.fill(atoms);
        rows
    }

    /// Copies other atoms of the same shape.
    pub fn fill(&mut self, atoms: &[T]) {
        if self.row == self.width {
            return self.data.copy_from_slice(atoms);
        }
        for (into, line) in self.data.chunks_exact_mut(self.width).zip(atoms.chunks_exact(self.row))
        {
            into[..self.row].copy_from_slice(line);
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.data[..])
    }

    /// Atom `k`, its rows padded.
    #[inline(always)]
    pub fn atom(&self, k: usize) -> &[T] {
        &self.data[k * self.rows * self.width..(k + 1) * self.rows * self.width]
    }
}

/// Offsets of the rows of a patch; `last` is the last sample a padded row touches.
pub struct PatchRows {
    offsets: Vec<u32>,
    last: usize,
}

impl PatchRows {
    pub fn new(offsets: Vec<u32>, width: usize) -> Self {
        let last = offsets.iter().copied().max().unwrap_or(0) as usize + width - 1;
        Self { offsets, last }
    }

    /// The last sample that a padded row touches, from the start of the patch.
    pub fn last(&self) -> usize {
        self.last
    }
}

macro_rules! for_vectors {
    ($v:ident, $rows:ident, $width:expr, |$i:ident, $at:ident| $body:block) => {
        let mut $i = 0;
        if $width == 2 * $v::LANES {
            // Usual for short vectors: no inner loop.
            for &row in &$rows.offsets {
                let $at = row as usize;
                $body
                let $at = $at + $v::LANES;
                $i += $v::LANES;
                $body
                $i += $v::LANES;
            }
        } else {
            for &row in &$rows.offsets {
                let mut $at = row as usize;
                for _ in 0..$width / $v::LANES {
                    $body
                    $i += $v::LANES;
                    $at += $v::LANES;
                }
            }
        }
    };
}

/// `<atom k, patch at offset>`.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn dot_atom<V: Vector>(
    atoms: &AtomRows<V::Elem>,
    k: usize,
    rows: &PatchRows,
    field: &[V::Elem],
    offset: usize,
) -> V::Elem
where
    V::Elem: Real,
{
    let atom = atoms.atom(k);
    assert!(offset + rows.last < field.len() && rows.offsets.len() * atoms.width == atom.len());
    // SAFETY: the assertion keeps every padded row inside the field and the atom.
    unsafe {
        let (base, d) = (field.as_ptr().add(offset), atom.as_ptr());
        let zero = V::splat(V::Elem::ZERO);
        if atoms.width == V::LANES {
            // Four accumulators hide the latency.
            let mut sums = [zero; 4];
            let fours = rows.offsets.chunks_exact(4);
            let rest = fours.remainder();
            let mut i = 0;
            for four in fours {
                for (sum, &row) in sums.iter_mut().zip(four) {
                    *sum = V::load(d.add(i)).mul_add(V::load(base.add(row as usize)), *sum);
                    i += V::LANES;
                }
            }
            for (sum, &row) in sums.iter_mut().zip(rest) {
                *sum = V::load(d.add(i)).mul_add(V::load(base.add(row as usize)), *sum);
                i += V::LANES;
            }
            return sums[0].add(sums[1]).add(sums[2].add(sums[3])).sum();
        }
        if V::SEPARATE_SUMS && atoms.width == 2 * V::LANES {
            let mut sums = [zero; 4];
            let pairs = rows.offsets.chunks_exact(2);
            let rest = pairs.remainder();
            let mut i = 0;
            for pair in pairs {
                for (j, sum) in sums.iter_mut().enumerate() {
                    let at = base.add(pair[j / 2] as usize + j % 2 * V::LANES);
                    *sum = V::load(d.add(i)).mul_add(V::load(at), *sum);
                    i += V::LANES;
                }
            }
            for &row in rest {
                for (j, sum) in sums[..2].iter_mut().enumerate() {
                    let at = base.add(row as usize + j * V::LANES);
                    *sum = V::load(d.add(i)).mul_add(V::load(at), *sum);
                    i += V::LANES;
                }
            }
            return sums[0].add(sums[1]).add(sums[2].add(sums[3])).sum();
        }
        let mut sum = zero;
        for_vectors!(V, rows, atoms.width, |i, at| {
            sum = V::load(d.add(i)).mul_add(V::load(base.add(at)), sum);
        });
        sum.sum()
    }
}

/// `patch += scale * (weights *) atom k`.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn add_atom<V: Vector>(
    atoms: &AtomRows<V::Elem>,
    k: usize,
    rows: &PatchRows,
    field: &mut [V::Elem],
    weights: Option<&[V::Elem]>,
    offset: usize,
    scale: V::Elem,
) where
    V::Elem: Real,
{
    let atom = atoms.atom(k);
    assert!(offset + rows.last < field.len() && rows.offsets.len() * atoms.width == atom.len());
    let s = V::splat(scale);
    // SAFETY: the assertions keep every padded row inside the field, the weights and the atom.
    unsafe {
        let (base, d) = (field.as_mut_ptr().add(offset), atom.as_ptr());
        if let Some(weights) = weights {
            assert!(offset + rows.last < weights.len());
            let w = weights.as_ptr().add(offset);
            for_vectors!(V, rows, atoms.width, |i, at| {
                V::load(d.add(i))
                    .mul(V::load(w.add(at)))
                    .mul_add(s, V::load(base.add(at)))
                    .store(base.add(at));
            });
        } else if atoms.width == V::LANES {
            for (r, &row) in rows.offsets.iter().enumerate() {
                let at = base.add(row as usize);
                V::load(d.add(r * V::LANES)).mul_add(s, V::load(at)).store(at);
            }
        } else {
            for_vectors!(V, rows, atoms.width, |i, at| {
                V::load(d.add(i)).mul_add(s, V::load(base.add(at))).store(base.add(at));
            });
        }
    }
}

/// `into += scale * patch`, rows padded; the padding of `into` is undefined.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn gather_patch<V: Vector>(
    rows: &PatchRows,
    field: &[V::Elem],
    offset: usize,
    scale: V::Elem,
    into: &mut [V::Elem],
) where
    V::Elem: Real,
{
    let width = into.len() / rows.offsets.len();
    assert!(
        offset + rows.last < field.len()
            && width * rows.offsets.len() == into.len()
            && width.is_multiple_of(V::LANES)
    );
    let s = V::splat(scale);
    // SAFETY: the assertion keeps every padded row inside the field and the sums.
    unsafe {
        let (base, sums) = (field.as_ptr().add(offset), into.as_mut_ptr());
        for_vectors!(V, rows, width, |i, at| {
            V::load(base.add(at)).mul_add(s, V::load(sums.add(i))).store(sums.add(i));
        });
    }
}

/// `sum weights * atom^2` over the patch: the curvature of a code under a mask.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn weighted_energy<V: Vector>(
    atoms: &AtomRows<V::Elem>,
    k: usize,
    rows: &PatchRows,
    weights: &[V::Elem],
    offset: usize,
) -> V::Elem
where
    V::Elem: Real,
{
    let atom = atoms.atom(k);
    assert!(offset + rows.last < weights.len() && rows.offsets.len() * atoms.width == atom.len());
    let mut sum = V::splat(V::Elem::ZERO);
    // SAFETY: the assertion keeps every padded row inside the weights and the atom.
    unsafe {
        let (base, a) = (weights.as_ptr().add(offset), atom.as_ptr());
        for_vectors!(V, rows, atoms.width, |i, at| {
            let d = V::load(a.add(i));
            sum = d.mul(d).mul_add(V::load(base.add(at)), sum);
        });
    }
    sum.sum()
}

/// Energy of the patch at `offset`; `inside`, an atom of ones, masks the padding.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn patch_energy<V: Vector>(
    inside: &AtomRows<V::Elem>,
    rows: &PatchRows,
    field: &[V::Elem],
    offset: usize,
) -> V::Elem
where
    V::Elem: Real,
{
    let ones = inside.atom(0);
    assert!(offset + rows.last < field.len() && rows.offsets.len() * inside.width == ones.len());
    let mut sum = V::splat(V::Elem::ZERO);
    // SAFETY: the assertion keeps every padded row inside the field and the ones.
    unsafe {
        let (base, d) = (field.as_ptr().add(offset), ones.as_ptr());
        for_vectors!(V, rows, inside.width, |i, at| {
            let x = V::load(base.add(at)).mul(V::load(d.add(i)));
            sum = x.mul_add(x, sum);
        });
    }
    sum.sum()
}

/// `into[i] += from[i + shift]` where in range; `None`: from `into` itself, before its update.
#[inline(always)]
pub fn add_shifted<V: Vector>(into: &mut [V::Elem], from: Option<&[V::Elem]>, shift: usize)
where
    V::Elem: Real,
{
    assert!(from.is_none_or(|from| from.len() == into.len()));
    let count = into.len().saturating_sub(shift);
    let whole = count / V::LANES * V::LANES;
    let to = into.as_mut_ptr();
    let from = from.map_or(to.cast_const(), |from| from.as_ptr());
    for i in (0..whole).step_by(V::LANES) {
        // SAFETY: `i + shift + LANES` is at most the length of both. A vector is read whole before
        // any of it is written.
        unsafe { V::load(to.add(i)).add(V::load(from.add(i + shift))).store(to.add(i)) };
    }
    for i in whole..count {
        // SAFETY: `i + shift` is below the length of both.
        unsafe { *to.add(i) += *from.add(i + shift) };
    }
}
