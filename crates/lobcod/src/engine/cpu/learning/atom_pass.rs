//! One pass over the atoms: optimises one atom after another with codes fixed.
//!
//! For atom `d` with codes `a_i` at positions `i` the objective in `d'` is at most
//!
//! ```text
//! f(d) - <g, d' - d> + L/2 ||d' - d||^2,     g = sum_i a_i P_i R,    L = sum over shifts s of |sum_i a_i a_(i+s)|
//! ```
//!
//! for any mask and border, which can only remove energy. The minimiser of the bound on the unit
//! sphere is `normalise(L d + g)`, so the objective cannot increase; under [`Constraints`] it is
//! the minimiser among the atoms that satisfy them. Updating the residual costs `2 n` multiply-adds
//! per code.

use crate::dictionary::{AtomStatistics, Constraints, Dictionary, squares};
use crate::engine::Context;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::cpu::learning::atom_view::UpdateAndGather;
use crate::engine::cpu::learning::canvas::Canvas;
use crate::engine::cpu::session::CpuSession;
use crate::engine::ranks::{Exchange, wire};
use crate::real::Real;
use crate::simd::AtomRows;

/// Improves one atom after another, the planes in parallel; returns the largest change.
pub fn improve_atoms<T: Real>(
    session: &mut CpuSession<T>,
    dictionary: &mut Dictionary<T>,
    constraints: &Constraints,
    context: &Context,
) -> f64 {
    let CpuSession { canvases, planes, residuals, tiles, team, level, exchange, .. } = session;
    let (level, stop) = (*level, &context.stop);
    let before = |number: usize| tiles.partition_point(|tile| tile.plane < number);
    let of = |number: usize| &tiles[before(number)..before(number + 1)];
    let work = canvases.iter_mut().map(|canvas| AtomWorker {
        plane: &planes[canvas.plane],
        tiles: of(canvas.plane),
        canvas,
    });
    let mut work: Vec<AtomWorker<'_, T>> = work.collect();
    let (m, n) = (dictionary.len(), dictionary.atom_len());
    let shared = &*residuals;
    team.each(
        &mut work,
        |work| work.codes(),
        |work, _| work.canvas.load(work.plane, &shared[work.canvas.plane], work.tiles),
    );
    let mut rims: Vec<wire::WireCode> = work.iter().flat_map(|work| work.canvas.rim()).collect();
    let mut own = Vec::new();
    wire::put_list(&mut own, &rims);
    exchange
        .swap(&own)
        .iter()
        .for_each(|message| rims.extend(wire::take_list::<wire::WireCode>(&mut &message[..])));
    team.each(&mut work, |work| work.codes(), |work, _| work.canvas.complete(&rims, m));
    let mut used: Vec<f64> =
        (0..m).map(|k| f64::from(u8::from(work.iter().any(|w| w.canvas.uses(k))))).collect();
    exchange.reduce(&mut [], &mut used);
    let used: Vec<usize> = (constraints.frozen..m).filter(|&k| used[k] > 0.0).collect();
    let mut moved: Option<(usize, AtomRows<T>)> = None;
    let mut largest = 0.0f64;
    for next in used.into_iter().take_while(|_| !stop.is_due()).map(Some).chain([None]) {
        let last = moved.as_ref().map(|(k, change)| (*k, change));
        team.each(
            &mut work,
            |work| work.codes(),
            |work, _| {
                T::dispatch(level, UpdateAndGather { canvas: work.canvas, moved: last, next, stop })
            },
        );
        // An atom whose statistics are incomplete is left unchanged.
        let Some(k) = next.filter(|_| !stop.is_due()) else { break };
        let change = best_move(dictionary, k, constraints, &Seen::gather(&work, exchange));
        dictionary.move_atom(k, &change);
        largest = largest.max(squares(&change).sqrt());
        moved = Some((
            k,
            AtomRows::from_data(&change, dictionary.extent().padded()[2], n, level.lanes::<T>()),
        ));
    }
    for work in work {
        work.canvas.give_back(work.plane, &mut residuals[work.canvas.plane]);
    }
    largest
}

/// A plane or a band, with the tiles of the plane.
struct AtomWorker<'a, T> {
    canvas: &'a mut Canvas<T>,
    plane: &'a PlaneState<T>,
    tiles: &'a [TileState<T>],
}

impl<T> AtomWorker<'_, T> {
    /// Approximate number of codes: bands of a plane are similar.
    fn codes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.codes.len()).sum::<usize>()
            / self.plane.bands.own.len().max(1)
    }
}

/// Statistics of one atom, per plane and band.
struct Seen {
    /// For every plane or band: autocorrelation of the codes, then their gradient.
    planes: Vec<Vec<f64>>,
    shifts: usize,
}

impl Seen {
    /// Gathers the planes of all ranks, in order.
    fn gather<T: Real>(work: &[AtomWorker<'_, T>], exchange: &Exchange) -> Self {
        let own = |w: &AtomWorker<'_, T>| {
            [&w.canvas.autocorrelation[..], &w.canvas.gradient[..]].concat()
        };
        let shifts = work.first().map_or(0, |w| w.canvas.autocorrelation.len());
        if exchange.is_alone() {
            return Self { planes: work.iter().map(own).collect(), shifts };
        }
        let mut message = Vec::new();
        wire::put(&mut message, &[shifts as u64]);
        for w in work {
            wire::put(&mut message, &[w.canvas.plane as u64, w.canvas.band as u64]);
            wire::put_list(&mut message, &own(w));
        }
        let mut all = Self { planes: Vec::new(), shifts: 0 };
        let mut planes: Vec<([u64; 2], Vec<f64>)> = Vec::new();
        for part in exchange.gather(message) {
            let (mut rest, mut shifts) = (&part[..], [0u64]);
            wire::take(&mut rest, &mut shifts);
            all.shifts = all.shifts.max(shifts[0] as usize);
            while !rest.is_empty() {
                let mut place = [0u64; 2];
                wire::take(&mut rest, &mut place);
                planes.push((place, wire::take_list(&mut rest)));
            }
        }
        planes.sort_by_key(|(place, _)| *place);
        all.planes = planes.into_iter().map(|(_, numbers)| numbers).collect();
        all
    }

    /// Sum of one entry over all planes, in order.
    fn sum(&self, place: usize) -> f64 {
        self.planes.iter().map(|numbers| numbers[place]).sum()
    }
}

/// Update of atom `k`, in its own precision.
fn best_move<T: Real>(
    dictionary: &Dictionary<T>,
    k: usize,
    constraints: &Constraints,
    seen: &Seen,
) -> Vec<T> {
    let size = dictionary.extent().padded();
    let width = size[2];
    let padded = (seen.planes[0].len() - seen.shifts) / (dictionary.atom_len() / width);
    let before = dictionary.atom(k);
    let gradient = |i: usize| seen.sum(seen.shifts + i / width * padded + i % width);
    let statistics = AtomStatistics {
        gradient: (0..before.len()).map(gradient).collect(),
        autocorrelation: (0..seen.shifts).map(|shift| seen.sum(shift)).collect(),
        size,
    };
    let atom = before.iter().map(|d| d.to_f64()).collect();
    let Some(after) = constraints.best_atom(k, atom, &statistics) else {
        return vec![T::ZERO; before.len()];
    };
    // The residual must match the rounded atom.
    before.iter().zip(after).map(|(&d, a)| (d + T::from_f64(a - d.to_f64())) - d).collect()
}
