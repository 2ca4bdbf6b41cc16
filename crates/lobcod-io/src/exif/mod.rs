//! EXIF: camera metadata in directories of tags. PNG and JPEG store them as a block with the layout
//! of a TIFF without an image; TIFF stores them among its own tags. Files are untrusted: invalid
//! parts are skipped, and nothing is followed twice.

mod read;
mod write;

use crate::orientation::Orientation;
use ::tiff::tags::Type;

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

#[cfg(test)]
mod tests {
    use super::read::{MOST_BYTES, Reader};
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

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
