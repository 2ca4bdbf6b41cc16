//! Memory on the device.

use crate::engine::Device;
use crate::rooms::Rooms;
use crate::scaled::Scaled;
use crate::world::{Part, Place, Plane, Region, Shape, Tile};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, ValidAsZeroBits};
use std::sync::Arc;

/// Buffers on the device.
pub(crate) struct Buffers {
    /// Tables, which are only read.
    pub(crate) _tables: Tables,
    pub(crate) coloured: CudaSlice<i32>,
    pub(crate) regions: CudaSlice<Region>,
    pub(crate) parts: CudaSlice<Part>,
    pub(crate) first_part: CudaSlice<i32>,
    pub(crate) _target: CudaSlice<f32>,
    pub(crate) _weights: Option<CudaSlice<f32>>,
    pub(crate) _position_weights: Option<CudaSlice<f32>>,
    pub(crate) _position_caps: Option<CudaSlice<u32>>,
    pub(crate) residual: CudaSlice<f32>,
    pub(crate) reach: CudaSlice<f32>,
    pub(crate) rooms: Rooms,
    pub(crate) counts: CudaSlice<i32>,
    pub(crate) _slot: CudaSlice<i32>,
    pub(crate) wanted: CudaSlice<i32>,
    pub(crate) total: CudaSlice<f64>,
    pub(crate) own: CudaSlice<f64>,
    pub(crate) seen: CudaSlice<f64>,
    pub(crate) atoms: CudaSlice<f32>,
    pub(crate) packed_rows: CudaSlice<f32>,
    pub(crate) columns: CudaSlice<f32>,
    pub(crate) taps: CudaSlice<f32>,
    pub(crate) gram: CudaSlice<f32>,
    pub(crate) _atom_weights: CudaSlice<f32>,
    pub(crate) _inverse_weights: CudaSlice<f32>,
    pub(crate) _scratch: CudaSlice<f32>,
    pub(crate) mail: CudaSlice<u64>,
    pub(crate) plane_largest: CudaSlice<u32>,
    pub(crate) part_sums: CudaSlice<f64>,
    pub(crate) tile_sums: CudaSlice<f64>,
    pub(crate) plane_sums: CudaSlice<f64>,
    pub(crate) sorted: Option<Sorted>,
    pub(crate) scaled: Option<Scaled>,
}

/// Tables of the schedule.
pub(crate) struct Tables {
    pub(crate) planes: CudaSlice<Plane>,
    pub(crate) tiles: CudaSlice<Tile>,
    pub(crate) shapes: CudaSlice<Shape>,
    pub(crate) needles: CudaSlice<u32>,
    pub(crate) needle_layers: CudaSlice<u32>,
    pub(crate) layers: CudaSlice<i32>,
    pub(crate) neighbours: CudaSlice<i32>,
}

/// Codes sorted by atom.
pub(crate) struct Sorted {
    pub(crate) first: CudaSlice<i32>,
    pub(crate) next: CudaSlice<i32>,
    pub(crate) sums: CudaSlice<i32>,
    pub(crate) places: CudaSlice<Place>,
    pub(crate) values: CudaSlice<f32>,
    pub(crate) numbers: CudaSlice<u32>,
    pub(crate) gradient: CudaSlice<i64>,
    pub(crate) correlation: CudaSlice<i64>,
    pub(crate) improved: CudaSlice<f32>,
}

/// Tells where buffers lie on the device.
pub(crate) struct Address<'a>(pub(crate) &'a Device);

impl Address<'_> {
    pub(crate) fn of<T>(&self, buffer: &CudaSlice<T>) -> u64 {
        buffer.device_ptr(&self.0.stream).0
    }
}

pub(crate) fn up<T: DeviceRepr>(stream: &Arc<CudaStream>, data: &[T]) -> std::result::Result<CudaSlice<T>, DriverError> {
    stream.clone_htod(data)
}

pub(crate) fn empty<T: DeviceRepr + ValidAsZeroBits>(
    stream: &Arc<CudaStream>,
    length: usize,
) -> std::result::Result<CudaSlice<T>, DriverError> {
    stream.alloc_zeros(length.max(1))
}
