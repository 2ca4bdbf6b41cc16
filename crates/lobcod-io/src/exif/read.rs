//! Reads the directories of a block or of a TIFF.

use super::*;
use ::tiff::tags::ByteOrder;
use std::io::{Cursor, Read, Seek, SeekFrom};

/// Tags of the first directory that describe the image, not the file layout: description, maker,
/// model, orientation, resolution and its unit, software, date, artist, computer, rating,
/// copyright.
const ABOUT_THE_IMAGE: [u16; 14] = [
    270,
    271,
    272,
    ORIENTATION,
    X_RESOLUTION,
    Y_RESOLUTION,
    RESOLUTION_UNIT,
    305,
    306,
    315,
    316,
    18246,
    18249,
    33432,
];
/// Limits on the total bytes of all entries and on the entries of a directory, beyond which a file
/// is considered invalid.
pub(super) const MOST_BYTES: usize = 1 << 22;
const MOST_ENTRIES: u64 = 1 << 12;

impl Exif {
    /// Reads a block.
    pub(crate) fn read(block: &[u8]) -> Self {
        Self::read_with_xmp(&mut Cursor::new(block)).0
    }

    /// Reads a block or the first page of a TIFF, and the packet of XMP in its tags.
    pub(crate) fn read_with_xmp(file: &mut (impl Read + Seek)) -> (Self, Option<Vec<u8>>) {
        let Some((mut reader, first)) = Reader::new(file) else { return Default::default() };
        let mut left = MOST_BYTES;
        let all = reader.directory(first, &mut left);
        let mut below = |entries: &[Entry], tag| match pointer(entries, tag) {
            Some(at) => reader.directory(at, &mut left),
            None => Vec::new(),
        };
        let (camera, place) = (below(&all, CAMERA), below(&all, PLACE));
        let interoperability = below(&camera, INTEROPERABILITY);
        let plain = |entries: Vec<Entry>| {
            entries.into_iter().filter(|e| e.tag != INTEROPERABILITY && is_value(e)).collect()
        };
        let about = |e: &Entry| ABOUT_THE_IMAGE.contains(&e.tag) && is_value(e);
        let xmp = all
            .iter()
            .find(|e| e.tag == XMP && matches!(e.kind, Type::BYTE | Type::UNDEFINED))
            .map(|e| e.data.clone());
        let exif = Self {
            image: all.into_iter().filter(about).collect(),
            camera: plain(camera),
            place: plain(place),
            interoperability: plain(interoperability),
        };
        (exif, xmp)
    }
}

fn is_value(entry: &Entry) -> bool {
    // Pointers would be invalid in another file, and EXIF blocks have no 64-bit numbers.
    !matches!(entry.kind, Type::IFD | Type::IFD8 | Type::LONG8 | Type::SLONG8)
        && ![CAMERA, PLACE].contains(&entry.tag)
}

fn pointer(entries: &[Entry], tag: u16) -> Option<u64> {
    let entry = entries.iter().find(|e| e.tag == tag)?;
    match (entry.kind, &entry.data[..]) {
        (Type::LONG | Type::IFD, &[a, b, c, d]) => {
            Some(u64::from(u32::from_le_bytes([a, b, c, d])))
        }
        (Type::LONG8 | Type::IFD8, bytes) => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// A file of directories.
pub(super) struct Reader<'a, R> {
    file: &'a mut R,
    order: ByteOrder,
    /// Whether offsets have 64 bits.
    wide: bool,
}

impl<'a, R: Read + Seek> Reader<'a, R> {
    /// The reader, and the offset of the first directory.
    pub(super) fn new(file: &'a mut R) -> Option<(Self, u64)> {
        let mut reader = Self { file, order: ByteOrder::LittleEndian, wide: false };
        reader.order = match &reader.bytes(0, 2)?[..] {
            b"II" => ByteOrder::LittleEndian,
            b"MM" => ByteOrder::BigEndian,
            _ => return None,
        };
        let first = match reader.number(2, 2)? {
            42 => reader.number(4, 4)?,
            43 => reader.number(8, 8)?,
            _ => return None,
        };
        reader.wide = reader.number(2, 2)? == 43;
        Some((reader, first))
    }

    /// Reads `count` bytes, if they exist and are not too many.
    fn bytes(&mut self, at: u64, count: u64) -> Option<Vec<u8>> {
        if count > MOST_BYTES as u64 {
            return None;
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(at)).ok()?;
        (&mut *self.file).take(count).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == count).then_some(bytes)
    }

    fn number(&mut self, at: u64, size: u64) -> Option<u64> {
        let bytes = self.bytes(at, size)?;
        let digit = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.order == ByteOrder::BigEndian {
            bytes.iter().fold(0, digit)
        } else {
            bytes.iter().rev().fold(0, digit)
        })
    }

    /// The complete entries of a directory, each tag once, as long as they fit in `left` bytes.
    pub(super) fn directory(&mut self, at: u64, left: &mut usize) -> Vec<Entry> {
        let (head, wide) = if self.wide { (8, 8) } else { (2, 4) };
        let count = self.number(at, head).unwrap_or(0).min(MOST_ENTRIES);
        let mut entries: Vec<Entry> = (0..count)
            .map_while(|i| self.entry(at + head + i * (4 + 2 * wide), wide, left))
            .flatten()
            .collect();
        entries.sort_by_key(|entry| entry.tag);
        entries.dedup_by_key(|entry| entry.tag);
        entries
    }

    /// One entry: `None` beyond the end of the file, `Some(None)` if it is invalid.
    fn entry(&mut self, at: u64, wide: u64, left: &mut usize) -> Option<Option<Entry>> {
        self.bytes(at, 4 + 2 * wide)?;
        let tag = self.number(at, 2)? as u16;
        let kind = self.number(at + 2, 2)? as u16;
        let count = self.number(at + 4, wide)?;
        let mut value = || {
            let kind = Type::from_u16(kind)?;
            let size = count.checked_mul(size_of_one(kind))?;
            let place =
                if size <= wide { at + 4 + wide } else { self.number(at + 4 + wide, wide)? };
            let mut data =
                self.bytes(place, size).filter(|data| !data.is_empty() && data.len() <= *left)?;
            *left -= data.len();
            self.order.convert(kind, &mut data, ByteOrder::LittleEndian);
            Some(Entry { tag, kind, data })
        };
        Some(value())
    }
}
