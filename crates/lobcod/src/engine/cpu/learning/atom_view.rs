//! Statistics of the codes of an atom, and the residual update after it changes.

use crate::engine::cpu::data::footprint::Footprint;
use crate::engine::cpu::learning::canvas::{Canvas, PlacedCode};
use crate::observe::Stop;
use crate::real::Real;
use crate::simd::{AtomRows, Kernel, Vector, add_atom, gather_patch};
use std::array::from_fn;

/// Patches summed in the precision of the signal before the sum is added to the f64 total.
const CHAIN: usize = 32;
/// Codes between two checks of the stop condition.
const CHECK_EVERY: usize = 256;

/// Updates the residual for the change of one atom, then gathers the statistics of the next.
pub struct UpdateAndGather<'a, T> {
    pub canvas: &'a mut Canvas<T>,
    /// The atom that changed, and its change.
    pub moved: Option<(usize, &'a AtomRows<T>)>,
    /// The next atom.
    pub next: Option<usize>,
    pub stop: &'a Stop,
}

impl<T: Real> Kernel<T> for UpdateAndGather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let canvas = self.canvas;
        if let Some((k, change)) = self.moved {
            let wraps = canvas.grid.wraps != [false; 3];
            let Footprint { residual, weights, .. } = &mut canvas.footprint;
            for code in &canvas.codes[canvas.first[k]..canvas.first[k + 1]] {
                let (at, weights) = (code.offset as usize, code.clipped.then_some(&weights[..]));
                add_atom::<V>(change, 0, &canvas.layout.rows, residual, weights, at, -code.value);
                if wraps {
                    canvas.layout.repeat_wrapped(&canvas.grid, &canvas.grid.tiles[0], at, residual);
                }
            }
        }
        let Some(k) = self.next else { return };
        canvas.gradient.fill(0.0);
        let residual = &canvas.footprint.residual;
        let mut own = canvas.codes[canvas.first[k]..canvas.first[k + 1]]
            .iter()
            .filter(|code| code.own)
            .peekable();
        while own.peek().is_some() {
            canvas.chain.fill(T::ZERO);
            for code in own.by_ref().take(CHAIN) {
                gather_patch::<V>(
                    &canvas.layout.rows,
                    residual,
                    code.offset as usize,
                    code.value,
                    &mut canvas.chain,
                );
            }
            canvas.gradient.iter_mut().zip(&canvas.chain).for_each(|(sum, x)| *sum += x.to_f64());
        }
        canvas.autocorrelation.fill(0.0);
        canvas.correlate_codes(k, self.stop);
    }
}

impl<T: Real> Canvas<T> {
    /// Computes the autocorrelation of the codes of atom `k`, until stopped.
    fn correlate_codes(&mut self, k: usize, stop: &Stop) {
        let (layout, overlap) = (&self.layout, self.overlap);
        let sums = &mut self.autocorrelation;
        let (slice, row) = ((2 * overlap[1] + 1) * (2 * overlap[2] + 1), 2 * overlap[2] + 1);
        let centre = sums.len() / 2;
        let mut add = |s: [i32; 3], product: f64| {
            if (0..3).all(|a| s[a].abs() <= overlap[a]) {
                let shift = (s[0] * slice + s[1] * row + s[2]) as isize;
                sums[centre.wrapping_add_signed(shift)] += product;
                sums[centre.wrapping_add_signed(-shift)] += product;
            }
        };
        let codes = &self.codes[self.first[k]..self.first[k + 1]];
        let at = |code: &PlacedCode<T>| layout.coordinates(code.offset as usize).map(|x| x as i32);
        let [row_stride, slice_stride, _] = layout.strides.map(|s| s as i64);
        for (i, one) in codes.iter().enumerate().filter(|(_, one)| one.own) {
            if i.is_multiple_of(CHECK_EVERY) && stop.is_due() {
                return;
            }
            let (here, value) = (at(one), one.value.to_f64());
            add([0; 3], 0.5 * value * value);
            let mut next = i + 1;
            while let Some(other) = codes.get(next) {
                let there = at(other);
                let [z, y, x] = from_fn(|a| there[a] - here[a]);
                if z > overlap[0] {
                    break;
                }
                if y.abs() <= overlap[1] && x.abs() <= overlap[2] {
                    add([z, y, x], value * other.value.to_f64());
                    next += 1;
                    continue;
                }
                // The next raster position where patches overlap.
                let row = if y < -overlap[1] { -overlap[1] } else { y + i32::from(x > overlap[2]) };
                let (z, row) = if row > overlap[1] { (z + 1, -overlap[1]) } else { (z, row) };
                let place = i64::from(one.offset)
                    + i64::from(z) * slice_stride
                    + i64::from(row) * row_stride
                    - i64::from(overlap[2]);
                next += 1 + before(&codes[next + 1..], place);
            }
        }
        if self.grid.periodic == [false; 3] {
            return;
        }
        // Periodic images; opposite directions give the same products.
        let domain = self.grid.domain.map(|l| l as i32);
        // Bands already contain their periodic surroundings along their axis.
        let in_bands = self.positions.is_some();
        let turns = (14..27).map(|i| [i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1]);
        for turn in turns.filter(|turn| !in_bands || turn[self.axis] == 0) {
            for other in codes {
                let there: [i32; 3] = from_fn(|a| at(other)[a] + turn[a] * domain[a]);
                if (0..3).all(|a| there[a] >= -overlap[a] && there[a] < domain[a] + overlap[a]) {
                    for one in codes.iter().filter(|one| one.own) {
                        let here = at(one);
                        add(
                            from_fn(|a| there[a] - here[a]),
                            one.value.to_f64() * other.value.to_f64(),
                        );
                    }
                }
            }
        }
    }
}

/// Number of codes before a raster position, by exponential search: usually there are few.
fn before<T>(codes: &[PlacedCode<T>], place: i64) -> usize {
    let is_before = |code: &PlacedCode<T>| i64::from(code.offset) < place;
    let mut step = 1;
    while codes.get(step - 1).is_some_and(is_before) {
        step *= 2;
    }
    let known = step / 2;
    known + codes[known..codes.len().min(step)].partition_point(is_before)
}
