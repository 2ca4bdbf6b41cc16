//! A session on the device: its memory, and the sweeps of a pursuit.

use crate::buffers::{Address, Buffers, Tables, empty, up};
use crate::device::failed;
use crate::engine::Device;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::program::Program;
use crate::recipe::Recipe;
use crate::schedule::Schedule;
use crate::sizes::{OpenPositions, Sizes};
use crate::world::{MAIL, VisitSweep, World};
use cudarc::driver::{DriverError, LaunchConfig, PinnedHostSlice};
use lobcod::engine::{Discovery, Measure, Measurement, PlaneLayer, Problem, ScaledResidual, Session, State, Support, Sweep, Visit};
use lobcod::{Border, Dictionary, Error, Result, Stop};
use std::sync::Arc;

/// Launches a kernel: `launch!(session, name, blocks, threads, bytes on chip, arguments...)`.
macro_rules! launch {
    ($session:expr, $name:literal, $grid:expr, $threads:expr, $bytes:expr $(, $arg:expr)*) => {{
        let config = $crate::session::config($grid, $threads, $bytes);
        let mut arguments = $session.device.stream.launch_builder($session.program.kernel($name));
        $( cudarc::driver::PushKernelArg::arg(&mut arguments, &$arg); )*
        // SAFETY: arguments are what the kernel declares, and every address is that of a buffer that this session owns.
        $crate::session::must(unsafe { arguments.launch(config) });
    }};
}
pub(crate) use launch;

/// A pursuit on the device.
pub(crate) struct CudaSession {
    pub(crate) device: Arc<Device>,
    pub(crate) program: Arc<Program>,
    pub(crate) schedule: Schedule,
    pub(crate) layout: Layout,
    pub(crate) recipe: Recipe,
    pub(crate) buffers: Buffers,
    pub(crate) world: World,
    pub(crate) dictionary: Dictionary<f32>,
    pub(crate) letters: PinnedHostSlice<u64>,
    /// Samples of every signal, to take the padding of the zero border off.
    pub(crate) extents: Vec<[usize; 3]>,
    pub(crate) known: Known,
    pub(crate) stop: Stop,
}

/// What holds of the arrays on the device.
#[derive(Default)]
pub(crate) struct Known {
    /// The reach belongs to the present residual.
    pub(crate) reach: bool,
    /// Needles whose reach exceeds this are candidates.
    pub(crate) candidates: Option<f32>,
    /// The curvatures of the codes belong to the present atoms.
    pub(crate) curvature: bool,
    /// The codes are sorted by atom as they stand.
    pub(crate) sorted: bool,
}

impl CudaSession {
    pub(crate) fn first_capacity(sizes: &Sizes) -> usize {
        (sizes.most_needles * 3 / 4).next_multiple_of(32).max(64)
    }

    pub(crate) fn open(device: Arc<Device>, problem: Problem<f32>, positions: OpenPositions) -> Result<Self> {
        if problem.dictionary.len() > usize::from(u16::MAX) {
            return Err(Error::Unavailable("the CUDA engine takes at most 65535 atoms; use fewer or the cpu engine".into()));
        }
        let schedule = Schedule::new(&problem, positions)?;
        let (n, m) = (problem.dictionary.atom_len(), problem.dictionary.len());
        let layout = Layout::new(&schedule.sizes, n, m, device.chip);
        let recipe = layout.recipe(&problem, &schedule.sizes);
        let program = device.program(&recipe)?;
        device.context.bind_to_thread().map_err(failed)?;
        let fields = Fields::gather(&problem, &schedule);
        let stream = &device.stream;
        let short = |error: DriverError| {
            let needed = "the device has too little free memory for this problem";
            Error::Unavailable(format!("{needed} ({error}); use a smaller signal or the cpu engine"))
        };
        let capacity = Self::first_capacity(&schedule.sizes);
        let tiles = schedule.tiles.len();
        let stride = recipe.stride();
        let padded = |f: &dyn Fn(f32) -> f32, with: f32| -> Vec<f32> {
            (0..stride).map(|k| problem.atom_weights.get(k).map_or(with, |&w| f(w))).collect()
        };
        let tables = Tables {
            planes: up(stream, &schedule.planes).map_err(short)?,
            tiles: up(stream, &schedule.tiles).map_err(short)?,
            shapes: up(stream, &schedule.shapes).map_err(short)?,
            needles: up(stream, &schedule.needles).map_err(short)?,
            needle_layers: up(stream, &schedule.needle_layers).map_err(short)?,
            layers: up(stream, &schedule.layers).map_err(short)?,
            neighbours: up(stream, &schedule.neighbours).map_err(short)?,
        };
        let buffers = Buffers {
            coloured: up(stream, &schedule.coloured).map_err(short)?,
            regions: up(stream, &schedule.regions(&recipe)).map_err(short)?,
            parts: up(stream, &schedule.parts).map_err(short)?,
            first_part: up(stream, &schedule.first_part).map_err(short)?,
            _target: up(stream, &fields.target).map_err(short)?,
            _weights: fields.weights.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            _position_weights: fields.position_weights.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            _position_caps: fields.position_caps.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            residual: empty(stream, schedule.sizes.samples).map_err(short)?,
            reach: empty(stream, schedule.sizes.positions).map_err(short)?,
            codes: empty(stream, 3 * tiles * capacity).map_err(short)?,
            counts: empty(stream, tiles).map_err(short)?,
            _slot: empty(stream, tiles).map_err(short)?,
            overflowed: empty(stream, tiles).map_err(short)?,
            total: empty(stream, tiles).map_err(short)?,
            own: empty(stream, tiles).map_err(short)?,
            seen: empty(stream, tiles).map_err(short)?,
            atoms: empty(stream, m * n).map_err(short)?,
            packed_rows: empty(stream, m * recipe.lanes() * recipe.lane_fours() * 4).map_err(short)?,
            columns: empty(stream, n.div_ceil(4) * (stride + 1) * 4).map_err(short)?,
            taps: empty(stream, recipe.taps()).map_err(short)?,
            gram: empty(stream, m * stride).map_err(short)?,
            _atom_weights: up(stream, &padded(&|w| w, f32::INFINITY)).map_err(short)?,
            _inverse_weights: up(stream, &padded(&|w| 1.0 / w, 0.0)).map_err(short)?,
            _scratch: empty(stream, (layout.scratch * tiles).max(4)).map_err(short)?,
            mail: empty(stream, MAIL).map_err(short)?,
            plane_largest: empty(stream, schedule.planes.len()).map_err(short)?,
            part_sums: empty(stream, 2 * schedule.parts.len()).map_err(short)?,
            tile_sums: empty(stream, 2 * tiles).map_err(short)?,
            plane_sums: empty(stream, 6 * schedule.planes.len()).map_err(short)?,
            sorted: None,
            scaled: None,
            _tables: tables,
        };
        // SAFETY: written by the device before it is read.
        let letters = unsafe { device.context.alloc_pinned(MAIL) }.map_err(short)?;
        let at = Address(&device);
        let (b, t) = (&buffers, &buffers._tables);
        let world = World {
            planes: at.of(&t.planes),
            tiles: at.of(&t.tiles),
            shapes: at.of(&t.shapes),
            needles: at.of(&t.needles),
            needle_layers: at.of(&t.needle_layers),
            layers: at.of(&t.layers),
            neighbours: at.of(&t.neighbours),
            target: at.of(&b._target),
            weights: b._weights.as_ref().map_or(0, |w| at.of(w)),
            residual: at.of(&b.residual),
            position_weights: b._position_weights.as_ref().map_or(0, |w| at.of(w)),
            position_caps: b._position_caps.as_ref().map_or(0, |w| at.of(w)),
            reach: at.of(&b.reach),
            codes: at.of(&b.codes),
            counts: at.of(&b.counts),
            slot: at.of(&b._slot),
            overflowed: at.of(&b.overflowed),
            total: at.of(&b.total),
            own: at.of(&b.own),
            seen: at.of(&b.seen),
            atoms: at.of(&b.atoms),
            packed_rows: at.of(&b.packed_rows),
            columns: at.of(&b.columns),
            gram: at.of(&b.gram),
            atom_weights: at.of(&b._atom_weights),
            inverse_weights: at.of(&b._inverse_weights),
            mail: at.of(&b.mail),
            scratch: at.of(&b._scratch),
            scratch_size: layout.scratch as i64,
            tile_count: tiles as i32,
            capacity: capacity as i32,
            periodic: i32::from(problem.border == Border::Periodic),
            nonnegative: i32::from(problem.nonnegative),
            cap: problem.cap.map_or(u32::MAX, |cap| u32::try_from(cap).unwrap_or(u32::MAX)),
            least_weight: problem.atom_weights.iter().copied().fold(f32::INFINITY, f32::min) * (1.0 - 1e-4),
            weighted: i32::from(schedule.sizes.cut),
        };
        let extents = problem.planes.iter().map(|p| p.extent.padded()).collect();
        let dictionary = problem.dictionary;
        let known = Known::default();
        let stop = Stop::default();
        let mut session =
            Self { device, program, schedule, layout, recipe, buffers, world, dictionary, letters, extents, known, stop };
        session.take_dictionary();
        session.forget();
        session.refresh();
        Ok(session)
    }
}

impl Session<f32> for CudaSession {
    fn heed(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn refresh(&mut self) {
        self.reset_residual(false);
        self.synthesise(self.world.packed_rows);
    }

    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        let penalty = sweep.penalty as f32;
        let mut told = VisitSweep { penalty, tolerance: sweep.local_tolerance as f32, ..VisitSweep::default() };
        match sweep.visit {
            Visit::All => {
                self.reach();
                (told.visit, told.bound) = (0, penalty * (1.0 + told.tolerance));
            }
            Visit::Candidates => {
                let Some(bound) = self.known.candidates else { return Sweep::default() };
                (told.visit, told.bound) = (1, bound);
            }
            Visit::Spread => told.visit = 2,
            Visit::Layer(PlaneLayer { plane, layer }) => (told.visit, told.plane, told.layer) = (3, plane as i32, layer as i32),
        }
        self.find_curvatures();
        let order = sweep.layer_seed.map(|seed| self.schedule.layer_order(seed));
        let order = order.map(|(order, starts)| (must(up(&self.device.stream, &order)), must(up(&self.device.stream, &starts))));
        if let Some((order, starts)) = &order {
            let at = Address(&self.device);
            (told.order, told.order_at) = (at.of(order), at.of(starts));
        }
        self.clear_mail();
        let mail = if sweep.visit == Visit::Spread {
            self.make_room_for_dense_codes();
            // No needle sees another, so colours need not wait for each other.
            self.visit(&[0, self.schedule.tiles.len()], told)
        } else {
            let colours = self.schedule.colours.clone();
            self.visit(&colours, told)
        };
        (self.known.reach, self.known.candidates, self.known.sorted) = (false, None, false);
        let mut sweep_sum = Self::sweep_of(&mail);
        match sweep.visit {
            Visit::Spread => self.forget(),
            Visit::All => {
                if again(self.world.weights != 0) {
                    // Needles were judged before any was visited. What others did to them may have woken some.
                    self.reach();
                    let colours = self.schedule.colours.clone();
                    self.clear_mail();
                    let woken = Self::sweep_of(&self.visit(&colours, VisitSweep { visit: 1, ..told }));
                    sweep_sum.largest_change = sweep_sum.largest_change.max(woken.largest_change);
                    sweep_sum.visited += woken.visited;
                    self.known.reach = false;
                }
                // Needles that need no other atoms: their codes follow.
                let round = self.support(&Support { penalty: sweep.penalty, rounds: 1, tolerance: 0.0 });
                sweep_sum.largest_change = sweep_sum.largest_change.max(round.largest_change);
            }
            Visit::Candidates | Visit::Layer(_) => {}
        }
        sweep_sum
    }

    fn support(&mut self, sweep: &Support) -> Sweep {
        self.find_curvatures();
        self.known.candidates = None;
        self.clear_mail();
        let (penalty, rounds, tolerance) = (sweep.penalty as f32, sweep.rounds as i32, sweep.tolerance as f32);
        let (world, group, kept) = (self.world, self.layout.support.tile as i32, self.layout.kept_codes as i32);
        self.colours(self.layout.support, |list, tiles, grid, threads, bytes| {
            if self.goes_on() {
                launch!(self, "support", grid, threads, bytes, world, list, tiles, penalty, rounds, tolerance, group, kept);
            }
        });
        (self.known.reach, self.known.sorted) = (false, false);
        Self::sweep_of(&self.read_mail())
    }

    fn measure(&mut self, what: Measure) -> Vec<Measurement> {
        if what != Measure::Objective {
            self.reach();
        }
        if let Measure::Certificate { penalty, slack } = what {
            self.known.candidates = Some((penalty * (1.0 + slack)) as f32);
        }
        let sums = self.tally();
        let visited = |plane: usize| if what == Measure::Objective { 0 } else { self.schedule.grids[plane].position_count() };
        let measured = sums.iter().enumerate().map(|(plane, sum)| Measurement {
            residual_energy: sum.residual_energy,
            target_dot_residual: sum.target_dot_residual,
            weighted_l1: sum.weighted_l1,
            nonzeros: sum.nonzeros,
            largest_correlation: if what == Measure::Objective { f64::INFINITY } else { sum.largest_reach },
            visited: visited(plane),
        });
        measured.collect()
    }

    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        Some(self)
    }

    fn fetch(&self) -> State<f32> {
        self.fetch_state()
    }

    fn restore(&mut self, state: &State<f32>) {
        self.restore_state(state);
    }

    fn improve_atoms(&mut self) -> f64 {
        self.pass_over_atoms()
    }

    fn layers(&self, plane: usize) -> usize {
        self.schedule.layers(plane)
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        self.gradient_of(of)
    }

    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        self.energy_of_direction(direction)
    }

    fn residual(&self, plane: usize) -> Vec<f32> {
        self.residual_of(plane)
    }

    fn dictionary(&self) -> &Dictionary<f32> {
        &self.dictionary
    }

    fn set_dictionary(&mut self, dictionary: Dictionary<f32>) {
        self.dictionary = dictionary;
        self.take_dictionary();
        self.forget();
    }

    fn memory(&self) -> u64 {
        self.bytes()
    }
}

fn again(weighted: bool) -> bool {
    match std::env::var("LOBCOD_AGAIN").as_deref() {
        Ok("0") => false,
        Ok("2") => true,
        _ => weighted,
    }
}

pub(crate) fn config(grid: u32, threads: u32, bytes: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: bytes }
}

/// A device that fails in the middle of the work leaves nothing to go on with.
pub(crate) fn must<T>(result: std::result::Result<T, DriverError>) -> T {
    result.unwrap_or_else(|error| panic!("the CUDA device failed: {error}"))
}
