//! Message format: plain numbers in sequence; lists are preceded by their length.

use bytemuck::{Pod, Zeroable};

/// Appends numbers whose count the receiver knows.
pub fn put<T: Pod>(message: &mut Vec<u8>, numbers: &[T]) {
    message.extend_from_slice(bytemuck::cast_slice(numbers));
}

/// Fills `numbers` from the front of a message.
pub fn take<T: Pod>(message: &mut &[u8], numbers: &mut [T]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(numbers);
    bytes.copy_from_slice(
        message.split_off(..bytes.len()).expect("both sides agree on the message size"),
    );
}

/// Appends a list.
pub fn put_list<T: Pod>(message: &mut Vec<u8>, list: &[T]) {
    put(message, &[list.len() as u64]);
    put(message, list);
}

/// Takes a list from the front of a message.
pub fn take_list<T: Pod>(message: &mut &[u8]) -> Vec<T> {
    let mut length = [0u64];
    take(message, &mut length);
    let mut list = vec![T::zeroed(); length[0] as usize];
    take(message, &mut list);
    list
}

/// A code in a message.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct WireCode {
    /// Its position in the signal.
    pub position: [i64; 3],
    /// Its value; `f64` represents both precisions exactly.
    pub value: f64,
    /// Its atom.
    pub atom: u32,
    /// Whether any weight of its patch differs from 1.
    pub clipped: u32,
    /// Index of its plane.
    pub plane: u64,
}
