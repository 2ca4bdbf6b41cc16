//! Mutates inputs in ways that break readers.

use crate::bytes::Bytes;

/// Edge-case integers, as the bytes of a field.
const EDGES: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];
/// Edge-case numbers in text headers.
const WORDS: [&str; 8] =
    ["0", "-1", "1e999", "18446744073709551615", "9999999999", "nan", "True", "(1, 2)"];

/// Mutates the seed as determined by the choices; `other` provides parts.
pub fn mutate(seed: &[u8], other: &[u8], choices: &[u8]) -> Vec<u8> {
    let mut choices = Bytes(choices);
    let mut input = seed.to_vec();
    while !choices.is_empty() {
        change(&mut input, other, &mut choices);
    }
    input
}

fn change(input: &mut Vec<u8>, other: &[u8], choices: &mut Bytes) {
    let kind = choices.byte() % 12;
    let at = place(input.len(), choices);
    match kind {
        0..=2 => flip(input, at, choices.byte()),
        3 => set(input, at, &[choices.byte()]),
        4 | 5 => {
            let (edge, size) = (choices.one_of(&EDGES), choices.one_of(&[1, 2, 4, 8]));
            let mut field = edge.to_le_bytes()[..size].to_vec();
            if choices.byte().is_multiple_of(2) {
                field.reverse();
            }
            set(input, at, &field);
        }
        6 => input.truncate(at),
        7 => {
            let end = input.len().min(at + choices.below(64));
            input.drain(at.min(end)..end);
        }
        8 => {
            let end = input.len().min(at + choices.below(256));
            let copy = input[at.min(end)..end].to_vec();
            input.splice(at..at, copy);
        }
        9 => {
            let start = place(other.len(), choices);
            let end = other.len().min(start + choices.below(256));
            input.splice(at..at, other[start.min(end)..end].iter().copied());
        }
        10 => number_in_text(input, at, choices),
        _ => {
            // Headers are at the beginning.
            let near = at % input.len().clamp(1, 64);
            flip(input, near, choices.byte());
        }
    }
}

/// An offset in a list of this many bytes, or its end.
fn place(length: usize, choices: &mut Bytes) -> usize {
    let wide = usize::from(choices.byte()) << 16
        | usize::from(choices.byte()) << 8
        | usize::from(choices.byte());
    wide % (length + 1)
}

fn flip(input: &mut [u8], at: usize, bit: u8) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << (bit % 8);
    }
}

fn set(input: &mut [u8], at: usize, field: &[u8]) {
    input.iter_mut().skip(at).zip(field).for_each(|(byte, new)| *byte = *new);
}

/// Replaces the first run of digits after `at` by another number.
fn number_in_text(input: &mut Vec<u8>, at: usize, choices: &mut Bytes) {
    let Some(start) = input.iter().skip(at).position(u8::is_ascii_digit).map(|i| at + i) else {
        return;
    };
    let end = input
        .iter()
        .skip(start)
        .position(|b| !b.is_ascii_digit())
        .map_or(input.len(), |i| start + i);
    input.splice(start..end, choices.one_of(&WORDS).bytes());
}
