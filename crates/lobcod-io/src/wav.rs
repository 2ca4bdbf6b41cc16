//! WAV sound.

use crate::array::Array;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::Allowance;
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use lobcod::Real;
use std::io::Cursor;
use std::path::Path;

/// The format stores sizes in 32 bits, including headers.
const MAX_BYTES: usize = u32::MAX as usize - 4096;

pub(crate) fn decode(path: &Path, file: &[u8], allowance: Allowance) -> Result<Raster> {
    let unreadable = |e: hound::Error| match e {
        hound::Error::Unsupported => {
            Error::format(path, "is a sound with an unsupported encoding; convert it to plain PCM")
        }
        e => {
            Error::format(path, format!("is damaged or truncated ({e}); copy or recreate the file"))
        }
    };
    let mut reader = WavReader::new(Cursor::new(file)).map_err(unreadable)?;
    let WavSpec { channels, sample_rate, bits_per_sample, sample_format } = reader.spec();
    let mut shape = vec![reader.duration() as usize];
    if channels > 1 {
        shape.push(usize::from(channels));
    }
    allowance.check(path, &shape)?;
    // The samples are collected before the array is allocated, so a false header allocates nothing.
    let (array, full, depth) = match sample_format {
        SampleFormat::Float => {
            let samples: Vec<f32> =
                reader.samples().collect::<Result<_, _>>().map_err(unreadable)?;
            (Array::new(&[samples.len()], samples), None, Depth::F32)
        }
        SampleFormat::Int => {
            let samples: Vec<i32> =
                reader.samples().collect::<Result<_, _>>().map_err(unreadable)?;
            let depth = match bits_per_sample {
                0..=8 => Depth::U8,
                9..=16 => Depth::I16,
                17..=24 => Depth::I24,
                _ => Depth::I32,
            };
            (Array::new(&[samples.len()], samples), Some(full_scale(bits_per_sample)), depth)
        }
    };
    if array.shape()[0] != shape.iter().product::<usize>() {
        return Err(Error::format(
            path,
            "is damaged: it ends in the middle of a sample; copy or recreate the file",
        ));
    }
    Ok(Raster {
        array: array.reshaped(shape),
        alpha: None,
        full,
        depth,
        is_image: false,
        axes: None,
        sample_rate: Some(sample_rate),
        metadata: Metadata::default(),
    })
}

/// Encodes samples, channels fastest, as a WAV file; `scale` is full scale unless the depth is
/// `f32`.
pub(crate) fn encode<T: Real>(
    path: &Path,
    samples: &[T],
    channels: usize,
    depth: Depth,
    scale: f64,
    sample_rate: u32,
) -> Result<Vec<u8>> {
    let (bits_per_sample, sample_format) = match depth {
        Depth::U8 => (8, SampleFormat::Int),
        Depth::I16 => (16, SampleFormat::Int),
        Depth::I24 => (24, SampleFormat::Int),
        Depth::I32 => (32, SampleFormat::Int),
        Depth::F32 => (32, SampleFormat::Float),
        Depth::U16 | Depth::F64 => {
            return Err(Error::format(
                path,
                format!("cannot store samples of depth {depth}; use i16 or f32"),
            ));
        }
    };
    let channels = u16::try_from(channels).map_err(|_| {
        Error::shape(
            path,
            format!(
                "cannot store {channels} channels, because a sound has at most 65535; use .npy"
            ),
        )
    })?;
    let needed = samples.len().saturating_mul(usize::from(bits_per_sample) / 8);
    if needed > MAX_BYTES {
        return Err(Error::shape(path, "would be larger than 4 GiB, the limit of wav; use .npy"));
    }
    let spec = WavSpec { channels, sample_rate, bits_per_sample, sample_format };
    let mut file = Vec::with_capacity(needed);
    write(&mut file, spec, samples, full_scale(bits_per_sample) / scale).map_err(|e| {
        Error::format(path, format!("cannot be written as a sound ({e}); use .npy"))
    })?;
    Ok(file)
}

fn write<T: Real>(
    file: &mut Vec<u8>,
    spec: WavSpec,
    samples: &[T],
    factor: f64,
) -> Result<(), hound::Error> {
    let mut writer = WavWriter::new(Cursor::new(file), spec)?;
    let full = full_scale(spec.bits_per_sample);
    for sample in samples {
        match spec.sample_format {
            SampleFormat::Float => writer.write_sample(sample.to_f64() as f32)?,
            SampleFormat::Int => writer
                .write_sample((sample.to_f64() * factor).round().clamp(-full, full - 1.0) as i32)?,
        }
    }
    writer.finalize()
}

/// The sample value just above the largest.
fn full_scale(bits: u16) -> f64 {
    f64::exp2(f64::from(bits) - 1.0)
}
