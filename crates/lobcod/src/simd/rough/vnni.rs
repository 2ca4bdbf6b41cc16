//! Atoms and patches in bytes by the instructions of AVX-512 VNNI.

use super::super::patch::{AtomRows, copy_patch};
use super::super::vector::Vector;
use super::{LANES, PANEL, PATCHES, RoughAtoms, RoughPatches, Sight};
use crate::real::Real;
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
    sight: Sight<'_, T>,
    offsets: &[u32],
    patches: &mut RoughPatches<T>,
    out: &mut [T],
) {
    match offsets.len() {
        0 => {}
        1 => bounds_of::<V, T, 1>(atoms, sight, offsets, patches, out),
        2 => bounds_of::<V, T, 2>(atoms, sight, offsets, patches, out),
        3 => bounds_of::<V, T, 3>(atoms, sight, offsets, patches, out),
        _ => bounds_of::<V, T, PATCHES>(atoms, sight, offsets, patches, out),
    }
}

#[inline(always)]
fn bounds_of<V: Vector<Elem = T>, T: Real, const COUNT: usize>(
    atoms: &RoughAtoms,
    Sight { inside, rows, field }: Sight<'_, T>,
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
