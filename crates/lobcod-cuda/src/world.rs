//! The world as the kernels see it: field by field what `kernels/types.cu` declares.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// An address on the device.
pub(crate) type Address = u64;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Plane {
    pub(crate) samples_at: i64,
    pub(crate) positions_at: i64,
    pub(crate) domain: [i32; 3],
    pub(crate) positions: [i32; 3],
    pub(crate) first: [i32; 3],
    pub(crate) wraps: [i32; 3],
    pub(crate) weighted: i32,
    pub(crate) first_tile: i32,
    pub(crate) tile_count: i32,
    pub(crate) wraps_any: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tile {
    pub(crate) plane: i32,
    pub(crate) shape: i32,
    pub(crate) neighbours_at: i32,
    pub(crate) neighbour_count: i32,
    pub(crate) origin: [i32; 3],
    pub(crate) size: [i32; 3],
    pub(crate) cut: i32,
    pub(crate) unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub(crate) needles_at: i32,
    pub(crate) needle_count: i32,
    pub(crate) layers_at: i32,
    pub(crate) layer_count: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeviceCode {
    pub(crate) needle: u32,
    pub(crate) atom: u32,
    pub(crate) value: f32,
    pub(crate) curvature: f32,
}

/// The room of a tile for its codes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Room {
    pub(crate) codes: Address,
    pub(crate) capacity: i32,
    pub(crate) unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Region {
    pub(crate) plane: i32,
    pub(crate) at: [i32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) plane: i32,
    pub(crate) length: i32,
    pub(crate) from: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) at: [i32; 3],
    pub(crate) tile: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct World {
    pub(crate) planes: Address,
    pub(crate) tiles: Address,
    pub(crate) shapes: Address,
    pub(crate) needles: Address,
    pub(crate) needle_layers: Address,
    pub(crate) layers: Address,
    pub(crate) neighbours: Address,
    pub(crate) target: Address,
    pub(crate) weights: Address,
    pub(crate) residual: Address,
    pub(crate) position_weights: Address,
    pub(crate) position_caps: Address,
    pub(crate) reach: Address,
    pub(crate) rooms: Address,
    pub(crate) counts: Address,
    pub(crate) slot: Address,
    pub(crate) wanted: Address,
    pub(crate) total: Address,
    pub(crate) own: Address,
    pub(crate) seen: Address,
    pub(crate) atoms: Address,
    pub(crate) packed_rows: Address,
    pub(crate) columns: Address,
    pub(crate) gram: Address,
    pub(crate) atom_weights: Address,
    pub(crate) inverse_weights: Address,
    pub(crate) mail: Address,
    pub(crate) scratch: Address,
    pub(crate) scratch_size: i64,
    pub(crate) tile_count: i32,
    pub(crate) periodic: i32,
    pub(crate) nonnegative: i32,
    pub(crate) cap: u32,
    pub(crate) least_weight: f32,
    pub(crate) weighted: i32,
}

/// What a discovery sweep is told: `Sweep` of `kernels/visit.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VisitSweep {
    pub(crate) penalty: f32,
    pub(crate) bound: f32,
    pub(crate) tolerance: f32,
    pub(crate) visit: i32,
    pub(crate) plane: i32,
    pub(crate) layer: i32,
    pub(crate) order: Address,
    pub(crate) order_at: Address,
}

/// Scales of a residual: `Scales` of `kernels/scaled.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scales {
    pub(crate) values: Address,
    pub(crate) start: [i32; 3],
    pub(crate) length: [i32; 3],
    pub(crate) counts: [i32; 3],
    pub(crate) periodic: i32,
}

/// A box of samples: `Box` of `kernels/scaled.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleBox {
    pub(crate) from: [i32; 3],
    pub(crate) size: [i32; 3],
}

/// What a pass over the atoms is told: `Course` of `kernels/atom_pass.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    pub(crate) first: Address,
    pub(crate) places: Address,
    pub(crate) values: Address,
    pub(crate) numbers: Address,
    pub(crate) planes: Address,
    pub(crate) plane_count: i32,
    pub(crate) gradient: Address,
    pub(crate) correlation: Address,
    pub(crate) improved: Address,
}

macro_rules! on_device {
    ($($name:ident),*) => {
        $(
            // SAFETY: plain numbers in the order and size the kernels declare.
            unsafe impl DeviceRepr for $name {}
            // SAFETY: all of them may be zero.
            unsafe impl ValidAsZeroBits for $name {}
        )*
    };
}
on_device!(Plane, Tile, Shape, DeviceCode, Room, Region, Part, Place, World, VisitSweep, Course, Scales, SampleBox);

/// Set in the atom of a code whose patch has weights other than 1.
pub(crate) const CUT_BIT: u32 = 1 << 31;

/// Slots of the mail from the kernels.
pub(crate) const MAIL_CHANGE: usize = 0;
pub(crate) const MAIL_VISITED: usize = 1;
pub(crate) const MAIL_OVERFLOW: usize = 2;
pub(crate) const MAIL_MOVE: usize = 3;
pub(crate) const MAIL: usize = 8;
