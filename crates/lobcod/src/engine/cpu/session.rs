//! The verbs of a session on the CPU.

use super::Manner;
use super::atom_pass::improve_atoms;
use super::atoms::Atoms;
use super::canvas::Canvas;
use super::discovery::DiscoverTile;
use super::gradient::{layer_gradient, whole_gradient};
use super::local_dual::{Asked, local_dual};
use super::measure::{Goal, MeasureTile};
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::support::{SupportTile, SynthesiseTile};
use super::team::Team;
use super::threads::Threads;
use super::tile::{Layers, LocalCode, TileState};
use crate::dictionary::Dictionary;
use crate::engine::{Discovery, Measure, Measurement, PlaneLayer, Problem, Session, State, Support, Sweep, Visit};
use crate::needles::Code;
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
    /// Tiles of every colour, planes in order.
    tiles: Vec<Vec<TileState<T>>>,
    /// What happened around each tile of each plane.
    surroundings: Vec<Vec<Surroundings>>,
}

/// Changes in a tile and its neighbours, by which sweeps and measurements pass it over.
#[derive(Clone)]
pub(super) struct Surroundings {
    neighbours: Vec<usize>,
    /// Changes (in shares of the threshold) since the tile's codes were last swept: its own last one and all of its neighbours.
    pending: f64,
    /// Has any code of the tile or a neighbour changed since the last measurement?
    changed: bool,
}

impl Surroundings {
    /// Memory of one, its up to 26 neighbours counted.
    pub(super) const BYTES: usize = size_of::<Self>() + 26 * size_of::<usize>();

    /// Tells a tile and its neighbours what a sweep did to it.
    fn note<T>(around: &mut [Surroundings], state: &TileState<T>, whole: bool) {
        // Where only some needles were visited, what was pending for the others still is.
        let pending = if whole { 0.0 } else { around[state.index].pending };
        around[state.index].pending = pending + state.last_change;
        if state.largest_change > 0.0 {
            around[state.index].changed = true;
            for i in 0..around[state.index].neighbours.len() {
                let neighbour = around[state.index].neighbours[i];
                around[neighbour].pending += state.largest_change;
                around[neighbour].changed = true;
            }
        }
    }
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
        let colours = planes.iter().map(|p| p.grid.colours).max().unwrap_or(1);
        let mut tiles: Vec<Vec<TileState<T>>> = (0..colours).map(|_| Vec::new()).collect();
        for (p, plane) in planes.iter().enumerate() {
            for (index, &tile) in plane.grid.tiles.iter().enumerate() {
                tiles[tile.colour].push(TileState::new(p, index, tile));
            }
        }
        if manner.reversed {
            tiles.iter_mut().for_each(|colour| colour.reverse());
        }
        let around = |plane: &PlaneState<T>| {
            let tile = |i| Surroundings { neighbours: plane.grid.neighbours(i), pending: f64::INFINITY, changed: true };
            (0..plane.grid.tiles.len()).map(tile).collect()
        };
        let surroundings = planes.iter().map(around).collect();
        let footprint = planes.iter().map(|p| p.layout.len).max().unwrap_or(0);
        let team = Team::new(threads, || Scratch::new(footprint, atoms.packed.stride));
        let (nonnegative, local) = (problem.nonnegative, problem.local);
        let Manner { level, skipping, .. } = manner;
        let mut session = CpuSession { team, level, skipping, nonnegative, local, atoms, planes, canvases, tiles, surroundings };
        session.refresh();
        session
    }

    /// Runs `work` on the tiles that `wanted` picks, colour after colour, the tiles of a colour in parallel.
    ///
    /// `whole` says that every code of a tile is swept.
    fn sweep(
        &mut self,
        whole: bool,
        wanted: impl Fn(&TileState<T>, &Surroundings) -> bool,
        work: impl Fn(&Atoms<T>, &PlaneState<T>, &mut TileState<T>, &mut Scratch<T>) + Sync,
    ) -> Sweep {
        let Self { team, atoms, planes, tiles, surroundings, .. } = self;
        let mut sum = Sweep::default();
        for colour in tiles {
            let mut chosen: Vec<&mut TileState<T>> =
                colour.iter_mut().filter(|s| wanted(s, &surroundings[s.plane][s.index])).collect();
            team.each(
                &mut chosen,
                |state| state.cost(),
                |state, scratch| {
                    (state.largest_change, state.last_change, state.visited) = (0.0, 0.0, 0);
                    work(atoms, &planes[state.plane], state, scratch);
                },
            );
            // In the order of the tiles, whatever the order they ran in: pending changes are added up.
            chosen.sort_unstable_by_key(|state| (state.plane, state.index));
            for state in chosen {
                sum.largest_change = sum.largest_change.max(state.largest_change);
                sum.visited += state.visited;
                Surroundings::note(&mut surroundings[state.plane], state, whole);
            }
        }
        sum
    }

    /// Takes what the codes make of `atoms` off the residuals.
    fn synthesise(&mut self, atoms: Option<&AtomRows<T>>) {
        let Self { team, planes, tiles, level, .. } = self;
        let atoms = atoms.unwrap_or(&self.atoms.rows);
        for colour in tiles {
            team.each(colour, TileState::cost, |state, scratch| {
                T::dispatch(*level, SynthesiseTile { atoms, plane: &planes[state.plane], state, scratch });
            });
        }
    }

    /// Forgets what was known about the surroundings: every tile is swept and measured again.
    fn forget(&mut self) {
        for around in self.surroundings.iter_mut().flatten() {
            (around.pending, around.changed) = (f64::INFINITY, true);
        }
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
        self.tiles.iter_mut().flatten().for_each(|state| state.candidates.clear());
        if sweep.visit == Visit::Spread {
            self.forget();
        }
        sum
    }

    fn support(&mut self, sweep: &Support) -> Sweep {
        let (level, nonnegative) = (self.level, self.nonnegative);
        // Candidates name ranges of codes, which sweeps shorten.
        self.tiles.iter_mut().flatten().for_each(|state| state.candidates.clear());
        self.sweep(
            true,
            |state, around| around.pending >= sweep.tolerance && !state.codes.is_empty(),
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
            let Self { team, atoms, planes, tiles, surroundings, .. } = self;
            let around = |s: &TileState<T>| &surroundings[s.plane][s.index];
            // A tile around which no code changed has the residual it had, to the last bit.
            let wanted = |s: &&mut TileState<T>| {
                around(s).changed || matches!(goal, Goal::Above { penalty, .. } if s.largest_correlation > penalty.to_f64())
            };
            let mut chosen: Vec<&mut TileState<T>> = tiles.iter_mut().flatten().filter(wanted).collect();
            chosen.sort_unstable_by_key(|state| (state.plane, state.index));
            team.each(
                &mut chosen,
                |state| state.cost(),
                |state, scratch| {
                    let (plane, changed) = (&planes[state.plane], around(state).changed);
                    T::dispatch(level, MeasureTile { atoms, plane, state, scratch, changed, goal, skipping, nonnegative });
                },
            );
            chosen.iter().for_each(|state| visited[state.plane] += state.visited);
            surroundings.iter_mut().flatten().for_each(|s| s.changed = false);
            planes.iter_mut().for_each(|plane| plane.keep_measured(team));
        }
        let Self { team, planes, tiles, atoms, .. } = self;
        let mut sums: Vec<Measurement> = planes
            .iter_mut()
            .zip(visited)
            .map(|(plane, visited)| {
                let (residual_energy, target_dot_residual) = plane.energies(team);
                Measurement { residual_energy, target_dot_residual, visited, ..Measurement::default() }
            })
            .collect();
        let mut tiles: Vec<&mut TileState<T>> = tiles.iter_mut().flatten().collect();
        // In the order of the tiles, whatever the order they run in: the norms are added up.
        tiles.sort_unstable_by_key(|state| (state.plane, state.index));
        team.each(&mut tiles, |state| state.cost(), |state, _| state.weigh(&planes[state.plane], &atoms.weights));
        for state in tiles {
            let sum = &mut sums[state.plane];
            sum.weighted_l1 += state.weighted_l1;
            sum.nonzeros += state.codes.len();
            // Codes may have changed since a certificate: what it measured then bounds nothing now.
            let largest = if what == Measure::Objective { f64::INFINITY } else { state.largest_correlation };
            sum.largest_correlation = sum.largest_correlation.max(largest);
        }
        sums
    }

    fn better_duals(&mut self, penalty: f64, worth: &[f64]) -> Vec<f64> {
        let (level, nonnegative) = (self.level, self.nonnegative);
        let Self { team, planes, tiles, atoms, .. } = self;
        let mut tiles: Vec<&mut TileState<T>> = tiles.iter_mut().flatten().collect();
        tiles.sort_unstable_by_key(|state| (state.plane, state.index));
        let of_planes = tiles.chunk_by_mut(|a, b| a.plane == b.plane);
        let found = planes.iter_mut().zip(of_planes).zip(worth).map(|((plane, tiles), &worth)| {
            let asked = Asked { penalty, nonnegative, worth };
            local_dual(&asked, level, team, atoms, plane, tiles).unwrap_or(f64::NEG_INFINITY)
        });
        found.collect()
    }

    fn fetch(&self) -> State<T> {
        let mut planes: Vec<Vec<Code<T>>> = self.planes.iter().map(|_| Vec::new()).collect();
        for state in self.tiles.iter().flatten() {
            let plane = &self.planes[state.plane];
            planes[state.plane].extend(state.codes.iter().map(|code| {
                let at = plane.layout.coordinates(code.offset as usize);
                let position =
                    std::array::from_fn(|a| (state.tile.origin[a] + at[a] as i64 - plane.grid.signal_at[a] as i64) as i32);
                Code { position, atom: u32::from(code.atom), channel: 0, value: code.value }
            }));
        }
        let pending = self.surroundings.iter().map(|around| around.iter().map(|a| a.pending).collect()).collect();
        State { codes: planes, pending }
    }

    fn restore(&mut self, given: &State<T>) {
        for state in self.tiles.iter_mut().flatten() {
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
            for state in self.tiles.iter_mut().flatten().filter(|s| s.plane == p) {
                let from = sorted.partition_point(|(tile, _)| *tile < state.index);
                let to = sorted.partition_point(|(tile, _)| *tile <= state.index);
                state.codes.extend(sorted[from..to].iter().map(|(_, code)| *code));
                state.sort(&plane.grid, &plane.layout);
                state.curvature_holds = false;
            }
        }
        self.forget();
        for (around, &pending) in self.surroundings.iter_mut().flatten().zip(given.pending.iter().flatten()) {
            around.pending = pending;
        }
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
        self.planes[plane].residual_of_signal()
    }

    fn dictionary(&self) -> &Dictionary<T> {
        &self.atoms.dictionary
    }

    fn set_dictionary(&mut self, dictionary: Dictionary<T>) {
        self.atoms = self.atoms.of(dictionary);
        for state in self.tiles.iter_mut().flatten() {
            state.curvature_holds = false;
            // What other atoms reached says nothing.
            state.reaches.clear();
        }
        self.forget();
    }

    fn memory(&self) -> u64 {
        let planes: usize = self.planes.iter().map(PlaneState::bytes).sum();
        let tiles: usize = self.tiles.iter().flatten().map(TileState::bytes).sum();
        let around = self.surroundings.iter().flatten().map(|a| size_of_val(a) + a.neighbours.capacity() * 8).sum::<usize>();
        let canvases: usize = self.canvases.iter().map(Canvas::bytes).sum();
        (self.team.bytes() + planes + canvases + tiles + around + self.atoms.bytes()) as u64
    }
}
