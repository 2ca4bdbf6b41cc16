//! Bounds on the correlations of a patch from whole numbers: a third of their cost.
//!
//! A patch and the atoms are rounded to bytes, `r = s q + e` and `d = t b + f`, whose products add up four at a time and without error.
//! With `||d|| = 1` no correlation exceeds `s t |<b, q>| + ||e|| + ||f|| (||r|| + ||e||)`: a few percent above the truth, where the norm
//! of the patch alone lies far above it.

use super::Level;
use super::patch::{AtomRows, PatchRows, copy_patch};
use super::vector::Vector;
use crate::real::Real;

/// Vectors of atoms whose sums stay in registers beside those of four patches, and atoms in a vector.
const PANEL: usize = 6;
const LANES: usize = 16;
/// Fewer vectors of atoms than this are correlated before their patch is rounded.
const FEW: usize = 3;
/// Patches at once.
const PATCHES: usize = 4;
/// With more samples than this the sums of an atom might not fit.
const MOST_SAMPLES: usize = 1 << 15;

/// Atoms rounded to bytes: panels of vectors, each panel four samples after four samples.
pub(crate) struct RoughAtoms {
    bytes: Vec<i8>,
    /// First vector of every panel, and how many it has.
    panels: Vec<(usize, usize)>,
    /// Where the sum of every atom begins: patches are stored without sign, 128 above their numbers.
    start: Vec<i32>,
    /// What a unit of the sum is worth, in shares of the atom's weight.
    unit: Vec<f32>,
    largest_inverse_weight: f32,
    /// Largest norm of what an atom lost when it was rounded, and what rounding may add to an exact correlation of a patch of norm 1.
    lost: f32,
    rounding: f32,
    /// Samples of an atom, its rows padded, and the root of their number without the padding.
    samples: usize,
    root: f32,
}

/// Patches on their way to bytes.
pub(crate) struct RoughPatches<T> {
    numbers: Vec<T>,
    bytes: Vec<u8>,
}

impl<T: Real> RoughPatches<T> {
    pub(crate) fn new() -> Self {
        Self { numbers: Vec::new(), bytes: Vec::new() }
    }
}

impl RoughAtoms {
    /// `None` where the level has no such instructions, exact correlations are as cheap, or numbers are beyond single precision.
    pub(crate) fn new<T: Real>(atoms: &AtomRows<T>, inverse_weights: &[T], level: Level) -> Option<Self> {
        let samples = atoms.rows * atoms.width;
        let vectors = atoms.len().div_ceil(LANES);
        let sound = inverse_weights[..atoms.len()].iter().all(|w| (1e-30..1e30).contains(&w.to_f64()));
        if !is_available(level) || vectors < FEW || !samples.is_multiple_of(4) || samples > MOST_SAMPLES || !sound {
            return None;
        }
        let padded = vectors * LANES;
        let mut rough = Self {
            bytes: vec![0; padded * samples],
            panels: cut_panels(vectors),
            start: vec![0; padded],
            unit: vec![0.0; padded],
            largest_inverse_weight: 0.0,
            lost: 0.0,
            rounding: 4.0 * (samples + 16) as f32 * f32::EPSILON,
            samples,
            root: (atoms.samples() as f32).sqrt(),
        };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instructions are there.
        unsafe {
            vnni::fill(&mut rough, atoms, inverse_weights);
        }
        Some(rough)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len() + 8 * self.start.len()
    }

    /// `out[j]` is no less than the largest `|c_k| / weight_k` of the patch at `offsets[j]`, exact or computed; infinite where nothing is
    /// known. `inside` is an atom of ones.
    #[inline(always)]
    pub(crate) fn bounds<V: Vector<Elem = T>, T: Real>(
        &self,
        inside: &AtomRows<T>,
        rows: &PatchRows,
        field: &[T],
        offsets: &[u32],
        patches: &mut RoughPatches<T>,
        out: &mut [T],
    ) {
        #[cfg(target_arch = "x86_64")]
        for (offsets, out) in offsets.chunks(PATCHES).zip(out.chunks_mut(PATCHES)) {
            // SAFETY: there are no such atoms unless the instructions are there.
            unsafe { vnni::bounds::<V, T>(self, inside, rows, field, offsets, patches, out) };
        }
    }
}

/// Cuts vectors into panels of nearly equal width: the first of each, and how many it has.
fn cut_panels(vectors: usize) -> Vec<(usize, usize)> {
    let panels = vectors.div_ceil(PANEL);
    let begin = |panel: usize| vectors * panel / panels;
    (0..panels).map(|panel| (begin(panel), begin(panel + 1) - begin(panel))).collect()
}

#[cfg(target_arch = "x86_64")]
fn is_available(level: Level) -> bool {
    level == Level::Avx512 && is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_available(_: Level) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
mod vnni {
    use super::*;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw,avx512vnni")]
    pub(super) fn fill<T: Real>(rough: &mut RoughAtoms, atoms: &AtomRows<T>, inverse_weights: &[T]) {
        let RoughAtoms { bytes, panels, start, unit, lost, samples, .. } = rough;
        let samples = *samples;
        let mut rounded = vec![0i8; samples];
        *lost = 0.0;
        for k in 0..atoms.len() {
            let atom = atoms.atom(k);
            let most = atom.iter().fold(0.0f32, |most, d| most.max((d.to_f64() as f32).abs()));
            let (scale, step) = (127.0 / most, most / 127.0);
            let (mut sum, mut loss) = ([0i32; LANES], [0.0f32; LANES]);
            for (atom, rounded) in atom.chunks(LANES).zip(rounded.chunks_mut(LANES)) {
                for (((d, byte), sum), loss) in atom.iter().zip(rounded).zip(&mut sum).zip(&mut loss) {
                    let d = d.to_f64() as f32;
                    let whole = (d * scale).round_ties_even();
                    let error = d - whole * step;
                    *loss += error * error;
                    *byte = whole as i8;
                    *sum += whole as i32;
                }
            }
            let vector = k / LANES;
            let &(panel, width) = panels.iter().rfind(|(panel, _)| *panel <= vector).expect("every vector is in a panel");
            let first = (panel * samples + 4 * (vector - panel)) * LANES + 4 * (k % LANES);
            for (i, four) in rounded.as_chunks::<4>().0.iter().enumerate() {
                bytes[first + i * 4 * width * LANES..][..4].copy_from_slice(four);
            }
            start[k] = -128 * sum.iter().sum::<i32>();
            unit[k] = step * inverse_weights[k].to_f64() as f32;
            *lost = lost.max(loss.iter().sum::<f32>().sqrt());
        }
        // Sums of these few numbers were rounded themselves.
        *lost *= 1.0 + 1e-4;
        rough.largest_inverse_weight = inverse_weights.iter().fold(0.0, |most, w| most.max(w.to_f64() as f32));
    }

    /// The bounds of up to [`PATCHES`] patches.
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw,avx512vnni")]
    pub(super) fn bounds<V: Vector<Elem = T>, T: Real>(
        atoms: &RoughAtoms,
        inside: &AtomRows<T>,
        rows: &PatchRows,
        field: &[T],
        offsets: &[u32],
        patches: &mut RoughPatches<T>,
        out: &mut [T],
    ) {
        match offsets.len() {
            0 => {}
            1 => bounds_of::<V, T, 1>(atoms, inside, rows, field, offsets, patches, out),
            2 => bounds_of::<V, T, 2>(atoms, inside, rows, field, offsets, patches, out),
            3 => bounds_of::<V, T, 3>(atoms, inside, rows, field, offsets, patches, out),
            _ => bounds_of::<V, T, PATCHES>(atoms, inside, rows, field, offsets, patches, out),
        }
    }

    #[inline(always)]
    fn bounds_of<V: Vector<Elem = T>, T: Real, const COUNT: usize>(
        atoms: &RoughAtoms,
        inside: &AtomRows<T>,
        rows: &PatchRows,
        field: &[T],
        offsets: &[u32],
        patches: &mut RoughPatches<T>,
        out: &mut [T],
    ) {
        let samples = atoms.samples;
        assert!(offsets.len() == COUNT && samples == inside.rows * inside.width);
        let padded = samples.next_multiple_of(LANES);
        patches.numbers.resize(PATCHES * padded, T::ZERO);
        patches.bytes.resize(PATCHES * padded, 0);
        // One step for all patches, then the next: a vector is not read while parts of it are still on their way to memory.
        for (&offset, numbers) in offsets.iter().zip(patches.numbers.chunks_exact_mut(padded)) {
            copy_patch::<V>(inside, rows, field, offset as usize, &mut numbers[..samples]);
        }
        let mut sizes = [(0.0, f32::INFINITY); COUNT];
        for (numbers, size) in patches.numbers.chunks_exact(padded).zip(&mut sizes) {
            *size = largest_and_energy(numbers);
        }
        let mut scales = [(0.0, f32::INFINITY); COUNT];
        for (((numbers, bytes), (most, energy)), scale) in
            patches.numbers.chunks_exact(padded).zip(patches.bytes.chunks_exact_mut(padded)).zip(sizes).zip(&mut scales)
        {
            if energy.is_finite() && most > 1e-15 {
                round(numbers, bytes, 127.0 / most);
                // No sample is off by more than half a unit, but for the rounding of the products.
                let (unit, norm) = (most / 127.0, energy.sqrt());
                let error = 0.501 * unit * atoms.root;
                let hidden = error + atoms.lost * (norm + error) + atoms.rounding * norm;
                *scale = (unit, hidden * atoms.largest_inverse_weight);
            }
        }
        let mut most = [0.0f32; COUNT];
        for &(first, width) in &atoms.panels {
            // SAFETY: a panel has `width` vectors of all samples, and a patch `padded` bytes.
            let panel: [f32; COUNT] = unsafe {
                match width {
                    1 => largest::<1, COUNT>(atoms, first, &patches.bytes, padded),
                    2 => largest::<2, COUNT>(atoms, first, &patches.bytes, padded),
                    3 => largest::<3, COUNT>(atoms, first, &patches.bytes, padded),
                    4 => largest::<4, COUNT>(atoms, first, &patches.bytes, padded),
                    5 => largest::<5, COUNT>(atoms, first, &patches.bytes, padded),
                    _ => largest::<PANEL, COUNT>(atoms, first, &patches.bytes, padded),
                }
            };
            for (most, of_panel) in most.iter_mut().zip(panel) {
                *most = most.max(of_panel);
            }
        }
        for ((bound, most), (scale, error)) in out.iter_mut().zip(most).zip(scales) {
            let sum = (scale * most + error) * (1.0 + 16.0 * f32::EPSILON);
            *bound = T::from_f64(f64::from(if sum.is_nan() { f32::INFINITY } else { sum }));
        }
    }

    /// Largest size of a number, and the sum of squares.
    #[inline(always)]
    fn largest_and_energy<T: Real>(numbers: &[T]) -> (f32, f32) {
        // SAFETY: the processor has the instructions.
        unsafe {
            let (mut most, mut energy) = (_mm512_setzero_ps(), _mm512_setzero_ps());
            for chunk in numbers.as_chunks::<LANES>().0 {
                let x = single(chunk);
                most = _mm512_max_ps(most, _mm512_abs_ps(x));
                energy = _mm512_fmadd_ps(x, x, energy);
            }
            (_mm512_reduce_max_ps(most), _mm512_reduce_add_ps(energy))
        }
    }

    /// Rounds numbers times `scale`, 127 at most, and adds 128.
    #[inline(always)]
    fn round<T: Real>(numbers: &[T], bytes: &mut [u8], scale: f32) {
        // SAFETY: the processor has the instructions, and there is a byte for every number.
        unsafe {
            for (chunk, bytes) in numbers.as_chunks::<LANES>().0.iter().zip(bytes.as_chunks_mut::<LANES>().0) {
                let whole = _mm512_cvtps_epi32(_mm512_mul_ps(single(chunk), _mm512_set1_ps(scale)));
                let unsigned = _mm512_cvtepi32_epi8(_mm512_add_epi32(whole, _mm512_set1_epi32(128)));
                _mm_storeu_si128(bytes.as_mut_ptr().cast(), unsigned);
            }
        }
    }

    /// Numbers in single precision.
    #[inline(always)]
    fn single<T: Real>(numbers: &[T; LANES]) -> __m512 {
        let mut single = [0.0f32; LANES];
        for (single, x) in single.iter_mut().zip(numbers) {
            *single = x.to_f64() as f32;
        }
        // SAFETY: the processor has the instructions, and there are as many numbers as the vector has.
        unsafe { _mm512_loadu_ps(single.as_ptr()) }
    }

    /// The largest sum of the atoms of a panel, for every patch.
    ///
    /// # Safety
    /// The panel that begins with vector `first` has `WIDTH` vectors; there are `COUNT` patches, `padded` bytes from each other.
    #[inline(always)]
    unsafe fn largest<const WIDTH: usize, const COUNT: usize>(
        atoms: &RoughAtoms,
        first: usize,
        patches: &[u8],
        padded: usize,
    ) -> [f32; COUNT] {
        let samples = atoms.samples;
        // SAFETY: all addresses lie in the panel and in the patches, as the caller vouches.
        unsafe {
            let mut start = [_mm512_setzero_si512(); WIDTH];
            for (v, start) in start.iter_mut().enumerate() {
                *start = _mm512_loadu_si512(atoms.start.as_ptr().add((first + v) * LANES).cast());
            }
            let mut sums = [start; COUNT];
            let mut d = start;
            let mut panel = atoms.bytes.as_ptr().add(first * LANES * samples);
            for four in (0..samples).step_by(4) {
                for (v, d) in d.iter_mut().enumerate() {
                    *d = _mm512_loadu_si512(panel.add(4 * LANES * v).cast());
                }
                for (j, sums) in sums.iter_mut().enumerate() {
                    let patch: *const i32 = patches.as_ptr().add(j * padded + four).cast();
                    let x = _mm512_set1_epi32(patch.read_unaligned());
                    for (sum, &d) in sums.iter_mut().zip(&d) {
                        *sum = _mm512_dpbusd_epi32(*sum, x, d);
                    }
                }
                panel = panel.add(4 * LANES * WIDTH);
            }
            // No closures here: their bodies would not be compiled for these vectors.
            let mut largest = [0.0; COUNT];
            for (largest, sums) in largest.iter_mut().zip(&sums) {
                let mut most = _mm512_setzero_ps();
                for (v, &sum) in sums.iter().enumerate() {
                    let unit = _mm512_loadu_ps(atoms.unit.as_ptr().add((first + v) * LANES));
                    most = _mm512_max_ps(most, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_abs_epi32(sum)), unit));
                }
                *largest = _mm512_reduce_max_ps(most);
            }
            largest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BATCH, Kernel, PackedAtoms, Reach};
    use super::*;
    use crate::{Dictionary, Extent};
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Patches of a field, their reaches, and the bounds on them.
    struct Case<T> {
        field: Vec<T>,
        rows: PatchRows,
        atoms: AtomRows<T>,
        inside: AtomRows<T>,
        inverse_weights: Vec<T>,
        offsets: Vec<u32>,
    }

    impl<T: Real> Kernel<T> for &Case<T> {
        type Output = Option<Vec<T>>;

        fn run<V: Vector<Elem = T>>(self) -> Option<Vec<T>> {
            let rough = RoughAtoms::new(&self.atoms, &self.inverse_weights, Level::Avx512)?;
            let mut bounds = vec![T::ZERO; self.offsets.len()];
            rough.bounds::<V, T>(&self.inside, &self.rows, &self.field, &self.offsets, &mut RoughPatches::new(), &mut bounds);
            Some(bounds)
        }
    }

    fn hold_against_exact<T: Real>(seed: u64, extent: [usize; 2], atoms: usize, scale: f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let [height, width] = extent;
        let mut draw = |most: f64| T::from_f64(most * (2.0 * rng.random::<f64>() - 1.0) * rng.random::<f64>());
        let numbers = (0..atoms * height * width).map(|_| draw(1.0)).collect();
        let dictionary = Dictionary::new(Extent::new(&extent).unwrap(), 1, numbers).unwrap();
        let lanes = Level::Avx512.lanes::<T>();
        let row = 20 + width.next_multiple_of(lanes);
        let field: Vec<T> = (0..(20 + height) * row).map(|_| draw(scale)).collect();
        let packed = PackedAtoms::new(&dictionary, Level::Avx512);
        let weight = |k: usize| if k < atoms { T::from_f64(1.0 / (1.0 + 0.1 * (k % 5) as f64)) } else { T::ZERO };
        let inverse_weights: Vec<T> = (0..packed.stride).map(weight).collect();
        let starts: Vec<u32> = (0..height as u32).map(|y| y * row as u32).collect();
        let patch: Vec<u32> = starts.iter().flat_map(|&s| (0..width as u32).map(move |x| s + x)).collect();
        let offsets: Vec<u32> = (0..BATCH as u32).map(|i| i % 20 * row as u32 + i % 13).collect();
        let mut exact = vec![T::ZERO; offsets.len()];
        packed.reach(&field, &patch, &offsets, Reach { inverse_weights: &inverse_weights, nonnegative: false }, &mut exact);
        let ones = vec![T::ONE; height * width];
        let inside = AtomRows::from_data(&ones, width, height * width, lanes);
        let rows = PatchRows::new(starts, inside.width);
        let atoms = AtomRows::new(&dictionary, lanes);
        let case = Case { field, rows, atoms, inside, inverse_weights, offsets };
        let Some(bounds) = T::dispatch(Level::Avx512, &case) else { return };
        for ((bound, exact), &offset) in bounds.iter().zip(exact).zip(&case.offsets) {
            let energy: f64 = patch.iter().map(|&p| case.field[(offset + p) as usize].to_f64().powi(2)).sum();
            let (bound, exact) = (bound.to_f64(), exact.to_f64());
            let known = (1e-15..1e18).contains(&scale);
            assert!(bound >= exact, "{extent:?}, {scale}: {bound} is below {exact}");
            assert!(!known || bound < exact + 0.06 * energy.sqrt(), "{extent:?}, {scale}: {bound} says nothing of {exact}");
        }
    }

    #[test]
    fn no_correlation_exceeds_its_bound_and_bounds_are_near() {
        if !is_available(Level::Avx512) {
            println!("skipped: no instructions for bytes");
            return;
        }
        for (seed, (extent, atoms)) in
            [([8, 8], 81), ([11, 11], 100), ([12, 12], 128), ([5, 7], 49), ([8, 24], 96), ([4, 3], 260), ([1, 16], 33)]
                .into_iter()
                .enumerate()
        {
            for scale in [1.0, 255.0, 1e-12, 1e12, 1e-30, 1e30] {
                hold_against_exact::<f32>(seed as u64, extent, atoms, scale);
                hold_against_exact::<f64>(seed as u64, extent, atoms, scale);
            }
        }
    }

    #[test]
    fn panels_follow_each_other() {
        for vectors in 1..40 {
            let mut next = 0;
            for (first, width) in cut_panels(vectors) {
                assert!(first == next && (1..=PANEL).contains(&width));
                next += width;
            }
            assert_eq!(next, vectors);
        }
    }
}
