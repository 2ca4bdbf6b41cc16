//! Kernel arguments, field by field as `kernels/*.cu` declare them.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// An address on the device.
pub(crate) type Address = u64;

macro_rules! on_device {
    ($($(#[$note:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            $(#[$note])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq)]
            pub(crate) struct $name { $(pub(crate) $field: $type),* }
            // SAFETY: plain numbers in the order and size the kernels declare.
            unsafe impl DeviceRepr for $name {}
            // SAFETY: all fields may be zero.
            unsafe impl ValidAsZeroBits for $name {}
        )*
    };
}

on_device! {
    Plane {
        samples_at: i64, positions_at: i64, domain: [i32; 3], positions: [i32; 3], first: [i32; 3], wraps: [i32; 3], weighted: i32,
        first_tile: i32, tile_count: i32, wraps_any: i32,
    }

    Tile {
        plane: i32, shape: i32, neighbours_at: i32, neighbour_count: i32, origin: [i32; 3], size: [i32; 3], clipped: i32, unused: i32,
    }

    Shape { needles_at: i32, needle_count: i32, layers_at: i32, layer_count: i32 }

    /// `Code` of the kernels.
    DeviceCode { needle: u32, atom: u32, value: f32, curvature: f32 }

    /// Memory for the codes of a tile: `TileStore` of the kernels.
    TileStore { codes: Address, capacity: i32, unused: i32 }

    /// Positions that a block of the reach kernel correlates: `Region` of `reach.cu`.
    ReachBlock { plane: i32, at: [i32; 3] }

    /// Consecutive samples of a field: `Part` of `tally.cu`.
    SampleRun { plane: i32, length: i32, from: i64 }

    CodePosition { at: [i32; 3], tile: i32 }

    /// Arguments of every kernel: `KernelArgs` of `types.cu`.
    KernelArgs {
        planes: Address, tiles: Address, shapes: Address, needles: Address, needle_layers: Address, layers: Address,
        neighbours: Address, target: Address, weights: Address, residual: Address, position_weights: Address,
        position_caps: Address, reach: Address, stores: Address, counts: Address, slot: Address, wanted: Address, total: Address,
        own: Address, seen: Address, atoms: Address, packed_rows: Address, columns: Address, gram: Address, atom_weights: Address,
        inverse_weights: Address, counters: Address, scratch: Address, scratch_size: i64, tile_count: i32, periodic: i32,
        nonnegative: i32, cap: u32, least_weight: f32, weighted: i32,
    }

    /// Counters of sweeps: the slots of `counters` in the kernels. Changes and moves are the bits of a
    /// float and of a double.
    Counters { change: u64, visited: u64, overflows: u64, atom_move: u64 }

    /// A discovery sweep: `Sweep` of `visit.cu`.
    VisitArgs {
        penalty: f32, bound: f32, tolerance: f32, visit: i32, plane: i32, layer: i32, order: Address, order_at: Address,
    }

    /// Scales of a residual: `Scales` of `scaled.cu`.
    Scales { values: Address, start: [i32; 3], length: [i32; 3], counts: [i32; 3], periodic: i32 }

    /// A box of samples: `Box` of `scaled.cu`.
    SampleBox { from: [i32; 3], size: [i32; 3] }

    /// A pass over the atoms: `AtomPassArgs` of `atom_pass.cu`.
    AtomPassArgs {
        first: Address, places: Address, values: Address, numbers: Address, planes: Address, plane_count: i32, gradient: Address,
        correlation: Address, improved: Address,
    }
}

/// Set in the atom of a code whose patch has weights other than 1.
pub(crate) const CLIPPED_BIT: u32 = 1 << 31;
