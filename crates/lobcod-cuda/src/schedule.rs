//! The schedule in tables: tiles, their needles in the order of the layers, colours, and the parts that measurements work on.

use crate::neighbours::all_neighbours;
use crate::parallel;
use crate::recipe::Recipe;
use crate::sizes::{OpenPositions, Sizes, frames};
use crate::world::{Part, Plane, Region, Shape, Tile};
use lobcod::engine::Problem;
use lobcod::grid::{AxisLayers, Grid, Grouping};
use lobcod::{Border, Error, Result};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Positions of a tile along an axis, by rank: about as many as an atom has samples. A device has many tiles to work on at once, and the
/// codes of a tile are worked on one after the other.
const TILE: [usize; 3] = [64, 8, 4];
/// Samples in a part of a field.
const PART: usize = 8192;

/// Size of a tile, distance between the needles of a layer, axes on which it closes on itself.
type ShapeKey = ([usize; 3], [usize; 3], [bool; 3]);

/// What is listed so far: shapes of tiles, samples and positions.
#[derive(Default)]
struct Lists {
    shapes: Vec<(ShapeKey, i32)>,
    samples: usize,
    positions: usize,
}

/// All tables of a problem.
pub(crate) struct Schedule {
    pub(crate) grids: Vec<Grid>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) shapes: Vec<Shape>,
    /// Where the patches of needles begin in a footprint, shape after shape, and the layers they belong to.
    pub(crate) needles: Vec<u32>,
    pub(crate) needle_layers: Vec<u32>,
    /// First needle of every layer of every shape, and the end.
    pub(crate) layers: Vec<i32>,
    pub(crate) neighbours: Vec<i32>,
    /// Tiles of every colour, one after the other, and where each begins.
    pub(crate) coloured: Vec<i32>,
    pub(crate) colours: Vec<usize>,
    pub(crate) sizes: Sizes,
    pub(crate) parts: Vec<Part>,
    pub(crate) first_part: Vec<i32>,
}

/// The grouping of a problem with tiles of a size that suits a device.
pub(crate) fn own_grouping(grouping: Grouping, rank: usize) -> Grouping {
    match grouping {
        Grouping::Tiles(target) => Grouping::Tiles(target.min(TILE[rank - 1])),
        whole => whole,
    }
}

impl Schedule {
    /// Layers of a plane.
    pub(crate) fn layers(&self, plane: usize) -> usize {
        let plane = &self.planes[plane];
        let tiles = &self.tiles[plane.first_tile as usize..][..plane.tile_count as usize];
        tiles.iter().map(|t| self.shapes[t.shape as usize].layer_count as usize).max().unwrap_or(0)
    }

    /// The order of the layers of every plane that a seed makes, and where each begins.
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

    pub(crate) fn new(problem: &Problem<f32>, positions: OpenPositions) -> Result<Self> {
        let frames = frames(problem, positions)?;
        let sizes = Sizes::of(problem, &frames);
        let most = sizes.samples.max(sizes.positions).max(sizes.footprint);
        if [sizes.tiles, sizes.footprint].iter().any(|&size| i32::try_from(size).is_err()) || i64::try_from(most).is_err() {
            return Err(Error::Shape("the signals are too large for the device; code them one by one".into()));
        }
        let grids: Vec<Grid> = frames.iter().map(|frame| frame.block(&frame.all())).collect();
        let mut schedule = Self {
            planes: Vec::new(),
            tiles: Vec::new(),
            shapes: Vec::new(),
            needles: Vec::new(),
            needle_layers: Vec::new(),
            layers: Vec::new(),
            neighbours: Vec::new(),
            coloured: Vec::new(),
            colours: Vec::new(),
            sizes,
            parts: Vec::new(),
            first_part: vec![0],
            grids: Vec::new(),
        };
        let mut lists = Lists::default();
        for (grid, plane) in grids.iter().zip(&problem.planes) {
            let channels = problem.dictionary.channels();
            schedule.add_plane(grid, plane.weights.is_some(), channels, problem.border, &mut lists);
        }
        schedule.colour(&grids);
        schedule.grids = grids;
        Ok(schedule)
    }

    fn add_plane(&mut self, grid: &Grid, weighted: bool, channels: usize, border: Border, lists: &mut Lists) {
        let number = self.planes.len() as i32;
        let first_tile = self.tiles.len();
        let whole = |x: [usize; 3]| x.map(|x| x as i32);
        let samples = channels * grid.domain.iter().product::<usize>();
        let shape_of = |tile: &lobcod::grid::Tile| (tile.size, grid.period, grid.wraps);
        for tile in &grid.tiles {
            let key = shape_of(tile);
            if !lists.shapes.iter().any(|(known, _)| *known == key) {
                let shape = self.add_shape(tile.size, grid);
                lists.shapes.push((key, shape));
            }
        }
        let shapes = &lists.shapes;
        let (at, near) = all_neighbours(grid, first_tile, self.neighbours.len());
        self.neighbours.extend(near);
        self.tiles.resize(first_tile + grid.tiles.len(), Tile::default());
        parallel::parts(&mut self.tiles[first_tile..], |range, tiles| {
            for (index, out) in range.zip(tiles) {
                let tile = &grid.tiles[index];
                let cut = border == Border::Free
                    && (0..3).any(|a| {
                        let end = tile.origin[a] + (tile.size[a] + grid.atom[a]) as i64 - 1;
                        tile.origin[a] < 0 || end > grid.domain[a] as i64
                    });
                let key = shape_of(tile);
                *out = Tile {
                    plane: number,
                    shape: shapes.iter().find(|(known, _)| *known == key).expect("just listed").1,
                    neighbours_at: at[index],
                    neighbour_count: at[index + 1] - at[index],
                    origin: tile.origin.map(|x| x as i32),
                    size: whole(tile.size),
                    cut: i32::from(cut),
                    unused: 0,
                };
            }
        });
        self.planes.push(Plane {
            samples_at: lists.samples as i64,
            positions_at: lists.positions as i64,
            domain: whole(grid.domain),
            positions: whole(grid.positions),
            first: grid.first.map(|x| x as i32),
            wraps: grid.wraps.map(i32::from),
            weighted: i32::from(weighted),
            first_tile: first_tile as i32,
            tile_count: grid.tiles.len() as i32,
            wraps_any: i32::from(grid.wraps != [false; 3]),
        });
        for from in (0..samples).step_by(PART) {
            let length = PART.min(samples - from) as i32;
            self.parts.push(Part { plane: number, length, from: (lists.samples + from) as i64 });
        }
        self.first_part.push(self.parts.len() as i32);
        lists.samples += samples;
        lists.positions += grid.position_count();
    }

    /// Lists the needles of tiles of one size, layer after layer.
    fn add_shape(&mut self, size: [usize; 3], grid: &Grid) -> i32 {
        let axes: [_; 3] = std::array::from_fn(|a| AxisLayers::new(size[a], grid.period[a], grid.wraps[a]));
        let (needles_at, layers_at) = (self.needles.len(), self.layers.len());
        let [row, slice, _] = self.sizes.strides;
        for lz in axes[0].iter() {
            for ly in axes[1].iter() {
                for lx in axes[2].iter() {
                    let layer = (self.layers.len() - layers_at) as u32;
                    self.layers.push((self.needles.len() - needles_at) as i32);
                    for z in (0..lz.count).map(|i| lz.start + i * lz.step) {
                        for y in (0..ly.count).map(|i| ly.start + i * ly.step) {
                            let line = z * slice + y * row + lx.start;
                            self.needles.extend((0..lx.count).map(|i| (line + i * lx.step) as u32));
                        }
                    }
                    self.needle_layers.resize(self.needles.len(), layer);
                }
            }
        }
        self.layers.push((self.needles.len() - needles_at) as i32);
        let (needle_count, layer_count) = (self.needles.len() - needles_at, self.layers.len() - layers_at - 1);
        self.shapes.push(Shape {
            needles_at: needles_at as i32,
            needle_count: needle_count as i32,
            layers_at: layers_at as i32,
            layer_count: layer_count as i32,
        });
        (self.shapes.len() - 1) as i32
    }

    /// For every shape, the number of the needle whose patch begins at a place of the footprint.
    pub(crate) fn needle_numbers(&self) -> Vec<Vec<u32>> {
        let numbers = |shape: &Shape| {
            let mut numbers = vec![0; self.sizes.strides[2]];
            let needles = &self.needles[shape.needles_at as usize..][..shape.needle_count as usize];
            needles.iter().zip(0..).for_each(|(&place, number)| numbers[place as usize] = number);
            numbers
        };
        self.shapes.iter().map(numbers).collect()
    }

    /// Lists the tiles of every colour, planes in order.
    fn colour(&mut self, grids: &[Grid]) {
        let colours = grids.iter().map(|g| g.colours).max().unwrap_or(1);
        let all: Vec<usize> = grids.iter().flat_map(|g| g.tiles.iter().map(|t| t.colour)).collect();
        self.colours.push(0);
        for colour in 0..colours {
            self.coloured.extend(all.iter().enumerate().filter(|(_, c)| **c == colour).map(|(t, _)| t as i32));
            self.colours.push(self.coloured.len());
        }
    }

    /// Regions of positions for the reach kernel.
    pub(crate) fn regions(&self, recipe: &Recipe) -> Vec<Region> {
        let step = recipe.region_step();
        let mut regions = Vec::new();
        for (plane, grid) in self.grids.iter().enumerate() {
            for z in (0..grid.positions[0]).step_by(step[0]) {
                for y in (0..grid.positions[1]).step_by(step[1]) {
                    let at = |x: usize| [z as i32, y as i32, x as i32];
                    regions.extend((0..grid.positions[2]).step_by(step[2]).map(|x| Region { plane: plane as i32, at: at(x) }));
                }
            }
        }
        regions
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
