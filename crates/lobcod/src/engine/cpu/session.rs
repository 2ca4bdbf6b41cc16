//! The verbs of a session on the CPU.

use super::Manner;
use super::atom_pass::improve_atoms;
use super::atoms::Atoms;
use super::canvas::Canvas;
use super::changes::Changes;
use super::discovery::DiscoverTile;
use super::exchange::Exchange;
use super::fetched::OwnState;
use super::gradient::{InUnits, Parts, Survey};
use super::local_dual::{Asked, exceeding, scaled_reach};
use super::measure::{Goal, MeasureTile};
use super::plane::PlaneState;
use super::scratch::Scratch;
use super::shares::Shares;
use super::support::SupportTile;
use super::team::Team;
use super::threads::Threads;
use super::tile::{LocalCode, TileState};
use crate::dictionary::Dictionary;
use crate::engine::{
    Discovery, Exceeding, Measure, Measurement, Part, PlaneLayer, Problem, ScaledResidual, ScaledSums, Scaling, Session, State,
    Support, Sweep, Visit,
};
use crate::observe::Stop;
use crate::pursuit::Local;
use crate::real::Real;
use crate::report::Status;
use crate::simd::{AtomRows, Level};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A pursuit on the threads of this machine.
pub(super) struct CpuSession<T> {
    pub(super) team: Team<T>,
    pub(super) level: Level,
    pub(super) skipping: bool,
    pub(super) nonnegative: bool,
    pub(super) local: Local,
    pub(super) atoms: Atoms<T>,
    pub(super) planes: Vec<PlaneState<T>>,
    pub(super) learning: bool,
    /// Each plane with tiles here, laid out for the pass over the atoms; none unless the session is for learning.
    pub(super) canvases: Vec<Canvas<T>>,
    /// Tiles of all planes, in order.
    pub(super) tiles: Vec<TileState<T>>,
    /// Codes of every tile as they were when they were to be remembered.
    pub(super) remembered: Vec<Vec<LocalCode<T>>>,
    /// The tiles of every colour, and all of them, as the threads share them.
    pub(super) colours: Vec<Colour>,
    pub(super) all: Shares,
    pub(super) changes: Changes,
    pub(super) exchange: Exchange,
    pub(super) stop: Stop,
    /// Are the tiles weighed as they are?
    pub(super) weighed: bool,
}

/// The tiles of a colour: those away from other ranks' tiles, which run while borders travel, and those beside them.
pub(super) struct Colour {
    pub(super) inner: Shares,
    pub(super) border: Shares,
}

impl<T: Real> CpuSession<T> {
    pub(super) fn new(
        threads: Arc<Threads>,
        manner: Manner,
        problem: &Problem<T>,
        atoms: Atoms<T>,
        planes: Vec<PlaneState<T>>,
        canvases: Vec<Canvas<T>>,
        exchange: Exchange,
    ) -> Self {
        let places = planes.iter().enumerate().flat_map(|(p, plane)| (0..plane.grid.tiles.len()).map(move |index| (p, index)));
        let tile = |(number, (p, index)): (usize, (usize, usize))| TileState::new(p, number, index, planes[p].grid.tiles[index]);
        let tiles: Vec<TileState<T>> = places.enumerate().map(tile).collect();
        let changes = exchange.traffic().map_or_else(|| Changes::new(&planes), |t| Changes::of(&t.around, t.slots));
        let footprint = planes.iter().map(|p| p.layout.len).max().unwrap_or(0);
        let team = Team::new(threads, || Scratch::new(footprint, atoms.packed.stride));
        let (nonnegative, local, learning) = (problem.nonnegative, problem.local, problem.learning);
        let Manner { level, skipping, reversed } = manner;
        let mut lists = vec![[Vec::new(), Vec::new()]; planes.iter().map(|p| p.grid.colours).max().unwrap_or(1)];
        for state in &tiles {
            lists[state.tile.colour][usize::from(exchange.is_at_border(state.number))].push(state.number as u32);
        }
        let share = |mut list: Vec<u32>| {
            if reversed {
                list.reverse();
            }
            team.shares(&list, |_| 1)
        };
        let all = share((0..tiles.len() as u32).collect());
        let colours = lists.into_iter().map(|[inner, border]| Colour { inner: share(inner), border: share(border) }).collect();
        let mut session = CpuSession {
            team,
            level,
            skipping,
            nonnegative,
            local,
            atoms,
            planes,
            learning,
            canvases,
            tiles,
            remembered: Vec::new(),
            colours,
            all,
            changes,
            exchange,
            stop: Stop::default(),
            weighed: false,
        };
        session.refresh();
        session
    }
}

impl<T: Real> Session<T> for CpuSession<T> {
    fn heed(&mut self, stop: Stop) {
        // Ranks that stopped each at a time of its own would wait for each other for ever.
        if self.exchange.is_alone() {
            self.stop = stop;
        }
    }

    fn refresh(&mut self) {
        let Self { team, planes, .. } = self;
        planes.iter_mut().for_each(|plane| plane.reset_residual(team));
        self.synthesise(None);
    }

    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        let (level, skipping, nonnegative, local) = (self.level, self.skipping, self.nonnegative, self.local);
        let sum = self.sweeps(
            1,
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
        self.sweeps(
            sweep.sweeps,
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
        let broken_off = AtomicBool::new(false);
        if let Some(goal) = goal {
            let (level, skipping, nonnegative) = (self.level, self.skipping, self.nonnegative);
            let Self { team, atoms, planes, tiles, all, changes, stop, .. } = self;
            team.each_of(tiles, all, |state, scratch| {
                let changed = changes.since_measured(state);
                state.visited = 0;
                // A tile around which no code changed has the residual it had, to the last bit.
                if !changed && !matches!(goal, Goal::Above { penalty, .. } if state.largest_correlation > penalty.to_f64()) {
                    return;
                }
                if stop.is_due() {
                    return broken_off.store(true, Relaxed);
                }
                let plane = &planes[state.plane];
                T::dispatch(level, MeasureTile { atoms, plane, state, scratch, changed, goal, skipping, nonnegative });
                changes.note_measured(state);
            });
            if broken_off.load(Relaxed) {
                self.forget_measured();
            } else {
                planes.iter_mut().for_each(|plane| plane.keep_measured(team));
            }
        }
        let unknown = what == Measure::Objective || broken_off.load(Relaxed);
        if !std::mem::replace(&mut self.weighed, true) {
            let Self { team, planes, tiles, atoms, all, level, .. } = self;
            team.each_of(tiles, all, |state, _| state.weigh(*level, &planes[state.plane], &atoms.weights));
        }
        let sums = self.add_up(|state| {
            // Codes may have changed since a certificate: what it measured then bounds nothing now.
            Measurement {
                residual_energy: state.energies.0,
                target_dot_residual: state.energies.1,
                weighted_l1: state.weighted_l1,
                nonzeros: state.codes.len(),
                largest_correlation: if unknown { f64::INFINITY } else { state.largest_correlation },
                visited: if what == Measure::Objective { 0 } else { state.visited },
            }
        });
        if what == Measure::Objective {
            self.share_out();
        }
        sums
    }

    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        Some(self)
    }

    fn agree(&self, end: Option<Status>) -> Option<Status> {
        let wishes = [Status::TimeLimit, Status::Interrupted];
        let wish = end.and_then(|end| wishes.iter().position(|&wish| wish == end)).map_or(0.0, |i| i as f64 + 1.0);
        let mut most = [wish];
        self.exchange.largest(&mut most);
        wishes.get((most[0] as usize).wrapping_sub(1)).copied()
    }

    fn fetch(&self) -> State<T> {
        let own = self.own_state();
        if self.exchange.keeps_to_itself() {
            let pending = own.pending.into_iter().map(|tiles| tiles.into_iter().map(|(_, pending)| pending).collect()).collect();
            return State { codes: own.codes, pending };
        }
        let parts = self.exchange.gather(|| own.to_bytes()).expect("the ranks share what they have");
        OwnState::join(&parts, self.planes.len())
    }

    fn fetch_for_keeping(&self) -> State<T> {
        match self.exchange.gather_at_first(|| self.own_state().to_bytes()) {
            None => self.fetch(),
            Some(parts) => OwnState::join(&parts, self.planes.len()),
        }
    }

    fn restore(&mut self, given: &State<T>) {
        self.place_codes(&given.codes);
        self.forget();
        for state in self.tiles.iter_mut() {
            let whole = self.planes[state.plane].whole_index(state.index);
            if let Some(&pending) = given.pending.get(state.plane).and_then(|tiles| tiles.get(whole)) {
                self.changes.set_pending(state, pending);
            }
        }
        self.share_out();
    }

    fn remember_codes(&mut self) {
        self.remembered.resize_with(self.tiles.len(), Vec::new);
        self.remembered.iter_mut().zip(&self.tiles).for_each(|(codes, state)| codes.clone_from(&state.codes));
    }

    fn take_codes_back(&mut self) {
        for (state, codes) in self.tiles.iter_mut().zip(&self.remembered) {
            state.codes.clone_from(codes);
            // The atoms may be others since.
            state.curvature_holds = false;
        }
        self.forget_measured();
        self.share_out();
    }

    fn improve_atoms(&mut self) -> f64 {
        assert!(self.learning, "the session was opened for learning");
        let mut dictionary = self.atoms.dictionary.clone();
        let moved = improve_atoms(self, &mut dictionary);
        self.set_dictionary(dictionary);
        moved
    }

    fn layers(&self, plane: usize) -> usize {
        self.planes[plane].layers
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        let Self { team, planes, tiles, level, atoms, exchange, .. } = self;
        let mut parts = Parts::new(planes, tiles, of);
        let own = parts.survey(*level, team);
        let (mut largest, mut count) = ([own.largest_code, own.largest_sample], [own.codes as i64]);
        exchange.reduce(&mut count, &mut largest);
        let all = Survey { largest_code: largest[0], largest_sample: largest[1], codes: count[0] as usize };
        let numbers = atoms.dictionary.data().len();
        let Some(scale) = all.scale() else { return vec![if all.largest() == 0.0 { 0.0 } else { f64::NAN }; numbers] };
        let mut sums = parts.gradient(*level, team, scale, numbers);
        exchange.reduce(&mut sums, &mut []);
        T::dispatch(*level, InUnits { sums, scale })
    }

    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        let data: Vec<T> = direction.iter().map(|&g| T::from_f64(g)).collect();
        let row = self.atoms.dictionary.extent().padded()[2];
        let rows = AtomRows::from_data(&data, row, self.atoms.dictionary.atom_len(), self.level.lanes::<T>());
        let team = &self.team;
        self.planes.iter_mut().for_each(|plane| plane.clear_residual(team));
        self.synthesise(Some(&rows));
        let Self { team, planes, tiles, all, level, .. } = self;
        team.each_of(tiles, all, |state, _| state.energies = planes[state.plane].energies(*level, &state.tile));
        let sum = self.tiles.iter().map(|state| state.energies.0).collect();
        self.exchange.sums(vec![sum], &mut [])[0]
    }

    fn residual(&self, plane: usize) -> Vec<T> {
        let own = &self.planes[plane];
        match self.exchange.gather(|| own.own_residual()) {
            None => own.residual_part(&own.whole()),
            Some(parts) => own.join_residual(&parts),
        }
    }

    fn dictionary(&self) -> &Dictionary<T> {
        &self.atoms.dictionary
    }

    fn set_dictionary(&mut self, dictionary: Dictionary<T>) {
        self.atoms.replace(dictionary);
        self.tiles.iter_mut().for_each(|state| state.curvature_holds = false);
        // What other atoms reached says nothing.
        self.forget_measured();
    }

    fn memory(&self) -> u64 {
        let planes: usize = self.planes.iter().map(PlaneState::bytes).sum();
        let tiles: usize = self.tiles.iter().map(TileState::bytes).sum();
        let remembered: usize = self.remembered.iter().map(|codes| codes.capacity() * size_of::<LocalCode<T>>()).sum();
        let canvases: usize = self.canvases.iter().map(Canvas::bytes).sum();
        (self.team.bytes() + planes + canvases + tiles + remembered + self.changes.bytes() + self.atoms.bytes()) as u64
    }
}

impl<T: Real> ScaledResidual<T> for CpuSession<T> {
    fn exceeding(&mut self, penalty: f64, each: &mut dyn FnMut(usize, Exceeding)) {
        exceeding(penalty, &self.team, &self.planes, &self.tiles, each);
    }

    fn largest_of_all(&mut self, numbers: &mut [f32]) {
        if self.exchange.is_alone() {
            return;
        }
        for part in numbers.chunks_mut(1 << 16) {
            let mut largest: Vec<f64> = part.iter().map(|&x| f64::from(x)).collect();
            self.exchange.largest(&mut largest);
            part.iter_mut().zip(largest).for_each(|(x, most)| *x = most as f32);
        }
    }

    fn scaled_sums(&mut self, plane: usize, scaling: Scaling, part: Option<&Part>) -> ScaledSums {
        let sums = self.planes[plane].scaled_sums(&self.team, scaling, part);
        let sums = self.exchange.sums(sums.into(), &mut []);
        ScaledSums { dot: sums[0], energy: sums[1] }
    }

    fn scaled_reach(&mut self, plane: usize, scaling: Scaling, penalty: f64) -> f64 {
        let asked = Asked { penalty, nonnegative: self.nonnegative, scaling };
        let tiles = self.tiles.iter().filter(|state| state.plane == plane);
        let mut reach = [scaled_reach(asked, self.level, &self.team, &self.atoms, &self.planes[plane], tiles)];
        self.exchange.largest(&mut reach);
        reach[0]
    }

    fn residual_part(&mut self, plane: usize, part: &Part) -> Vec<T> {
        self.planes[plane].residual_part(part)
    }
}
