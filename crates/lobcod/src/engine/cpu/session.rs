//! The verbs of a session on the CPU.

use super::Manner;
use super::atom_pass::improve_atoms;
use super::atoms::Atoms;
use super::canvas::Canvas;
use super::changes::{Changes, Seen};
use super::discovery::DiscoverTile;
use super::gather::gather_codes;
use super::gradient::{layer_gradient, whole_gradient};
use super::local_dual::{Asked, scaled_reach};
use super::measure::{Goal, MeasureTile};
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::shares::Shares;
use super::support::{SupportTile, SynthesiseTile};
use super::team::Team;
use super::threads::Threads;
use super::tile::{Layers, LocalCode, TileState};
use crate::dictionary::Dictionary;
use crate::engine::{
    Discovery, Measure, Measurement, Part, PlaneLayer, Problem, ScaledSums, Scaling, Session, State, Support, Sweep, Visit,
};
use crate::pursuit::Local;
use crate::real::Real;
use crate::simd::{AtomRows, Level};
use std::sync::Arc;

/// A pursuit on the threads of this machine.
pub(super) struct CpuSession<T> {
    team: Team<T>,
    level: Level,
    skipping: bool,
    nonnegative: bool,
    local: Local,
    atoms: Atoms<T>,
    planes: Vec<PlaneState<T>>,
    /// Each plane laid out for the pass over the atoms; none unless the session is for learning.
    canvases: Vec<Canvas<T>>,
    /// Tiles of all planes, in order.
    tiles: Vec<TileState<T>>,
    /// The tiles of every colour, and all of them, as the threads share them.
    colours: Vec<Shares>,
    all: Shares,
    changes: Changes,
}

impl<T: Real> CpuSession<T> {
    pub(super) fn new(
        threads: Arc<Threads>,
        manner: Manner,
        problem: &Problem<T>,
        atoms: Atoms<T>,
        planes: Vec<PlaneState<T>>,
        canvases: Vec<Canvas<T>>,
    ) -> Self {
        let places = planes.iter().enumerate().flat_map(|(p, plane)| (0..plane.grid.tiles.len()).map(move |index| (p, index)));
        let tile = |(number, (p, index)): (usize, (usize, usize))| TileState::new(p, number, index, planes[p].grid.tiles[index]);
        let tiles: Vec<TileState<T>> = places.enumerate().map(tile).collect();
        let changes = Changes::new(&planes);
        let footprint = planes.iter().map(|p| p.layout.len).max().unwrap_or(0);
        let team = Team::new(threads, || Scratch::new(footprint, atoms.packed.stride));
        let (nonnegative, local) = (problem.nonnegative, problem.local);
        let Manner { level, skipping, reversed } = manner;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); planes.iter().map(|p| p.grid.colours).max().unwrap_or(1)];
        tiles.iter().for_each(|state| lists[state.tile.colour].push(state.number as u32));
        lists.push((0..tiles.len() as u32).collect());
        if reversed {
            lists.iter_mut().for_each(|list| list.reverse());
        }
        let mut colours: Vec<Shares> = lists.iter().map(|list| team.shares(list, |_| 1)).collect();
        let all = colours.pop().expect("the list of all tiles");
        let mut session =
            CpuSession { team, level, skipping, nonnegative, local, atoms, planes, canvases, tiles, colours, all, changes };
        session.refresh();
        session
    }

    /// Shares the tiles out anew by what they hold now.
    fn share_out(&mut self) {
        let Self { team, tiles, colours, all, .. } = self;
        if team.threads() == 1 {
            return;
        }
        for shares in colours.iter_mut().chain([all]) {
            let mut items = shares.items().to_vec();
            items.sort_unstable();
            *shares = team.shares(&items, |i| tiles[i as usize].cost());
        }
    }

    /// Runs `work` on the tiles that `wanted` picks by what is pending around them, colour after colour, the tiles of a colour in
    /// parallel.
    ///
    /// `whole` says that every code of a tile is swept.
    fn sweep(
        &mut self,
        whole: bool,
        wanted: impl Fn(&TileState<T>, &dyn Fn() -> f64) -> bool + Sync,
        work: impl Fn(&Atoms<T>, &PlaneState<T>, &mut TileState<T>, &mut Scratch<T>) + Sync,
    ) -> Sweep {
        let Self { team, atoms, planes, tiles, colours, changes, .. } = self;
        for colour in colours {
            team.each_of(tiles, colour, |state, scratch| {
                if !wanted(state, &|| changes.pending(state)) {
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
        team.tallies().fold(Sweep::default(), together)
    }

    /// Takes what the codes make of `atoms` off the residuals.
    fn synthesise(&mut self, atoms: Option<&AtomRows<T>>) {
        let Self { team, planes, tiles, colours, level, .. } = self;
        let atoms = atoms.unwrap_or(&self.atoms.rows);
        for colour in colours {
            team.each_of(tiles, colour, |state, scratch| {
                T::dispatch(*level, SynthesiseTile { atoms, plane: &planes[state.plane], state, scratch });
            });
        }
    }

    /// Forgets what was known about the surroundings: every tile is swept and measured again.
    fn forget(&mut self) {
        self.tiles.iter_mut().for_each(|state| state.seen = Seen::NOTHING);
    }
}

impl<T: Real> Session<T> for CpuSession<T> {
    fn refresh(&mut self) {
        let Self { team, planes, .. } = self;
        planes.iter_mut().for_each(|plane| plane.reset_residual(team));
        self.synthesise(None);
    }

    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        let (level, skipping, nonnegative, local) = (self.level, self.skipping, self.nonnegative, self.local);
        let sum = self.sweep(
            matches!(sweep.visit, Visit::All | Visit::Spread),
            |state, _| match sweep.visit {
                Visit::All | Visit::Spread => true,
                Visit::Candidates => !state.candidates.is_empty(),
                Visit::Layer(of) => state.plane == of.plane,
            },
            |atoms, plane, state, scratch| {
                T::dispatch(level, DiscoverTile { atoms, plane, state, scratch, sweep, skipping, nonnegative, local })
            },
        );
        if sweep.visit == Visit::Spread {
            self.forget();
        }
        sum
    }

    fn support(&mut self, sweep: &Support) -> Sweep {
        let (level, nonnegative) = (self.level, self.nonnegative);
        self.sweep(
            true,
            |state, pending| !state.codes.is_empty() && pending() >= sweep.tolerance,
            |atoms, plane, state, scratch| {
                T::dispatch(level, SupportTile { atoms, plane, state, scratch, sweep, nonnegative });
            },
        )
    }

    fn measure(&mut self, what: Measure) -> Vec<Measurement> {
        let goal = match what {
            Measure::Objective => None,
            Measure::Largest => Some(Goal::Largest),
            Measure::Certificate { penalty, slack } => {
                Some(Goal::Above { penalty: T::from_f64(penalty), bound: T::from_f64(penalty * (1.0 + slack)) })
            }
        };
        let mut visited = vec![0; self.planes.len()];
        if let Some(goal) = goal {
            let (level, skipping, nonnegative) = (self.level, self.skipping, self.nonnegative);
            let Self { team, atoms, planes, tiles, all, changes, .. } = self;
            team.each_of(tiles, all, |state, scratch| {
                let changed = changes.since_measured(state);
                state.visited = 0;
                // A tile around which no code changed has the residual it had, to the last bit.
                if !changed && !matches!(goal, Goal::Above { penalty, .. } if state.largest_correlation > penalty.to_f64()) {
                    return;
                }
                let plane = &planes[state.plane];
                T::dispatch(level, MeasureTile { atoms, plane, state, scratch, changed, goal, skipping, nonnegative });
                changes.note_measured(state);
            });
            tiles.iter().for_each(|state| visited[state.plane] += state.visited);
            planes.iter_mut().for_each(|plane| plane.keep_measured(team));
        }
        let Self { team, planes, tiles, atoms, all, .. } = self;
        let mut sums: Vec<Measurement> = planes
            .iter_mut()
            .zip(visited)
            .map(|(plane, visited)| {
                let (residual_energy, target_dot_residual) = plane.energies(team);
                Measurement { residual_energy, target_dot_residual, visited, ..Measurement::default() }
            })
            .collect();
        team.each_of(tiles, all, |state, _| state.weigh(&planes[state.plane], &atoms.weights));
        // In the order of the tiles, whatever the order they ran in: the norms are added up.
        for state in tiles {
            let sum = &mut sums[state.plane];
            sum.weighted_l1 += state.weighted_l1;
            sum.nonzeros += state.codes.len();
            // Codes may have changed since a certificate: what it measured then bounds nothing now.
            let largest = if what == Measure::Objective { f64::INFINITY } else { state.largest_correlation };
            sum.largest_correlation = sum.largest_correlation.max(largest);
        }
        if what == Measure::Objective {
            self.share_out();
        }
        sums
    }

    fn exceeding(&self, penalty: f64, each: &mut dyn FnMut(usize, [i64; 3], f64)) -> bool {
        let mut needles = Vec::new();
        for state in self.tiles.iter().filter(|state| state.largest_correlation > penalty) {
            let plane = &self.planes[state.plane];
            Layers::of(&plane.grid, &state.tile).all_needles(&plane.layout, &mut needles);
            for (&offset, reach) in needles.iter().zip(&state.reaches).filter(|(_, reach)| reach.to_f64() > penalty) {
                let at = state.place(&plane.layout, offset).map(i64::from);
                each(state.plane, plane.in_field([0; 3], at), reach.to_f64() / penalty);
            }
        }
        true
    }

    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        self.planes[plane].scaled_sums(&self.team, scaling, part)
    }

    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64 {
        let asked = Asked { penalty, nonnegative: self.nonnegative, scaling };
        let tiles = self.tiles.iter().filter(|state| state.plane == plane);
        scaled_reach(asked, self.level, &self.team, &self.atoms, &self.planes[plane], tiles)
    }

    fn fetch(&self) -> State<T> {
        let of_planes = self.tiles.chunk_by(|a, b| a.plane == b.plane);
        let planes = of_planes.map(|tiles| gather_codes(&self.team, &self.planes[tiles[0].plane], tiles)).collect();
        let of_planes = self.tiles.chunk_by(|a, b| a.plane == b.plane);
        let pending = of_planes.map(|tiles| tiles.iter().map(|state| self.changes.pending(state)).collect()).collect();
        State { codes: planes, pending }
    }

    fn restore(&mut self, given: &State<T>) {
        for state in self.tiles.iter_mut() {
            state.codes.clear();
            state.candidates.clear();
        }
        for (p, codes) in given.codes.iter().enumerate() {
            let plane = &self.planes[p];
            let mut sorted: Vec<(usize, LocalCode<T>)> = Vec::with_capacity(codes.len());
            // Where the tiles begin along every axis, to find the tile of a position.
            let starts: [Vec<i64>; 3] = std::array::from_fn(|a| {
                let mut s: Vec<i64> = plane.grid.tiles.iter().map(|t| t.origin[a]).collect();
                s.sort_unstable();
                s.dedup();
                s
            });
            for code in codes {
                let at: [i64; 3] = std::array::from_fn(|a| i64::from(code.position[a]) + plane.grid.signal_at[a] as i64);
                let cell: [usize; 3] = std::array::from_fn(|a| starts[a].partition_point(|&s| s <= at[a]) - 1);
                let tile = (cell[0] * starts[1].len() + cell[1]) * starts[2].len() + cell[2];
                let local = std::array::from_fn(|a| (at[a] - starts[a][cell[a]]) as usize);
                let offset = plane.layout.offset(local) as u32;
                let atom = code.atom as u16;
                sorted.push((tile, LocalCode { offset, atom, cut: false, value: code.value, curvature: T::ONE }));
            }
            sorted.sort_by_key(|(tile, _)| *tile);
            for state in self.tiles.iter_mut().filter(|s| s.plane == p) {
                let from = sorted.partition_point(|(tile, _)| *tile < state.index);
                let to = sorted.partition_point(|(tile, _)| *tile <= state.index);
                state.codes.extend(sorted[from..to].iter().map(|(_, code)| *code));
                state.sort(&plane.grid, &plane.layout);
                state.curvature_holds = false;
            }
        }
        self.forget();
        for (state, &pending) in self.tiles.iter_mut().zip(given.pending.iter().flatten()) {
            self.changes.set_pending(state, pending);
        }
        self.share_out();
    }

    fn improve_atoms(&mut self) -> f64 {
        assert_eq!(self.canvases.len(), self.planes.len(), "the session was opened for learning");
        let mut dictionary = self.atoms.dictionary.clone();
        let Self { canvases, planes, tiles, team, level, .. } = self;
        let moved = improve_atoms(&mut dictionary, canvases, planes, tiles, team, *level);
        self.set_dictionary(dictionary);
        moved
    }

    fn layers(&self, plane: usize) -> usize {
        let grid = &self.planes[plane].grid;
        grid.tiles.iter().map(|tile| Layers::of(grid, tile).count()).max().unwrap_or(0)
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        let Self { team, planes, tiles, level, atoms, .. } = self;
        let numbers = atoms.dictionary.data().len();
        match of {
            Some(PlaneLayer { plane, layer }) => layer_gradient(*level, &mut planes[plane], tiles, plane, layer, numbers),
            None => whole_gradient(*level, team, planes, tiles, numbers),
        }
    }

    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        let data: Vec<T> = direction.iter().map(|&g| T::from_f64(g)).collect();
        let row = self.atoms.dictionary.extent().padded()[2];
        let rows = AtomRows::from_data(&data, row, self.atoms.dictionary.atom_len(), self.level.lanes::<T>());
        let team = &self.team;
        self.planes.iter_mut().for_each(|plane| plane.clear_residual(team));
        self.synthesise(Some(&rows));
        let team = &self.team;
        self.planes.iter_mut().map(|plane| plane.energies(team).0).sum()
    }

    fn residual(&self, plane: usize) -> Vec<T> {
        self.residual_part(plane, &self.planes[plane].whole())
    }

    fn residual_part(&self, plane: usize, part: &Part) -> Vec<T> {
        self.planes[plane].residual_part(part)
    }

    fn dictionary(&self) -> &Dictionary<T> {
        &self.atoms.dictionary
    }

    fn set_dictionary(&mut self, dictionary: Dictionary<T>) {
        self.atoms = self.atoms.of(dictionary);
        for state in self.tiles.iter_mut() {
            state.curvature_holds = false;
            // What other atoms reached says nothing.
            state.reaches.clear();
        }
        self.forget();
    }

    fn memory(&self) -> u64 {
        let planes: usize = self.planes.iter().map(PlaneState::bytes).sum();
        let tiles: usize = self.tiles.iter().map(TileState::bytes).sum();
        let canvases: usize = self.canvases.iter().map(Canvas::bytes).sum();
        (self.team.bytes() + planes + canvases + tiles + self.changes.bytes() + self.atoms.bytes()) as u64
    }
}
