//! Device memory and transfers.

use crate::code_store::CodeStore;
use crate::device::failed;
use crate::engine::Device;
use crate::kernel_args::{Counters, DeviceCode};
use crate::learning::Sorted;
use crate::scaled::Scaled;
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, ValidAsZeroBits};
use lobcod::Result;
use std::any::Any;

/// Buffers that the host reads or writes, and the addresses of tables passed only to some kernels.
pub(crate) struct Buffers {
    pub(crate) owned: OwnedBuffers,
    pub(crate) coloured: u64,
    pub(crate) reach_blocks: u64,
    pub(crate) runs: u64,
    pub(crate) first_run: u64,
    pub(crate) run_sums: u64,
    pub(crate) tile_sums: u64,
    pub(crate) taps: u64,
    pub(crate) residual: CudaSlice<f32>,
    pub(crate) codes: CodeStore,
    pub(crate) counts: CudaSlice<i32>,
    pub(crate) wanted: CudaSlice<i32>,
    pub(crate) total: CudaSlice<f64>,
    pub(crate) own: CudaSlice<f64>,
    pub(crate) seen: CudaSlice<f64>,
    pub(crate) atoms: CudaSlice<f32>,
    pub(crate) counters: CudaSlice<Counters>,
    pub(crate) plane_largest: CudaSlice<u32>,
    pub(crate) plane_sums: CudaSlice<f64>,
    /// Staging buffer for codes, and the start of those of every tile. Allocated in advance, so
    /// that codes can be fetched even when no memory is left.
    pub(crate) staging: CudaSlice<DeviceCode>,
    pub(crate) starts: CudaSlice<i32>,
    pub(crate) sorted: Option<Sorted>,
    pub(crate) scaled: Option<Scaled>,
}

impl Buffers {
    pub(crate) fn bytes(&self) -> u64 {
        let tiles = self.counts.len() * (3 * size_of::<i32>() + 3 * size_of::<f64>());
        let codes = self.codes.bytes() + self.staging.num_bytes();
        let samples =
            self.residual.num_bytes() + self.atoms.num_bytes() + self.plane_sums.num_bytes();
        let sorted = self.sorted.as_ref().map_or(0, |sorted| sorted.owned.bytes);
        let scaled = self
            .scaled
            .as_ref()
            .map_or(0, |scaled| scaled.residual.num_bytes() + scaled.reach.num_bytes());
        (self.owned.bytes + tiles + codes + samples + sorted + scaled) as u64
    }
}

/// Buffers accessed only by kernels.
#[derive(Default)]
pub(crate) struct OwnedBuffers {
    buffers: Vec<Box<dyn Any>>,
    pub(crate) bytes: usize,
}

impl OwnedBuffers {
    /// Takes ownership of a buffer and returns its address.
    pub(crate) fn add<T: 'static>(&mut self, device: &Device, buffer: CudaSlice<T>) -> u64 {
        let address = device.at(&buffer);
        self.bytes += buffer.num_bytes();
        self.buffers.push(Box::new(buffer));
        address
    }
}

impl Device {
    /// Address of a buffer.
    pub(crate) fn at<T>(&self, buffer: &CudaSlice<T>) -> u64 {
        buffer.device_ptr(&self.stream).0
    }

    /// A buffer of zeros.
    pub(crate) fn empty<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        length: usize,
    ) -> Result<CudaSlice<T>> {
        self.stream.alloc_zeros(length.max(1)).map_err(failed)
    }

    /// Creates a buffer with this content.
    pub(crate) fn up<T: DeviceRepr>(&self, data: &[T]) -> Result<CudaSlice<T>> {
        // SAFETY: written below; without data nothing is read.
        let mut buffer = unsafe { self.stream.alloc(data.len().max(1)) }.map_err(failed)?;
        self.write(data, &mut buffer)?;
        Ok(buffer)
    }

    pub(crate) fn write<T: DeviceRepr>(
        &self,
        data: &[T],
        into: &mut impl DevicePtrMut<T>,
    ) -> Result<()> {
        if data.is_empty() { Ok(()) } else { self.stream.memcpy_htod(data, into).map_err(failed) }
    }

    /// Waits for all work, then reads a buffer.
    pub(crate) fn read<T: DeviceRepr>(
        &self,
        from: &impl DevicePtr<T>,
        into: &mut [T],
    ) -> Result<()> {
        if !into.is_empty() {
            self.stream.memcpy_dtoh(from, into).map_err(failed)?;
        }
        self.wait()
    }

    pub(crate) fn down<T: DeviceRepr + Clone + Default>(
        &self,
        from: &impl DevicePtr<T>,
    ) -> Result<Vec<T>> {
        let mut data = vec![T::default(); from.len()];
        self.read(from, &mut data)?;
        Ok(data)
    }

    pub(crate) fn clear<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        buffer: &mut CudaSlice<T>,
    ) -> Result<()> {
        self.stream.memset_zeros(buffer).map_err(failed)
    }

    pub(crate) fn copy<T>(&self, from: &CudaSlice<T>, into: &mut CudaSlice<T>) -> Result<()> {
        self.stream.memcpy_dtod(from, into).map_err(failed)
    }

    /// Waits for all work.
    pub(crate) fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(failed)
    }
}
