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

use super::canvas::{Canvas, FollowAndLook};
use super::plane::PlaneState;
use super::team::Team;
use super::tile::TileState;
use crate::dictionary::Dictionary;
use crate::observe::Stop;
use crate::real::Real;
use crate::simd::{AtomRows, Level};

/// Improves every atom in turn, the planes in parallel, until it is time to stop; gives the largest move of an atom.
pub(super) fn improve_atoms<T: Real>(
    dictionary: &mut Dictionary<T>,
    canvases: &mut [Canvas<T>],
    planes: &[PlaneState<T>],
    tiles: &[TileState<T>],
    team: &Team<T>,
    level: Level,
    stop: &Stop,
) -> f64 {
    let work = canvases.iter_mut().zip(planes);
    let mut work: Vec<Work<'_, T>> = work.map(|(canvas, plane)| Work { canvas, plane, tiles: Vec::new() }).collect();
    tiles.iter().for_each(|tile| work[tile.plane].tiles.push(tile));
    let (m, n) = (dictionary.len(), dictionary.atom_len());
    team.each(
        &mut work,
        |work| work.codes(),
        |work, _| {
            work.tiles.sort_unstable_by_key(|t| t.index);
            work.canvas.take_up(work.plane, &work.tiles, m);
        },
    );
    let used: Vec<usize> = (0..m).filter(|&k| work.iter().any(|w| w.canvas.uses(k))).collect();
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
        let change = best_move(dictionary, k, &work);
        dictionary.move_atom(k, &change);
        largest = largest.max(change.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt());
        moved = Some((k, AtomRows::from_data(&change, dictionary.extent().padded()[2], n, level.lanes::<T>())));
    }
    team.each(&mut work, |work| work.codes(), |work, _| work.canvas.give_back(work.plane));
    largest
}

/// A plane with its tiles, in order.
struct Work<'a, T> {
    canvas: &'a mut Canvas<T>,
    plane: &'a PlaneState<T>,
    tiles: Vec<&'a TileState<T>>,
}

impl<T> Work<'_, T> {
    fn codes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.codes.len()).sum()
    }
}

/// How atom `k` is to move, in its own precision.
fn best_move<T: Real>(dictionary: &Dictionary<T>, k: usize, work: &[Work<'_, T>]) -> Vec<T> {
    let sum = |of: &dyn Fn(&Canvas<T>) -> f64| work.iter().map(|w| of(w.canvas)).sum::<f64>();
    let bound: f64 = (0..work[0].canvas.autocorrelation.len()).map(|s| sum(&|c| c.autocorrelation[s]).abs()).sum();
    let width = dictionary.extent().padded()[2];
    let padded = work[0].canvas.gradient.len() / (dictionary.atom_len() / width);
    let before = dictionary.atom(k);
    let step = |(i, d): (usize, &T)| d.to_f64() + sum(&|c| c.gradient[i / width * padded + i % width]) / bound;
    let after: Vec<f64> = before.iter().enumerate().map(step).collect();
    let norm = after.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The residual follows what the atom becomes in its own precision.
    before.iter().zip(after).map(|(&d, a)| (d + T::from_f64(a / norm - d.to_f64())) - d).collect()
}
