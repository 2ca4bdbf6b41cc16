//! Work on all tiles of a session: colour after colour, rank beside rank.

use super::atoms::Atoms;
use super::changes::{Changes, Seen};
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::session::CpuSession;
use super::support::SynthesiseTile;
use super::tile::TileState;
use crate::engine::{Measurement, Sweep};
use crate::exact::ExactSum;
use crate::real::Real;
use crate::simd::AtomRows;

impl<T: Real> CpuSession<T> {
    /// Shares the tiles out anew by what they hold now.
    pub(super) fn share_out(&mut self) {
        let Self { team, tiles, colours, all, .. } = self;
        if team.threads() == 1 {
            return;
        }
        for shares in colours.iter_mut().flat_map(|colour| [&mut colour.inner, &mut colour.border]).chain([all]) {
            let mut items = shares.items().to_vec();
            items.sort_unstable();
            *shares = team.shares(&items, |i| tiles[i as usize].cost());
        }
    }

    /// So many times: runs `work` on the tiles that `wanted` picks by what is pending around them, colour after colour, the tiles of a
    /// colour in parallel. Ranks that are not neighbours wait for each other at the end only.
    ///
    /// `whole` says that every code of a tile is swept.
    pub(super) fn sweeps(
        &mut self,
        count: usize,
        whole: bool,
        wanted: impl Fn(&TileState<T>, &dyn Fn() -> f64) -> bool + Sync,
        work: impl Fn(&Atoms<T>, &PlaneState<T>, &mut TileState<T>, &mut Scratch<T>) + Sync,
    ) -> Sweep {
        let stop = self.stop.clone();
        for _ in 0..count {
            self.run_colours(|atoms, changes, planes, state, scratch| {
                if !wanted(state, &|| changes.pending(state)) || stop.is_due() {
                    return;
                }
                (state.largest_change, state.last_change, state.visited) = (0.0, 0.0, 0);
                work(atoms, &planes[state.plane], state, scratch);
                scratch.tally.largest_change = scratch.tally.largest_change.max(state.largest_change);
                scratch.tally.visited += state.visited;
                changes.note(state, whole);
            });
        }
        let together = |sum: Sweep, part: Sweep| Sweep {
            largest_change: sum.largest_change.max(part.largest_change),
            visited: sum.visited + part.visited,
        };
        self.exchange.together(self.team.tallies().fold(Sweep::default(), together))
    }

    /// Runs `work` on all tiles, colour after colour. What the ranks beside this one did to samples of both is waited for where it
    /// is needed: before the tiles at the border of the next colour, and at the end.
    pub(super) fn run_colours(
        &mut self,
        work: impl Fn(&Atoms<T>, &Changes, &[PlaneState<T>], &mut TileState<T>, &mut Scratch<T>) + Sync,
    ) {
        self.weighed = false;
        let Self { team, atoms, planes, tiles, colours, changes, exchange, .. } = self;
        let last = colours.len() - 1;
        exchange.begin(planes);
        for (number, colour) in colours.iter_mut().enumerate() {
            team.each_of(tiles, &mut colour.inner, |state, scratch| work(atoms, changes, planes, state, scratch));
            if number > 0 {
                exchange.receive(number - 1, planes, changes);
            }
            team.each_of(tiles, &mut colour.border, |state, scratch| work(atoms, changes, planes, state, scratch));
            exchange.send(number, planes, changes);
        }
        exchange.receive(last, planes, changes);
    }

    /// Takes what the codes make of `atoms` off the residuals.
    pub(super) fn synthesise(&mut self, atoms: Option<&AtomRows<T>>) {
        let level = self.level;
        self.run_colours(|own, _, planes, state, scratch| {
            let atoms = atoms.unwrap_or(&own.rows);
            T::dispatch(level, SynthesiseTile { atoms, plane: &planes[state.plane], state, scratch });
        });
    }

    /// Measurements of every plane from those of its tiles on all ranks, by exact sums.
    pub(super) fn add_up(&self, of: impl Fn(&TileState<T>) -> Measurement) -> Vec<Measurement> {
        let planes = self.planes.len();
        let mut sums = vec![ExactSum::default(); 3 * planes];
        let (mut counts, mut largest) = (vec![0; 2 * planes], vec![0.0f64; planes]);
        for state in &self.tiles {
            let (p, m) = (state.plane, of(state));
            [m.residual_energy, m.target_dot_residual, m.weighted_l1]
                .iter()
                .enumerate()
                .for_each(|(i, &x)| sums[3 * p + i].add(x));
            counts[2 * p] += m.nonzeros;
            counts[2 * p + 1] += m.visited;
            largest[p] = largest[p].max(m.largest_correlation);
        }
        let sums = self.exchange.sums(sums, &mut counts);
        self.exchange.largest(&mut largest);
        let plane = |p: usize| Measurement {
            residual_energy: sums[3 * p],
            target_dot_residual: sums[3 * p + 1],
            weighted_l1: sums[3 * p + 2],
            nonzeros: counts[2 * p],
            largest_correlation: largest[p],
            visited: counts[2 * p + 1],
        };
        (0..planes).map(plane).collect()
    }

    /// The tiles of a plane.
    pub(super) fn tiles_of(&self, plane: usize) -> &[TileState<T>] {
        let before = |p: usize| self.tiles.partition_point(|state| state.plane < p);
        &self.tiles[before(plane)..before(plane + 1)]
    }

    /// Forgets what was known about the surroundings: every tile is swept and measured again.
    pub(super) fn forget(&mut self) {
        self.weighed = false;
        self.tiles.iter_mut().for_each(|state| state.seen = Seen::NOTHING);
    }

    /// Forgets also how far the needles reached when they were last measured.
    pub(super) fn forget_measured(&mut self) {
        for state in self.tiles.iter_mut() {
            state.reaches.clear();
            state.candidates.clear();
        }
        self.forget();
    }
}
