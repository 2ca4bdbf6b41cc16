//! A session on the device: the sweeps of a pursuit.

use crate::buffers::{Address, Buffers, up};
use crate::engine::Device;
use crate::layout::Layout;
use crate::program::Program;
use crate::recipe::Recipe;
use crate::rooms::Allowance;
use crate::schedule::Schedule;
use crate::world::{VisitSweep, World};
use cudarc::driver::{DriverError, LaunchConfig, PinnedHostSlice};
use lobcod::engine::{Discovery, Measure, Measurement, PlaneLayer, ScaledResidual, Session, State, Support, Sweep, Visit};
use lobcod::{Dictionary, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

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
    pub(crate) allowance: Option<Allowance>,
    /// Is it a session of a part of a larger signal?
    pub(crate) of_part: bool,
    pub(crate) remembered: Option<State<f32>>,
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

impl Session<f32> for CudaSession {
    fn heed(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn keep_within(&mut self, bytes: u64, wanted: Arc<AtomicU64>) {
        self.allowance = Some(Allowance { bytes, wanted });
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
                if self.world.weights != 0 {
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
                let round = self.support(&Support { penalty: sweep.penalty, sweeps: 1, rounds: 1, tolerance: 0.0 });
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
        for _ in 0..sweep.sweeps {
            self.colours(self.layout.support, |list, tiles, grid, threads, bytes| {
                if self.goes_on() {
                    launch!(self, "support", grid, threads, bytes, world, list, tiles, penalty, rounds, tolerance, group, kept);
                }
            });
        }
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

    /// In bands alone: elsewhere the sweeps that a better dual point saves were found to be cheaper than the point.
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        if self.of_part { Some(self) } else { None }
    }

    fn fetch(&self) -> State<f32> {
        self.fetch_state()
    }

    fn restore(&mut self, state: &State<f32>) {
        self.restore_state(state);
    }

    fn remember_codes(&mut self) {
        self.remembered = Some(self.fetch_state());
    }

    fn take_codes_back(&mut self) {
        let codes = self.remembered.take().expect("codes were remembered");
        self.restore_state(&codes);
        self.remembered = Some(codes);
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

pub(crate) fn config(grid: u32, threads: u32, bytes: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: bytes }
}

/// A device that fails in the middle of the work leaves nothing to go on with.
pub(crate) fn must<T>(result: std::result::Result<T, DriverError>) -> T {
    result.unwrap_or_else(|error| panic!("the CUDA device failed: {error}"))
}
