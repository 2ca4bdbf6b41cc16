//! Messages: a JSON object and raw arrays in one block of bytes.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4 | length of the JSON, little-endian |
//! | then | the JSON, padded with zeros to a multiple of 8 bytes |
//! | then | the arrays, each at a multiple of 8 bytes; `buffers` of the JSON lists them |

use lobcod::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Arrays start at multiples of this many bytes.
const ALIGNMENT: usize = 8;

/// Type of the numbers of an array, all little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bytes.
    U8,
    /// Integers of 32 bits.
    I32,
    /// Single precision.
    F32,
}

impl Kind {
    fn bytes(self) -> usize {
        if self == Kind::U8 { 1 } else { 4 }
    }
}

/// Where an array is, counted from the end of the padded JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    shape: Vec<usize>,
    offset: usize,
}

/// An array of a message that was received.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    /// Type of its numbers.
    pub kind: Kind,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The numbers.
    pub bytes: &'a [u8],
}

impl Array<'_> {
    /// The numbers as single precision; `None` if they are of another type.
    pub fn to_f32(&self) -> Option<Vec<f32>> {
        let number = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        (self.kind == Kind::F32).then(|| self.bytes.chunks_exact(4).map(number).collect())
    }

    /// The numbers as integers; `None` if they are of another type.
    pub fn to_i32(&self) -> Option<Vec<i32>> {
        let number = |b: &[u8]| i32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        (self.kind == Kind::I32).then(|| self.bytes.chunks_exact(4).map(number).collect())
    }
}

/// A message that was received.
#[derive(Debug)]
pub struct Message<'a> {
    /// The JSON object, without `buffers`.
    pub head: Value,
    places: Vec<Place>,
    data: &'a [u8],
}

impl<'a> Message<'a> {
    /// Reads a message; error if it is cut off or its arrays are not inside it.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let bad = |what: &str| {
            Error::Data(format!("the message {what}; page and engine may be of different versions"))
        };
        let (length, rest) = bytes.split_first_chunk().ok_or_else(|| bad("is too short"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let text = rest.get(..length).ok_or_else(|| bad("is cut off"))?;
        let mut head: Value =
            serde_json::from_slice(text).map_err(|e| bad(&format!("is not JSON ({e})")))?;
        let places = head.as_object_mut().and_then(|fields| fields.remove("buffers"));
        let places: Vec<Place> = places
            .map_or(Ok(Vec::new()), serde_json::from_value)
            .map_err(|e| bad(&format!("lists its buffers in another form ({e})")))?;
        let data = bytes.get((4 + length).next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        let message = Self { head, places, data };
        match message.places.iter().find(|place| message.bytes_of(place).is_none()) {
            Some(place) => Err(bad(&format!("does not hold all of its buffer {}", place.name))),
            None => Ok(message),
        }
    }

    fn bytes_of(&self, place: &Place) -> Option<&'a [u8]> {
        let count = place.shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis))?;
        let end = place.offset.checked_add(count.checked_mul(place.kind.bytes())?)?;
        self.data.get(place.offset..end)
    }

    /// Names and shapes of the arrays.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.places.iter().map(|place| (&place.name[..], &place.shape[..]))
    }

    /// An array by its name.
    pub fn array(&self, name: &str) -> Option<Array<'a>> {
        let place = self.places.iter().find(|place| place.name == name)?;
        let bytes = self.bytes_of(place)?;
        Some(Array { kind: place.kind, shape: place.shape.clone(), bytes })
    }
}

/// A message to be sent.
#[derive(Debug)]
pub struct Draft {
    head: Value,
    places: Vec<Place>,
    data: Vec<u8>,
}

impl Draft {
    /// A message with this JSON object and no arrays.
    pub fn new(head: Value) -> Self {
        Self { head, places: Vec::new(), data: Vec::new() }
    }

    /// Sets a field of the JSON object.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.head[name] = value.into();
    }

    /// Appends bytes.
    pub fn with_u8(self, name: &str, shape: &[usize], numbers: &[u8]) -> Self {
        self.with(name, Kind::U8, shape, numbers.iter().map(|x| [*x]))
    }

    /// Appends integers.
    pub fn with_i32(self, name: &str, shape: &[usize], numbers: &[i32]) -> Self {
        self.with(name, Kind::I32, shape, numbers.iter().map(|x| x.to_le_bytes()))
    }

    /// Appends numbers in single precision.
    pub fn with_f32(self, name: &str, shape: &[usize], numbers: &[f32]) -> Self {
        self.with(name, Kind::F32, shape, numbers.iter().map(|x| x.to_le_bytes()))
    }

    fn with<const N: usize>(
        mut self,
        name: &str,
        kind: Kind,
        shape: &[usize],
        numbers: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> Self {
        debug_assert_eq!(numbers.len(), shape.iter().product::<usize>(), "{name}");
        let offset = self.data.len();
        self.data.reserve(N * numbers.len() + ALIGNMENT);
        self.data.extend(numbers.flatten());
        self.data.resize(self.data.len().next_multiple_of(ALIGNMENT), 0);
        self.places.push(Place { name: name.into(), kind, shape: shape.to_vec(), offset });
        self
    }

    /// The bytes of the message.
    pub fn to_bytes(mut self) -> Vec<u8> {
        self.head["buffers"] = json!(self.places);
        let text = self.head.to_string().into_bytes();
        let start = (4 + text.len()).next_multiple_of(ALIGNMENT);
        let mut bytes = Vec::with_capacity(start + self.data.len());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.resize(start, 0);
        bytes.append(&mut self.data);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was() {
        let draft = Draft::new(json!({"event": "result", "seconds": 1.5}))
            .with_u8("image", &[1, 3], &[1, 2, 3])
            .with_f32("atoms", &[2], &[0.5, -2.0])
            .with_i32("position", &[1, 2], &[-7, 9]);
        let bytes = draft.to_bytes();
        let message = Message::read(&bytes).unwrap();
        assert_eq!(message.head, json!({"event": "result", "seconds": 1.5}));
        assert_eq!(message.array("image").unwrap().bytes, [1, 2, 3]);
        assert_eq!(message.array("image").unwrap().shape, [1, 3]);
        assert_eq!(message.array("atoms").unwrap().to_f32().unwrap(), [0.5, -2.0]);
        assert_eq!(message.array("position").unwrap().to_i32().unwrap(), [-7, 9]);
        assert!(message.array("position").unwrap().to_f32().is_none());
        assert!(message.array("mask").is_none());
        let data = bytes.len() - message.data.len();
        assert!(data.is_multiple_of(ALIGNMENT));
    }

    #[test]
    fn damaged_messages_are_refused_in_a_sentence() {
        let whole = Draft::new(json!({})).with_u8("image", &[9], &[0; 9]).to_bytes();
        let with = |json: &str| {
            let mut bytes = (json.len() as u32).to_le_bytes().to_vec();
            bytes.extend(json.bytes());
            bytes
        };
        let endless =
            r#"{"buffers":[{"name":"x","type":"f32","shape":[4294967295,4294967295],"offset":8}]}"#;
        for (bytes, words) in [
            (vec![1, 2], "is too short"),
            (vec![255, 255, 255, 255, 0], "is cut off"),
            (with("{"), "is not JSON"),
            (with(r#"{"buffers": 3}"#), "lists its buffers"),
            (whole[..whole.len() - 9].to_vec(), "does not hold all of its buffer image"),
            (with(endless), "does not hold all of its buffer x"),
        ] {
            let error = Message::read(&bytes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
