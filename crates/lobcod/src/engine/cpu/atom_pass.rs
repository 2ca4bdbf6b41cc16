//! One pass over the atoms: each in turn becomes the best of its direction, codes held still.
//!
//! For atom `d` with codes `a_i` at positions `i` the objective in `d'` is at most
//!
//! ```text
//! f(d) - <g, d' - d> + L/2 ||d' - d||^2,     g = sum_i a_i P_i R,    L = sum over shifts s of |sum_i a_i a_(i+s)|
//! ```
//!
//! whatever the mask and the border, which only take energy away. The lowest point of the bound on the unit sphere is
//! `normalise(L d + g)`, so the objective cannot rise. Then the residual follows: `2 n` multiply-adds a code.

use super::canvas::Canvas;
use super::exchange::Exchange;
use super::look::FollowAndLook;
use super::plane::PlaneState;
use super::rims::{self, RimCode};
use super::session::CpuSession;
use super::tile::TileState;
use crate::dictionary::Dictionary;
use crate::real::Real;
use crate::simd::AtomRows;

/// Improves every atom in turn, the planes in parallel, until it is time to stop; gives the largest move of an atom.
pub(super) fn improve_atoms<T: Real>(session: &mut CpuSession<T>, dictionary: &mut Dictionary<T>) -> f64 {
    let CpuSession { canvases, planes, tiles, team, level, exchange, stop, .. } = session;
    let (level, stop) = (*level, &*stop);
    let before = |number: usize| tiles.partition_point(|tile| tile.plane < number);
    let of = |number: usize| &tiles[before(number)..before(number + 1)];
    let work = canvases.iter_mut().map(|canvas| Work { plane: &planes[canvas.plane], tiles: of(canvas.plane), canvas });
    let mut work: Vec<Work<'_, T>> = work.collect();
    let (m, n) = (dictionary.len(), dictionary.atom_len());
    team.each(&mut work, |work| work.codes(), |work, _| work.canvas.take_up(work.plane, work.tiles));
    let mut rims: Vec<RimCode<T>> = work.iter().flat_map(|work| work.canvas.rim()).collect();
    let theirs = exchange.swap(rims::to_bytes(&rims));
    theirs.iter().for_each(|message| rims.extend(rims::from_bytes(message)));
    team.each(&mut work, |work| work.codes(), |work, _| work.canvas.complete(&rims, m));
    let mut used: Vec<f64> = (0..m).map(|k| f64::from(u8::from(work.iter().any(|w| w.canvas.uses(k))))).collect();
    exchange.largest(&mut used);
    let used: Vec<usize> = (0..m).filter(|&k| used[k] > 0.0).collect();
    let mut moved: Option<(usize, AtomRows<T>)> = None;
    let mut largest = 0.0f64;
    for next in used.into_iter().take_while(|_| !stop.is_due()).map(Some).chain([None]) {
        let last = moved.as_ref().map(|(k, change)| (*k, change));
        team.each(
            &mut work,
            |work| work.codes(),
            |work, _| T::dispatch(level, FollowAndLook { canvas: work.canvas, moved: last, next, stop }),
        );
        // An atom that was not looked at to the end stays.
        let Some(k) = next.filter(|_| !stop.is_due()) else { break };
        let change = best_move(dictionary, k, &Seen::gather(&work, exchange));
        dictionary.move_atom(k, &change);
        largest = largest.max(change.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt());
        moved = Some((k, AtomRows::from_data(&change, dictionary.extent().padded()[2], n, level.lanes::<T>())));
    }
    team.each(&mut work, |work| work.codes(), |work, _| work.canvas.give_back(work.plane));
    largest
}

/// A plane or a band, with the tiles of the plane.
struct Work<'a, T> {
    canvas: &'a mut Canvas<T>,
    plane: &'a PlaneState<T>,
    tiles: &'a [TileState<T>],
}

impl<T> Work<'_, T> {
    /// About as many codes as there are: bands of a plane are alike.
    fn codes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.codes.len()).sum::<usize>() / self.plane.bands.own.len().max(1)
    }
}

/// What the codes of one atom see, plane after plane, band after band.
struct Seen {
    /// Of every plane or band: the autocorrelation of the codes, then their gradient.
    planes: Vec<Vec<f64>>,
    shifts: usize,
}

impl Seen {
    /// Of the planes of all ranks, in their order.
    fn gather<T: Real>(work: &[Work<'_, T>], exchange: &Exchange) -> Self {
        let own = |w: &Work<'_, T>| [&w.canvas.autocorrelation[..], &w.canvas.gradient[..]].concat();
        let shifts = work.first().map(|w| w.canvas.autocorrelation.len());
        let message = || {
            let mut bytes = (shifts.unwrap_or(0) as u64).to_le_bytes().to_vec();
            for w in work {
                let numbers = own(w);
                bytes.extend((w.canvas.plane as u64).to_le_bytes());
                bytes.extend((w.canvas.band as u64).to_le_bytes());
                bytes.extend((numbers.len() as u64).to_le_bytes());
                f64::append_bytes(&numbers, &mut bytes);
            }
            bytes
        };
        let Some(parts) = exchange.gather(message) else {
            return Self { planes: work.iter().map(own).collect(), shifts: shifts.unwrap_or(0) };
        };
        let mut planes: Vec<((u64, u64), Vec<f64>)> = Vec::new();
        let mut shifts = 0;
        for part in &parts {
            let mut rest = &part[..];
            let number = |rest: &mut &[u8]| {
                let (bytes, behind) = rest.split_first_chunk::<8>().expect("a message is whole");
                *rest = behind;
                u64::from_le_bytes(*bytes)
            };
            shifts = shifts.max(number(&mut rest) as usize);
            while !rest.is_empty() {
                let place = (number(&mut rest), number(&mut rest));
                let mut numbers = vec![0.0; number(&mut rest) as usize];
                f64::take_bytes(&mut rest, &mut numbers);
                planes.push((place, numbers));
            }
        }
        planes.sort_by_key(|(place, _)| *place);
        Self { planes: planes.into_iter().map(|(_, numbers)| numbers).collect(), shifts }
    }

    /// The sum of one number over all planes, in their order.
    fn sum(&self, place: usize) -> f64 {
        self.planes.iter().map(|numbers| numbers[place]).sum()
    }
}

/// How atom `k` is to move, in its own precision.
fn best_move<T: Real>(dictionary: &Dictionary<T>, k: usize, seen: &Seen) -> Vec<T> {
    let bound: f64 = (0..seen.shifts).map(|shift| seen.sum(shift).abs()).sum();
    let width = dictionary.extent().padded()[2];
    let padded = (seen.planes[0].len() - seen.shifts) / (dictionary.atom_len() / width);
    let before = dictionary.atom(k);
    let step = |(i, d): (usize, &T)| d.to_f64() + seen.sum(seen.shifts + i / width * padded + i % width) / bound;
    let after: Vec<f64> = before.iter().enumerate().map(step).collect();
    let norm = after.iter().map(|x| x * x).sum::<f64>().sqrt();
    // Codes beyond the precision say nothing of an atom.
    if !(norm.is_finite() && norm > 0.0) {
        return vec![T::ZERO; before.len()];
    }
    // The residual follows what the atom becomes in its own precision.
    before.iter().zip(after).map(|(&d, a)| (d + T::from_f64(a / norm - d.to_f64())) - d).collect()
}
