//! The residual of a plane, lent tile by tile while the tiles of a colour run concurrently.

use crate::engine::cpu::data::footprint::{Footprint, copy_run};
use crate::engine::cpu::data::plane::PlaneState;
use crate::geometry::{InDomain, Raster};
use crate::grid::Tile;
use crate::real::Real;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The residual of a plane, borrowed for the tiles of one colour.
pub struct ColourField<'a, T> {
    samples: *mut T,
    pub plane: &'a PlaneState<T>,
    colour: usize,
    /// Whether each tile has been lent.
    lent: Vec<AtomicBool>,
    borrowed: PhantomData<&'a mut [T]>,
}

// SAFETY: a tile is lent once, and the footprints of the tiles of a colour are disjoint, so no two
// threads access the same sample.
unsafe impl<T: Send + Sync> Sync for ColourField<'_, T> {}

impl<'a, T: Real> ColourField<'a, T> {
    pub fn new(residual: &'a mut [T], plane: &'a PlaneState<T>, colour: usize) -> Self {
        assert_eq!(residual.len(), plane.raster().len());
        let lent = plane.grid.tiles.iter().map(|_| AtomicBool::new(false)).collect();
        Self { samples: residual.as_mut_ptr(), plane, colour, lent, borrowed: PhantomData }
    }

    /// Lends the footprint of a tile of the colour; each tile once.
    pub fn lend(&self, index: usize) -> TileField<'_, T> {
        let tile = self.plane.grid.tiles[index];
        assert!(
            tile.colour == self.colour && !self.lent[index].swap(true, Relaxed),
            "a tile of the colour, lent once"
        );
        TileField {
            samples: self.samples,
            plane: self.plane,
            raster: self.plane.raster(),
            tile,
            borrowed: PhantomData,
        }
    }
}

/// The footprint of one tile in the residual.
pub struct TileField<'a, T> {
    samples: *mut T,
    plane: &'a PlaneState<T>,
    raster: Raster<InDomain>,
    tile: Tile,
    borrowed: PhantomData<&'a mut [T]>,
}

impl<T: Real> TileField<'_, T> {
    /// Copies the footprint and its weights into a buffer.
    #[inline(always)]
    pub fn load(&self, into: &mut Footprint<T>) {
        self.plane.layout.runs(
            &self.raster,
            &self.plane.touched(&self.tile),
            |at, from, length| {
                let into = &mut into.residual[at..at + length];
                match from {
                    // SAFETY: only this view accesses the footprint, which contains the run.
                    Some(from) => copy_run(
                        unsafe { std::slice::from_raw_parts(self.samples.add(from), length) },
                        into,
                    ),
                    None => into.fill(T::ZERO),
                }
            },
        );
        self.plane.load_weights(&self.tile, into);
    }

    /// Copies the footprint back.
    #[inline(always)]
    pub fn store(&mut self, from: &Footprint<T>) {
        self.plane.layout.runs(
            &self.raster,
            &self.plane.touched(&self.tile),
            |at, into, length| {
                if let Some(into) = into {
                    // SAFETY: as above, and the slice ends before the next run is visited.
                    let into =
                        unsafe { std::slice::from_raw_parts_mut(self.samples.add(into), length) };
                    copy_run(&from.residual[at..at + length], into);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::engine::cpu::data::plane::tests::plane;

    #[test]
    fn tiles_of_a_colour_write_their_footprints_concurrently() {
        for border in Border::ALL {
            let (plane, mut residual) = plane(&[13, 17], &[3, 3], border, 5);
            let mut writes = vec![0; residual.len()];
            for colour in 0..plane.grid.colours {
                let field = ColourField::new(&mut residual, &plane, colour);
                let tiles: Vec<usize> = (0..plane.grid.tiles.len())
                    .filter(|&i| plane.grid.tiles[i].colour == colour)
                    .collect();
                std::thread::scope(|scope| {
                    for &tile in &tiles {
                        let field = &field;
                        scope.spawn(move || {
                            let mut footprint = Footprint::new(field.plane.layout.len);
                            let mut lent = field.lend(tile);
                            lent.load(&mut footprint);
                            footprint.residual.iter_mut().for_each(|x| *x += 1.0);
                            lent.store(&footprint);
                        });
                    }
                });
                for &tile in &tiles {
                    let touched = plane.touched(&plane.grid.tiles[tile]);
                    let mut own = std::collections::BTreeSet::new();
                    plane.raster().runs(&touched, |_, from, length| {
                        own.extend(from.into_iter().flat_map(|from| from..from + length))
                    });
                    own.into_iter().for_each(|i: usize| writes[i] += 1);
                }
            }
            assert!(
                residual.iter().zip(&writes).all(|(x, &count)| *x == f64::from(count)),
                "{border}"
            );
        }
    }

    #[test]
    #[should_panic(expected = "lent once")]
    fn a_tile_is_not_lent_twice() {
        let (plane, mut residual) = plane(&[20], &[3], Border::Free, 5);
        let field = ColourField::new(&mut residual, &plane, 0);
        let (_one, _other) = (field.lend(0), field.lend(0));
    }
}
