//! Sample types of image files.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// Sample types of image files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 8-bit integers, 0 to 255 (in sounds, -128 to 127).
    #[default]
    U8,
    /// 16-bit integers, 0 to 65535.
    U16,
    /// 16-bit sound.
    I16,
    /// 24-bit sound.
    I24,
    /// 32-bit sound.
    I32,
    /// Single-precision floats, used unchanged.
    F32,
    /// Double-precision floats, used unchanged.
    F64,
}

impl Depth {
    /// All depths.
    pub const ALL: [Depth; 7] =
        [Depth::U8, Depth::U16, Depth::I16, Depth::I24, Depth::I32, Depth::F32, Depth::F64];
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Depth::U8 => "u8",
            Depth::U16 => "u16",
            Depth::I16 => "i16",
            Depth::I24 => "i24",
            Depth::I32 => "i32",
            Depth::F32 => "f32",
            Depth::F64 => "f64",
        })
    }
}

impl FromStr for Depth {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        Depth::ALL.into_iter().find(|d| d.to_string() == text).ok_or_else(|| {
            lobcod::Error::Parameter {
                name: "the depth",
                value: text.into(),
                allowed: "u8, u16, i16, i24, i32, f32 or f64",
            }
            .into()
        })
    }
}
