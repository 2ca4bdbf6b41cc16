//! Codes at the rims of bands, which the bands beside them must know.

use crate::real::Real;

/// A code of a large plane near the edge of its band.
#[derive(Clone, Copy)]
pub(super) struct RimCode<T> {
    pub(super) plane: usize,
    /// Its position, in samples of the domain of the whole plane.
    pub(super) at: [i64; 3],
    pub(super) atom: u16,
    /// Is any weight of its patch not 1?
    pub(super) cut: bool,
    pub(super) value: T,
}

/// Codes as a message.
pub(super) fn to_bytes<T: Real>(codes: &[RimCode<T>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for code in codes {
        bytes.extend((code.plane as u64).to_le_bytes());
        code.at.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend(code.atom.to_le_bytes());
        bytes.push(u8::from(code.cut));
        T::append_bytes(&[code.value], &mut bytes);
    }
    bytes
}

/// Codes of a message.
pub(super) fn from_bytes<T: Real>(mut message: &[u8]) -> Vec<RimCode<T>> {
    let mut codes = Vec::new();
    while !message.is_empty() {
        let plane = u64::from_le_bytes(take(&mut message)) as usize;
        let at = std::array::from_fn(|_| i64::from_le_bytes(take(&mut message)));
        let atom = u16::from_le_bytes(take(&mut message));
        let [cut] = take(&mut message);
        let mut value = [T::ZERO];
        T::take_bytes(&mut message, &mut value);
        codes.push(RimCode { plane, at, atom, cut: cut != 0, value: value[0] });
    }
    codes
}

fn take<const N: usize>(from: &mut &[u8]) -> [u8; N] {
    let (bytes, rest) = from.split_first_chunk().expect("a message is whole");
    *from = rest;
    *bytes
}
