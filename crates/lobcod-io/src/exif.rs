//! EXIF: camera metadata in directories of tags. PNG and JPEG store them as a block with the layout
//! of a TIFF without an image; TIFF stores them among its own tags. Files are untrusted: invalid
//! parts are skipped, and nothing is followed twice.

use crate::orientation::Orientation;
use ::tiff::tags::{ByteOrder, Type};
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
pub(crate) const DESCRIPTION: u16 = 270;
const ORIENTATION: u16 = 274;
const X_RESOLUTION: u16 = 282;
const Y_RESOLUTION: u16 = 283;
const RESOLUTION_UNIT: u16 = 296;
pub(crate) const XMP: u16 = 700;
const MAKER_NOTE: u16 = 37500;
/// Width and height of the image, in the directory of the camera.
const PIXEL_WIDTH: u16 = 40962;
const PIXEL_HEIGHT: u16 = 40963;
/// Pointers to further directories; the last one is in the camera directory.
pub(crate) const CAMERA: u16 = 34665;
pub(crate) const PLACE: u16 = 34853;
pub(crate) const INTEROPERABILITY: u16 = 40965;
/// Limits on the total bytes of all entries and on the entries of a directory, beyond which a file
/// is considered invalid.
const MOST_BYTES: usize = 1 << 22;
const MOST_ENTRIES: u64 = 1 << 12;

/// A tag with its values, in little-endian order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub tag: u16,
    pub kind: Type,
    pub data: Vec<u8>,
}

impl Entry {
    /// Whether this is a resolution tag, which TIFF stores separately.
    pub(crate) fn is_resolution(&self) -> bool {
        [X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT].contains(&self.tag)
    }
}

/// The directories, each sorted by tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exif {
    /// Tags that describe the image.
    pub image: Vec<Entry>,
    /// Exposure, lens, dates.
    pub camera: Vec<Entry>,
    /// GPS.
    pub place: Vec<Entry>,
    pub interoperability: Vec<Entry>,
}

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

    /// Orientation of the stored pixels.
    pub(crate) fn orientation(&self) -> Orientation {
        let entry = self.image.iter().find(|entry| entry.tag == ORIENTATION);
        Orientation::from_exif(entry.map_or(1, |entry| entry.data[0]))
    }

    /// The same for pixels rotated upright.
    pub(crate) fn turned_upright(mut self) -> Self {
        let transposed = self.orientation().is_transposed();
        for entry in self.image.iter_mut().filter(|entry| entry.tag == ORIENTATION) {
            *entry = Entry { tag: ORIENTATION, kind: Type::SHORT, data: vec![1, 0] };
        }
        if transposed {
            swap(&mut self.image, X_RESOLUTION, Y_RESOLUTION);
            swap(&mut self.camera, PIXEL_WIDTH, PIXEL_HEIGHT);
        }
        self
    }

    /// The same without the maker note, which may be large.
    pub(crate) fn without_maker_note(mut self) -> Self {
        self.camera.retain(|entry| entry.tag != MAKER_NOTE);
        self
    }

    /// Whether there is a camera directory, even if it only points to others.
    fn has_camera(&self) -> bool {
        !self.camera.is_empty() || !self.interoperability.is_empty()
    }

    /// A block for png and jpeg, beginning with its byte order.
    pub(crate) fn to_block(&self) -> Vec<u8> {
        let mut block = b"II*\0\x08\0\0\0".to_vec();
        let mut pointers = Vec::new();
        // Each directory but the first is referenced by an earlier one, so the first is written
        // with placeholders for its pointers.
        let below = [(CAMERA, self.has_camera()), (PLACE, !self.place.is_empty())];
        let below: Vec<u16> =
            below.iter().filter(|(_, there)| *there).map(|(tag, _)| *tag).collect();
        write_directory(&mut block, &self.image, &below, &mut pointers);
        for (tag, directory, below) in
            [(CAMERA, &self.camera, &self.interoperability[..]), (PLACE, &self.place, &[])]
        {
            let Some(place) = take(&mut pointers, tag) else { continue };
            point(&mut block, place);
            let further: &[u16] = if below.is_empty() { &[] } else { &[INTEROPERABILITY] };
            write_directory(&mut block, directory, further, &mut pointers);
            if let Some(place) = take(&mut pointers, INTEROPERABILITY) {
                point(&mut block, place);
                write_directory(&mut block, below, &[], &mut pointers);
            }
        }
        block
    }
}

/// Swaps two tags.
fn swap(entries: &mut [Entry], one: u16, other: u16) {
    for entry in entries.iter_mut() {
        entry.tag = match entry.tag {
            tag if tag == one => other,
            tag if tag == other => one,
            tag => tag,
        };
    }
    entries.sort_by_key(|entry| entry.tag);
}

/// Size of one value in bytes.
fn size_of_one(kind: Type) -> u64 {
    match kind {
        Type::BYTE | Type::ASCII | Type::SBYTE | Type::UNDEFINED => 1,
        Type::SHORT | Type::SSHORT => 2,
        Type::LONG | Type::SLONG | Type::FLOAT | Type::IFD => 4,
        _ => 8,
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
struct Reader<'a, R> {
    file: &'a mut R,
    order: ByteOrder,
    /// Whether offsets have 64 bits.
    wide: bool,
}

impl<'a, R: Read + Seek> Reader<'a, R> {
    /// The reader, and the offset of the first directory.
    fn new(file: &'a mut R) -> Option<(Self, u64)> {
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
    fn directory(&mut self, at: u64, left: &mut usize) -> Vec<Entry> {
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

/// Appends a directory followed by its values, with placeholders for pointers, and records their
/// positions.
fn write_directory(
    block: &mut Vec<u8>,
    entries: &[Entry],
    below: &[u16],
    pointers: &mut Vec<(u16, usize)>,
) {
    let mut tags: Vec<(u16, Option<&Entry>)> = entries.iter().map(|e| (e.tag, Some(e))).collect();
    tags.extend(below.iter().map(|&tag| (tag, None)));
    tags.sort_by_key(|(tag, _)| *tag);
    let start = block.len();
    let mut values = Vec::new();
    block.extend((tags.len() as u16).to_le_bytes());
    for &(tag, entry) in &tags {
        block.extend(tag.to_le_bytes());
        let Some(Entry { kind, data, .. }) = entry else {
            block.extend(Type::LONG.to_u16().to_le_bytes());
            block.extend(1u32.to_le_bytes());
            pointers.push((tag, block.len()));
            block.extend([0; 4]);
            continue;
        };
        block.extend(kind.to_u16().to_le_bytes());
        block.extend(((data.len() / size_of_one(*kind) as usize) as u32).to_le_bytes());
        if data.len() <= 4 {
            block.extend(data);
            block.resize(block.len() + 4 - data.len(), 0);
        } else {
            let place = start + 2 + 12 * tags.len() + 4 + values.len();
            block.extend((place as u32).to_le_bytes());
            values.extend(data);
            // Values begin at even offsets.
            values.resize(values.len().next_multiple_of(2), 0);
        }
    }
    block.extend([0; 4]);
    block.extend(values);
}

/// Position of the pointer to fill in.
fn take(pointers: &mut Vec<(u16, usize)>, tag: u16) -> Option<usize> {
    let i = pointers.iter().position(|(of, _)| *of == tag)?;
    Some(pointers.swap_remove(i).1)
}

/// Sets a pointer to the end of the block.
fn point(block: &mut [u8], place: usize) {
    let end = block.len() as u32;
    block[place..place + 4].copy_from_slice(&end.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Exif {
        let entry = |tag, kind, data: &[u8]| Entry { tag, kind, data: data.to_vec() };
        Exif {
            image: vec![entry(271, Type::ASCII, b"Acme\0"), entry(274, Type::SHORT, &[6, 0])],
            camera: vec![
                entry(33434, Type::RATIONAL, &[1, 0, 0, 0, 125, 0, 0, 0]),
                entry(MAKER_NOTE, Type::UNDEFINED, &[7; 301]),
            ],
            place: vec![entry(1, Type::ASCII, b"N\0"), entry(2, Type::RATIONAL, &[9; 24])],
            interoperability: vec![entry(1, Type::ASCII, b"R98\0")],
        }
    }

    /// The same block in the opposite byte order.
    fn reversed() -> Vec<u8> {
        let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
            [&tag.to_be_bytes()[..], &kind.to_be_bytes(), &count.to_be_bytes(), &value].concat()
        };
        let directory = |entries: &[Vec<u8>]| {
            [&(entries.len() as u16).to_be_bytes()[..], &entries.concat(), &[0; 4]].concat()
        };
        let below = 8 + 2 + 3 * 12 + 4;
        let first = [
            entry(274, 3, 1, [0, 6, 0, 0]),
            entry(256, 4, 1, [0, 0, 1, 0]),
            entry(CAMERA, 4, 1, u32::to_be_bytes(below)),
        ];
        let camera = [entry(33434, 5, 1, u32::to_be_bytes(below + 2 + 12 + 4))];
        [
            b"MM\0*\0\0\0\x08",
            &directory(&first)[..],
            &directory(&camera),
            &[0, 0, 0, 1, 0, 0, 0, 125],
        ]
        .concat()
    }

    #[test]
    fn blocks_round_trip() {
        let pointing_further = Exif { camera: Vec::new(), ..sample() };
        for exif in [sample(), Exif::default(), sample().without_maker_note(), pointing_further] {
            assert_eq!(Exif::read(&exif.to_block()), exif);
        }
        assert_eq!(sample().without_maker_note().camera.len(), 1);
    }

    #[test]
    fn either_byte_order_is_read_and_the_layout_of_a_file_is_left_out() {
        let exif = Exif::read(&reversed());
        assert_eq!(exif.image, vec![Entry { tag: 274, kind: Type::SHORT, data: vec![6, 0] }]);
        assert_eq!(exif.camera, sample().camera[..1]);
    }

    #[test]
    fn directories_that_point_at_themselves_are_read_once() {
        let mut block = sample().to_block();
        let at = block.windows(2).position(|w| w == CAMERA.to_le_bytes()).unwrap();
        block[at + 8..at + 12].copy_from_slice(&8u32.to_le_bytes());
        let exif = Exif::read(&block);
        assert_eq!(exif.camera.len(), sample().image.len());
    }

    #[test]
    fn excessive_sizes_are_refused() {
        let mut block = reversed();
        for count in [u32::MAX, 1 << 28, 0] {
            block[14..18].copy_from_slice(&count.to_be_bytes());
            assert!(Exif::read(&block).image.is_empty());
        }
        // Many entries may share one large value; their total is bounded.
        let entry = [&[0x0f, 1, 7, 0][..], &(1u32 << 16).to_le_bytes(), &[0; 4]].concat();
        let mut crowd = [b"II*\0\x08\0\0\0", &[0, 16][..]].concat();
        (0..4096u16).for_each(|i| {
            let mut one = entry.clone();
            one[..2].copy_from_slice(&i.to_le_bytes());
            crowd.extend(one);
        });
        crowd.resize(1 << 17, 0);
        let mut file = Cursor::new(&crowd);
        let (mut reader, first) = Reader::new(&mut file).unwrap();
        let total: usize =
            reader.directory(first, &mut MOST_BYTES.clone()).iter().map(|e| e.data.len()).sum();
        assert!(total > 1 << 20 && total <= MOST_BYTES, "{total} bytes of {}", crowd.len());
    }

    proptest! {
        #[test]
        fn whatever_is_read_can_be_written_and_read_again(
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            cut in any::<prop::sample::Index>(),
            source in 0..3usize,
        ) {
            let mut bytes = [sample().to_block(), reversed(), vec![0; 200]][source].clone();
            let keep = cut.index(bytes.len() + 1).max(bytes.len() / 4);
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(keep);
            let exif = Exif::read(&bytes);
            prop_assert_eq!(Exif::read(&exif.to_block()), exif);
        }
    }
}
