//! The schedule as tables: tiles, their needles in the order of the layers, colours, and the runs
//! of samples for sums.

use crate::kernel_args::{Plane, ReachBlock, SampleRun, Shape, Tile};
use crate::sizes::{Sizes, tilings};
use lobcod::engine::{self, Problem};
use lobcod::geometry::{InSignal, Region, cell, volume};
use lobcod::grid::{self, Grid, Grouping, Layers, Neighbours};
use lobcod::{Error, Result, parallel};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::array::from_fn;

/// Positions of a tile along an axis, by rank: about as many as an atom has samples. A device
/// processes many tiles at once, and the codes of a tile sequentially.
const TILE: [usize; 3] = [64, 8, 4];
/// Samples in a run, as the kernels are compiled.
const RUN: usize = 8192;
/// Minimum number of table entries per thread.
const LEAST: usize = 1 << 14;
/// Maximum number of threads: work on tables is bound by memory.
const MOST_THREADS: usize = 16;

/// Size of a tile, distance between the needles of a layer, axes along which it wraps around.
type ShapeKey = ([usize; 3], [usize; 3], [bool; 3]);

/// All tables of a problem.
#[derive(Default)]
pub(crate) struct Schedule {
    pub(crate) grids: Vec<Grid>,
    /// The samples of every signal, without the padding of the zero border.
    pub(crate) signals: Vec<Region<InSignal>>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) shapes: Vec<Shape>,
    shape_keys: Vec<ShapeKey>,
    /// Offsets of the patches of needles in a footprint, shape by shape, and the layers they
    /// belong to.
    pub(crate) needles: Vec<u32>,
    pub(crate) needle_layers: Vec<u32>,
    /// First needle of every layer of every shape, and the end.
    pub(crate) layers: Vec<i32>,
    pub(crate) neighbours: Vec<u32>,
    /// Tiles of every colour, consecutively, and the start of each colour.
    pub(crate) coloured: Vec<i32>,
    pub(crate) colours: Vec<usize>,
    pub(crate) sizes: Sizes,
    pub(crate) runs: Vec<SampleRun>,
    pub(crate) first_run: Vec<i32>,
}

/// The grouping of a problem, with a tile size suitable for a device.
pub(crate) fn own_grouping(grouping: Grouping, rank: usize) -> Grouping {
    match grouping {
        Grouping::Tiles(target) => Grouping::Tiles(target.min(TILE[rank - 1])),
        whole => whole,
    }
}

/// Number of threads that work on tables.
pub(crate) fn table_threads() -> usize {
    parallel::count(0).min(MOST_THREADS)
}

/// Calls `work(i, entry)` for every entry of a table, on several threads.
pub(crate) fn each<T: Send>(table: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let entries = table.len();
    parallel::groups(
        table,
        entries,
        |i| i,
        LEAST,
        table_threads(),
        |range, part| range.zip(part).for_each(|(i, entry)| work(i, entry)),
    );
}

impl Schedule {
    /// Number of layers of a plane.
    pub(crate) fn layers(&self, plane: usize) -> usize {
        let plane = &self.planes[plane];
        let tiles = &self.tiles[plane.first_tile as usize..][..plane.tile_count as usize];
        tiles.iter().map(|t| self.shapes[t.shape as usize].layer_count as usize).max().unwrap_or(0)
    }

    /// The order of the layers of every plane for a seed, and the start of each plane.
    pub(crate) fn layer_order(&self, seed: u64) -> (Vec<i32>, Vec<i32>) {
        let (mut order, mut starts) = (Vec::new(), vec![0]);
        for plane in 0..self.planes.len() {
            let mut layers: Vec<i32> = (0..self.layers(plane) as i32).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(plane as u64);
            layers.shuffle(&mut rng);
            order.extend(layers);
            starts.push(order.len() as i32);
        }
        (order, starts)
    }

    pub(crate) fn new(
        problem: &Problem<f32>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Self> {
        let tilings = tilings(problem, positions)?;
        let sizes = Sizes::of(problem, &tilings);
        let footprint = sizes.strides[3];
        let most = sizes.samples.max(sizes.positions).max(footprint);
        if [sizes.tiles, footprint].iter().any(|&size| i32::try_from(size).is_err())
            || i64::try_from(most).is_err()
        {
            return Err(Error::Shape(
                "the signals are too large for the device; code them separately".into(),
            ));
        }
        let mut schedule = Self { sizes, first_run: vec![0], ..Self::default() };
        for (tiling, plane) in tilings.iter().zip(&problem.planes) {
            schedule.add_plane(tiling.block(&tiling.all()), plane, problem.dictionary.channels());
        }
        schedule.colour();
        Ok(schedule)
    }

    fn add_plane(&mut self, grid: Grid, plane: &engine::Plane<f32>, channels: usize) {
        let (number, first_tile) = (self.planes.len() as i32, self.tiles.len());
        let shape_key = |tile: &grid::Tile| (tile.region.size, grid.period, grid.wraps);
        for tile in &grid.tiles {
            let key = shape_key(tile);
            if !self.shape_keys.contains(&key) {
                self.shape_keys.push(key);
                self.add_shape(&Layers::of(&grid, tile));
            }
        }
        let Neighbours { starts, list } = grid.neighbours(first_tile, table_threads());
        let neighbours_at = self.neighbours.len() as u32;
        if self.neighbours.is_empty() {
            self.neighbours = list
        } else {
            self.neighbours.extend(list)
        }
        let (keys, domain) = (&self.shape_keys, grid.raster(1).region);
        self.tiles.resize(first_tile + grid.tiles.len(), Tile::default());
        each(&mut self.tiles[first_tile..], |index, out| {
            let (tile, key) = (&grid.tiles[index], shape_key(&grid.tiles[index]));
            *out = Tile {
                plane: number,
                shape: keys.iter().position(|known| *known == key).unwrap_or_default() as i32,
                neighbours_at: (neighbours_at + starts[index]) as i32,
                neighbour_count: (starts[index + 1] - starts[index]) as i32,
                origin: tile.region.start.map(|x| x as i32),
                size: tile.region.size.map(|x| x as i32),
                clipped: i32::from(
                    grid.periodic == [false; 3] && !domain.holds(&tile.region.touched(grid.atom)),
                ),
                unused: 0,
            };
        });
        let samples_at = self.runs.last().map_or(0, |run| run.from + i64::from(run.length));
        self.planes.push(Plane {
            samples_at,
            positions_at: self.grids.iter().map(Grid::position_count).sum::<usize>() as i64,
            domain: grid.domain.map(|x| x as i32),
            positions: grid.positions.size.map(|x| x as i32),
            first: grid.positions.start.map(|x| x as i32),
            wraps: grid.wraps.map(i32::from),
            weighted: i32::from(plane.weights.is_some()),
            first_tile: first_tile as i32,
            tile_count: grid.tiles.len() as i32,
            wraps_any: i32::from(grid.wraps != [false; 3]),
        });
        let samples = grid.raster(channels).len();
        let run = |from: usize| (from as i64 + samples_at, RUN.min(samples - from) as i32);
        let runs = (0..samples).step_by(RUN).map(run);
        self.runs.extend(runs.map(|(from, length)| SampleRun { plane: number, length, from }));
        self.first_run.push(self.runs.len() as i32);
        self.signals.push(plane.extent.region());
        self.grids.push(grid);
    }

    /// Lists the needles of tiles of one size, layer by layer.
    fn add_shape(&mut self, layers: &Layers) {
        let (needles_at, layers_at) = (self.needles.len(), self.layers.len());
        let [row, slice, ..] = self.sizes.strides;
        layers.all_needles([row, slice], &mut self.needles);
        let mut end = 0;
        for layer in 0..layers.count() {
            self.layers.push(end as i32);
            end += layers.size(layer);
            self.needle_layers.resize(needles_at + end, layer as u32);
        }
        self.layers.push(end as i32);
        self.shapes.push(Shape {
            needles_at: needles_at as i32,
            needle_count: end as i32,
            layers_at: layers_at as i32,
            layer_count: layers.count() as i32,
        });
    }

    /// For every shape, the index of the needle whose patch begins at an offset of the footprint.
    pub(crate) fn needle_numbers(&self) -> Vec<Vec<u32>> {
        let numbers = |shape: &Shape| {
            let mut numbers = vec![0; volume(self.sizes.footprint)];
            let needles = &self.needles[shape.needles_at as usize..][..shape.needle_count as usize];
            needles.iter().zip(0..).for_each(|(&place, number)| numbers[place as usize] = number);
            numbers
        };
        self.shapes.iter().map(numbers).collect()
    }

    /// Lists the tiles of every colour, planes in order.
    fn colour(&mut self) {
        let all: Vec<usize> =
            self.grids.iter().flat_map(|g| g.tiles.iter().map(|t| t.colour)).collect();
        self.colours.push(0);
        for colour in 0..self.grids.iter().map(|g| g.colours).max().unwrap_or(1) {
            self.coloured
                .extend(all.iter().zip(0..).filter(|(c, _)| **c == colour).map(|(_, tile)| tile));
            self.colours.push(self.coloured.len());
        }
    }

    /// Blocks of the reach kernel, with this many positions along each axis, that cover a plane.
    pub(crate) fn reach_blocks(
        &self,
        plane: usize,
        step: [usize; 3],
    ) -> impl ExactSizeIterator<Item = ReachBlock> {
        let counts = from_fn(|a| self.grids[plane].positions.size[a].div_ceil(step[a]));
        (0..volume(counts)).map(move |i| {
            let at = cell(i, counts);
            ReachBlock { plane: plane as i32, at: from_fn(|a| (at[a] * step[a]) as i32) }
        })
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
