//! Correlation of many patches with all atoms: the most expensive computation.

use super::{Aligned, Kernel, Level, Vector};
use crate::dictionary::Dictionary;
use crate::real::Real;
use std::ops::Deref;

/// Needles correlated at once; a layer of a tile has about 16.
pub const BATCH: usize = 48;

/// Numbers in the widest vector of any level.
const WIDEST: usize = 16;

/// The dictionary in the order the correlation reads it: panels of a few vectors of atoms, sample
/// by sample, padded with zeros.
pub struct PackedAtoms<T> {
    numbers: Aligned<T>,
    panels: Vec<Panel>,
    /// Samples at which an atom of a panel is not 0, where some are 0 in all of them.
    used: Vec<Option<Vec<u32>>>,
    /// Length of an atom, `n`.
    samples: usize,
    /// Atoms rounded up to whole vectors: length of a correlation.
    pub stride: usize,
    level: Level,
}

/// Atoms whose sums are in registers together: wide vectors, then possibly one of half their
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Panel {
    first: usize,
    wide: usize,
    half: bool,
    /// Maximum number of needles at once, so that everything fits into the registers.
    needles: usize,
}

impl<T: Real> PackedAtoms<T> {
    pub fn new(dictionary: &Dictionary<T>, level: Level) -> Self {
        struct PanelLayout<'a, T>(&'a Dictionary<T>);
        impl<T: Real> Kernel<T> for PanelLayout<'_, T> {
            type Output = Vec<Panel>;
            fn run<V: Vector<Elem = T>>(self) -> Self::Output {
                let per_wide = V::Wide::LANES / V::LANES;
                let mut panels = Vec::new();
                let mut first = 0;
                for units in units_of_sizes(self.0, V::LANES) {
                    let of_size = split_into_panels(units, per_wide, V::LANES, V::REGISTERS);
                    panels
                        .extend(of_size.into_iter().map(|p| Panel { first: first + p.first, ..p }));
                    first += units * V::LANES;
                }
                panels
            }
        }
        let stride = dictionary.len().next_multiple_of(level.lanes::<T>());
        let panels = T::dispatch(level, PanelLayout(dictionary));
        let samples = dictionary.atom_len();
        let mut packed = Self {
            numbers: Aligned::new(stride * samples),
            used: vec![None; panels.len()],
            panels,
            samples,
            stride,
            level,
        };
        packed.fill(dictionary);
        packed
    }

    /// Copies a dictionary of the same shape.
    pub fn fill(&mut self, dictionary: &Dictionary<T>) {
        let Self { numbers, panels, used, samples, stride, .. } = self;
        for (i, panel) in panels.iter().enumerate() {
            let end = panels.get(i + 1).map_or(*stride, |next| next.first);
            let atoms = panel.first..end.min(dictionary.len());
            let into = &mut numbers[panel.first * *samples..end * *samples];
            let (data, width) = (
                &dictionary.data()[atoms.start * *samples..atoms.end * *samples],
                end - panel.first,
            );
            used[i] = used_samples(data, *samples);
            match &used[i] {
                None => transpose(data, *samples, into, width),
                Some(used) => {
                    let keep =
                        |atom: &[T]| used.iter().map(|&p| atom[p as usize]).collect::<Vec<T>>();
                    let kept: Vec<T> = data.chunks_exact(*samples).flat_map(keep).collect();
                    transpose(&kept, used.len(), &mut into[..width * used.len()], width);
                }
            }
        }
    }

    /// Numbers in a vector.
    pub fn lanes(&self) -> usize {
        self.level.lanes::<T>()
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.numbers[..])
    }

    /// `out[j] = D^T (patch at offsets[j])`, `stride` numbers each; sample `p` of a patch is at
    /// `field[offset + patch[p]]`.
    ///
    /// Every output is one chain of multiply-adds over `p`, independent of the other needles.
    pub fn correlate(&self, field: &[T], patch: &PatchSamples, offsets: &[u32], out: &mut [T]) {
        assert!(out.len() >= offsets.len() * self.stride);
        T::dispatch(
            self.level,
            Correlate { atoms: self, field, patch, offsets, into: out, reach: None },
        );
    }

    /// Largest `|c_k| / weight_k` of every needle (`max(c_k, 0)` for non-negative codes), without
    /// storing the correlations.
    pub fn reach(
        &self,
        field: &[T],
        patch: &PatchSamples,
        offsets: &[u32],
        rule: ReachRule<'_, T>,
        out: &mut [T],
    ) {
        assert!(rule.inverse_weights.len() == self.stride && out.len() >= offsets.len());
        T::dispatch(
            self.level,
            Correlate { atoms: self, field, patch, offsets, into: out, reach: Some(rule) },
        );
    }
}

/// Numbers of vectors of atoms that follow one another and are not 0 at the same samples: each has
/// panels of its own, so that small atoms do not cost as much as large ones.
fn units_of_sizes<T: Real>(dictionary: &Dictionary<T>, lanes: usize) -> Vec<usize> {
    let samples = dictionary.atom_len();
    let units = dictionary.data().chunks(lanes * samples);
    let used: Vec<_> = units.map(|atoms| used_samples(atoms, samples)).collect();
    used.chunk_by(|a, b| a == b).map(<[_]>::len).collect()
}

/// The samples at which any of these atoms is not 0; `None`: nearly all, or none.
fn used_samples<T: Real>(atoms: &[T], samples: usize) -> Option<Vec<u32>> {
    // Most atoms have no zeros.
    if atoms.chunks_exact(samples).next().is_none_or(|first| !first.contains(&T::ZERO)) {
        return None;
    }
    let any = |p: &u32| atoms[*p as usize..].iter().step_by(samples).any(|&x| x != T::ZERO);
    let used: Vec<u32> = (0..samples as u32).filter(any).collect();
    (!used.is_empty() && 8 * used.len() < 7 * samples).then_some(used)
}

/// Writes rows of `length` numbers as the first columns of rows of `width`.
fn transpose<T: Real>(rows: &[T], length: usize, into: &mut [T], width: usize) {
    const SIDE: usize = 4;
    let count = rows.len() / length;
    let mut done = 0;
    if length.is_multiple_of(SIDE) {
        // In square blocks, which take a few instructions each.
        for four in rows.chunks_exact(SIDE * length) {
            let [a, b, c, d]: [&[[T; SIDE]]; SIDE] =
                std::array::from_fn(|i| four[i * length..(i + 1) * length].as_chunks::<SIDE>().0);
            let mut lines = into.chunks_exact_mut(width);
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                for (i, line) in lines.by_ref().take(SIDE).enumerate() {
                    line[done..done + SIDE].copy_from_slice(&[a[i], b[i], c[i], d[i]]);
                }
            }
            done += SIDE;
        }
    }
    for k in done..count {
        let column = into[k..].iter_mut().step_by(width);
        column.zip(&rows[k * length..(k + 1) * length]).for_each(|(to, &d)| *to = d);
    }
}

/// Defines the largest correlation of a needle.
#[derive(Clone, Copy)]
pub struct ReachRule<'a, T> {
    /// `1 / weight` of every atom, 0 in the padding.
    pub inverse_weights: &'a [T],
    pub nonnegative: bool,
}

impl<T: Real> ReachRule<'_, T> {
    /// The largest of these correlations.
    pub fn largest(&self, correlations: &[T]) -> T {
        let each = correlations.iter().zip(self.inverse_weights);
        each.fold(T::ZERO, |most, (&c, &w)| {
            most.max((if self.nonnegative { c } else { c.abs() }) * w)
        })
    }
}

/// Splits `units` short vectors of atoms into even panels; `per_wide` make a wide vector.
fn split_into_panels(units: usize, per_wide: usize, lanes: usize, registers: usize) -> Vec<Panel> {
    let (wide, half) = (units / per_wide, units % per_wide);
    // Three would spill registers.
    let widest = if registers >= 32 { 6 } else { 2 };
    let count = (wide + half).div_ceil(widest).max(1);
    let mut panels = Vec::with_capacity(count);
    let mut done = 0;
    for i in 0..count {
        let end = (wide + half) * (i + 1) / count;
        let half = i + 1 == count && half > 0;
        let width = end - done;
        // Sums, atoms and one sample in registers; more than 8 needles lack address registers.
        let needles = ((registers - 1 - width) / width).min(8);
        panels.push(Panel {
            first: done * per_wide * lanes,
            wide: width - usize::from(half),
            half,
            needles,
        });
        done = end;
    }
    panels
}

/// Offsets of the samples of a patch relative to its first.
pub struct PatchSamples {
    offsets: Vec<u32>,
    /// The largest of them.
    last: usize,
}

impl PatchSamples {
    pub fn new(offsets: Vec<u32>) -> Self {
        let last = offsets.iter().copied().max().unwrap_or(0) as usize;
        Self { offsets, last }
    }

    /// Contiguous samples.
    pub fn straight(count: usize) -> Self {
        Self::new((0..count as u32).collect())
    }
}

impl Deref for PatchSamples {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        &self.offsets
    }
}

struct Correlate<'a, T> {
    atoms: &'a PackedAtoms<T>,
    field: &'a [T],
    patch: &'a PatchSamples,
    offsets: &'a [u32],
    into: &'a mut [T],
    reach: Option<ReachRule<'a, T>>,
}

impl<T: Real> Kernel<T> for Correlate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, field, patch, offsets, into, reach } = self;
        assert_eq!(patch.len(), atoms.samples);
        assert!(offsets.iter().all(|&o| o as usize + patch.last < field.len()));
        let Some(rule) = reach else {
            let store = Store { out: into.as_mut_ptr(), stride: atoms.stride };
            // SAFETY: offsets and patch were checked against the field, the length of the output by
            // the caller.
            unsafe { all_panels::<V, _>(atoms, field, patch, offsets, &store) };
            return;
        };
        for (offsets, into) in offsets.chunks(BATCH).zip(into.chunks_mut(BATCH)) {
            let mut most = [T::ZERO; BATCH * WIDEST];
            let keep = KeepLargest {
                most: most.as_mut_ptr(),
                inverse: rule.inverse_weights.as_ptr(),
                signed: rule.nonnegative,
            };
            // SAFETY: as above; `most` holds a widest vector for every needle of the batch.
            unsafe { all_panels::<V, _>(atoms, field, patch, offsets, &keep) };
            for (largest, most) in into.iter_mut().zip(most.chunks_exact(V::Wide::LANES)) {
                // SAFETY: the chunk is as long as the vector.
                *largest = unsafe { V::Wide::load(most.as_ptr()) }.largest();
            }
        }
    }
}

/// Consumer of finished sums.
trait Sink<T> {
    /// Takes the sums of atoms `first..` for needle `j`.
    ///
    /// # Safety
    /// Needle and atoms are within the range of the sink.
    unsafe fn take<V: Vector<Elem = T>, W: Vector<Elem = T>>(
        &self,
        j: usize,
        first: usize,
        sums: V,
    );
}

struct Store<T> {
    out: *mut T,
    stride: usize,
}

impl<T: Real> Sink<T> for Store<T> {
    #[inline(always)]
    unsafe fn take<V: Vector<Elem = T>, W: Vector<Elem = T>>(
        &self,
        j: usize,
        first: usize,
        sums: V,
    ) {
        // SAFETY: the caller guarantees that needle and atoms are in range.
        unsafe { sums.store(self.out.add(j * self.stride + first)) }
    }
}

/// The largest so far, one wide vector `W` per needle.
struct KeepLargest<T> {
    most: *mut T,
    inverse: *const T,
    signed: bool,
}

impl<T: Real> Sink<T> for KeepLargest<T> {
    #[inline(always)]
    unsafe fn take<V: Vector<Elem = T>, W: Vector<Elem = T>>(
        &self,
        j: usize,
        first: usize,
        sums: V,
    ) {
        // SAFETY: the caller guarantees that needle and atoms are in range; a half vector is in the
        // first half of a wide one.
        unsafe {
            let most = self.most.add(j * W::LANES);
            let sums =
                (if self.signed { sums } else { sums.abs() }).mul(V::load(self.inverse.add(first)));
            sums.max(V::load(most)).store(most);
        }
    }
}

/// # Safety
/// Every patch is inside the field, and the sink accepts all needles and atoms.
#[inline(always)]
unsafe fn all_panels<V: Vector, S: Sink<V::Elem>>(
    atoms: &PackedAtoms<V::Elem>,
    field: &[V::Elem],
    patch: &[u32],
    offsets: &[u32],
    sink: &S,
) where
    V::Elem: Real,
{
    let mut places = Vec::new();
    for (panel, used) in atoms.panels.iter().zip(&atoms.used) {
        let patch = match used {
            None => patch,
            Some(used) => {
                places.clear();
                places.extend(used.iter().map(|&p| patch[p as usize]));
                &places[..]
            }
        };
        let blocks = offsets.len().div_ceil(panel.needles);
        for i in 0..blocks {
            // Blocks of nearly equal size: a small one would stall on its own sums.
            let (from, to) = (offsets.len() * i / blocks, offsets.len() * (i + 1) / blocks);
            let work = Block {
                atoms,
                panel,
                field: field.as_ptr(),
                patch,
                offsets: &offsets[from..to],
                from,
                sink,
            };
            // SAFETY: guaranteed by the caller; the dimensions of the panel are those of `atoms`.
            unsafe { work.run::<V>() };
        }
    }
}

struct Block<'a, T, S> {
    atoms: &'a PackedAtoms<T>,
    panel: &'a Panel,
    field: *const T,
    patch: &'a [u32],
    offsets: &'a [u32],
    from: usize,
    sink: &'a S,
}

/// Calls `$self.sums` with the numbers of the panel and of the needles as constants.
macro_rules! constants {
    ($self:ident, $v:ident: $(($wide:literal, $half:literal): $($needles:literal)*;)*) => {
        match ($self.panel.wide, usize::from($self.panel.half), $self.offsets.len()) {
            // SAFETY: guaranteed by the caller of `run`.
            $($(($wide, $half, $needles) => unsafe { $self.sums::<$v, $wide, $half, $needles>() },)*)*
            other => unreachable!("no such block: {other:?}"),
        }
    };
}

/// Repeats a body for each needle `$j` of up to 8. A loop would keep the sums in memory where the
/// compiler unrolls it too late, and store every sum at every sample.
macro_rules! each_needle {
    ($needles:ident, $j:ident => $body:block) => {
        each_needle!($needles, $j => $body, 0 1 2 3 4 5 6 7)
    };
    ($needles:ident, $j:ident => $body:block, $($number:literal)*) => {
        $(if $number < $needles {
            let $j = $number;
            $body
        })*
    };
}

impl<T: Real, S: Sink<T>> Block<'_, T, S> {
    /// # Safety
    /// As for [`all_panels`].
    #[inline(always)]
    unsafe fn run<V: Vector<Elem = T>>(&self) {
        if V::REGISTERS < 32 {
            constants!(self, V: (1, 0): 1 2 3 4 5 6 7 8; (2, 0): 1 2 3 4 5 6;)
        } else if V::Wide::LANES == V::LANES {
            constants!(self, V: (1, 0): 1 2 3 4 5 6 7 8; (2, 0): 1 2 3 4 5 6 7 8; (3, 0): 1 2 3 4 5 6 7 8; (4, 0): 1 2 3 4 5 6;
                (5, 0): 1 2 3 4 5; (6, 0): 1 2 3 4;)
        } else {
            constants!(self, V: (1, 0): 1 2 3 4 5 6 7 8; (2, 0): 1 2 3 4 5 6 7 8; (3, 0): 1 2 3 4 5 6 7 8; (4, 0): 1 2 3 4 5 6;
                (5, 0): 1 2 3 4 5; (6, 0): 1 2 3 4; (0, 1): 1 2 3 4 5 6 7 8; (1, 1): 1 2 3 4 5 6 7 8; (2, 1): 1 2 3 4 5 6 7 8;
                (3, 1): 1 2 3 4 5 6; (4, 1): 1 2 3 4 5; (5, 1): 1 2 3 4;)
        }
    }

    /// # Safety
    /// As for [`all_panels`]; the constants are those of the panel and the needles.
    #[expect(clippy::needless_range_loop, reason = "references would keep the sums in memory")]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    unsafe fn sums<
        V: Vector<Elem = T>,
        const WIDE: usize,
        const HALF: usize,
        const NEEDLES: usize,
    >(
        &self,
    ) {
        // SAFETY: guaranteed by the caller: every address is inside the packed atoms, the field and
        // the sink.
        unsafe {
            let base: [*const T; NEEDLES] =
                std::array::from_fn(|j| self.field.add(*self.offsets.get_unchecked(j) as usize));
            let mut sums = [[V::Wide::splat(T::ZERO); WIDE]; NEEDLES];
            let mut halves = [[V::splat(T::ZERO); HALF]; NEEDLES];
            let mut atoms = self.atoms.numbers.as_ptr().add(self.panel.first * self.atoms.samples);
            for &p in self.patch {
                let d: [V::Wide; WIDE] =
                    std::array::from_fn(|v| V::Wide::load(atoms.add(v * V::Wide::LANES)));
                let h: [V; HALF] = std::array::from_fn(|v| {
                    V::load(atoms.add(WIDE * V::Wide::LANES + v * V::LANES))
                });
                each_needle!(NEEDLES, j => {
                    let x = *base[j].add(p as usize);
                    for v in 0..WIDE {
                        sums[j][v] = d[v].mul_add(V::Wide::splat(x), sums[j][v]);
                    }
                    for v in 0..HALF {
                        halves[j][v] = h[v].mul_add(V::splat(x), halves[j][v]);
                    }
                });
                atoms = atoms.add(WIDE * V::Wide::LANES + HALF * V::LANES);
            }
            let at = self.panel.first;
            each_needle!(NEEDLES, j => {
                for v in 0..WIDE {
                    let first = at + v * V::Wide::LANES;
                    self.sink.take::<V::Wide, V::Wide>(self.from + j, first, sums[j][v]);
                }
                for v in 0..HALF {
                    let first = at + WIDE * V::Wide::LANES + v * V::LANES;
                    self.sink.take::<V, V::Wide>(self.from + j, first, halves[j][v]);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (count, length) in [(1, 1), (3, 4), (4, 4), (5, 8), (8, 7), (11, 12)] {
            let width = count + 3;
            let rows: Vec<f32> = (0..count * length).map(|i| 1.0 + i as f32).collect();
            let mut transposed = vec![0.0; width * length];
            transpose(&rows, length, &mut transposed, width);
            for (p, line) in transposed.chunks_exact(width).enumerate() {
                let column: Vec<f32> = (0..count).map(|k| rows[k * length + p]).collect();
                assert_eq!(line, [&column[..], &[0.0; 3]].concat(), "{count} x {length}");
            }
        }
    }

    #[test]
    fn panels_hold_all_atoms_once_and_fit_the_registers() {
        for (per_wide, lanes, registers) in
            [(1, 4, 11), (1, 4, 16), (1, 8, 16), (1, 4, 32), (2, 8, 32)]
        {
            for units in 1..60 {
                let mut next = 0;
                for panel in split_into_panels(units, per_wide, lanes, registers) {
                    assert_eq!(panel.first, next);
                    let width = panel.wide + usize::from(panel.half);
                    assert!(
                        width * (panel.needles + 1) < registers && (1..=8).contains(&panel.needles)
                    );
                    next += (panel.wide * per_wide + usize::from(panel.half)) * lanes;
                }
                assert_eq!(next, units * lanes);
            }
        }
    }
}
