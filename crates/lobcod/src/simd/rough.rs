//! Bounds on the correlations of a patch from whole numbers: a third of their cost.
//!
//! A patch and the atoms are rounded to bytes, `r = s q + e` and `d = t b + f`, whose products add up four at a time and without error.
//! With `||d|| = 1` no correlation exceeds `s t |<b, q>| + ||e|| + ||f|| (||r|| + ||e||)`: a few percent above the truth, where the norm
//! of the patch alone lies far above it.

#[cfg(target_arch = "x86_64")]
mod vnni;

use super::Level;
use super::patch::{AtomRows, PatchRows};
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

/// Where patches lie.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a, T> {
    /// An atom of ones.
    pub(crate) inside: &'a AtomRows<T>,
    pub(crate) rows: &'a PatchRows,
    pub(crate) field: &'a [T],
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
    /// known.
    #[inline(always)]
    pub(crate) fn bounds<V: Vector<Elem = T>, T: Real>(
        &self,
        sight: Sight<'_, T>,
        offsets: &[u32],
        patches: &mut RoughPatches<T>,
        out: &mut [T],
    ) {
        #[cfg(target_arch = "x86_64")]
        for (offsets, out) in offsets.chunks(PATCHES).zip(out.chunks_mut(PATCHES)) {
            // SAFETY: there are no such atoms unless the instructions are there.
            unsafe { vnni::bounds::<V, T>(self, sight, offsets, patches, out) };
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

#[cfg(test)]
mod tests {
    use super::super::{BATCH, Kernel, PackedAtoms, PatchSamples, Reach};
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
            let sight = Sight { inside: &self.inside, rows: &self.rows, field: &self.field };
            rough.bounds::<V, T>(sight, &self.offsets, &mut RoughPatches::new(), &mut bounds);
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
        let patch = PatchSamples::new(starts.iter().flat_map(|&s| (0..width as u32).map(move |x| s + x)).collect());
        let offsets: Vec<u32> = (0..BATCH as u32).map(|i| i % 20 * row as u32 + i % 13).collect();
        let mut exact = vec![T::ZERO; offsets.len()];
        packed.reach(&field, &patch, &offsets, Reach { inverse_weights: &inverse_weights, nonnegative: false }, &mut exact);
        let ones = vec![T::ONE; height * width];
        let inside = AtomRows::from_data(&ones, width, height * width, lanes);
        let rows = PatchRows::new(starts, inside.width);
        let atoms = AtomRows::new(&dictionary, lanes);
        let case = Case { field, rows, atoms, inside, inverse_weights, offsets };
        let bounds = T::dispatch(Level::Avx512, &case).expect("enough atoms for bytes");
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
