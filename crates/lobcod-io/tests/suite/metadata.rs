//! Colour profiles, EXIF and XMP survive conversion between formats.

use crate::common::{Folder, ramp};
use lobcod_io::{Depth, ImageRows, Metadata, ReadOptions, WriteOptions, read_image, write_image};

/// An EXIF block with image, camera and GPS tags, sorted and compact as lobcod writes them.
fn block(maker_note: usize) -> Vec<u8> {
    let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value].concat()
    };
    let directory = |entries: &[Vec<u8>], values: &[u8]| {
        [&(entries.len() as u16).to_le_bytes()[..], &entries.concat(), &[0; 4], values].concat()
    };
    let at = |place: usize| (place as u32).to_le_bytes();
    let camera_at = 8 + 2 + 4 * 12 + 4 + 12;
    let noted = maker_note.next_multiple_of(2);
    let camera_length = 2 + 2 * 12 + 4 + 8 + noted;
    let place_at = camera_at + camera_length;
    let first = [
        entry(271, 2, 12, at(camera_at - 12)),
        entry(274, 3, 1, [1, 0, 0, 0]),
        entry(34665, 4, 1, at(camera_at)),
        entry(34853, 4, 1, at(place_at)),
    ];
    let values_at = camera_at + 2 + 2 * 12 + 4;
    let camera =
        [entry(33434, 5, 1, at(values_at)), entry(37500, 7, maker_note as u32, at(values_at + 8))];
    let mut values = vec![1, 0, 0, 0, 125, 0, 0, 0];
    values.extend((0..maker_note).map(|i| i as u8));
    values.resize(8 + noted, 0);
    let place = [entry(1, 2, 2, *b"N\0\0\0"), entry(2, 5, 3, at(place_at + 2 + 2 * 12 + 4))];
    let degrees = [48u32, 1, 8, 1, 1234, 100].map(u32::to_le_bytes).concat();
    let parts = [
        directory(&first, b"Acme Optics\0"),
        directory(&camera, &values),
        directory(&place, &degrees),
    ];
    [b"II*\0\x08\0\0\0", &parts.concat()[..]].concat()
}

fn metadata(maker_note: usize) -> Metadata {
    let packet = "<?xpacket begin=\"\u{feff}\"?><x:xmpmeta \
                  xmlns:x=\"adobe:ns:meta/\">J\u{fc}rgen</x:xmpmeta><?xpacket end=\"w\"?>";
    Metadata {
        icc: Some((0..=255).cycle().take(700).collect()),
        exif: Some(block(maker_note)),
        xmp: Some(packet.as_bytes().to_vec()),
        grid: None,
    }
}

fn through(
    folder: &Folder,
    name: &str,
    axes: &[usize],
    depth: Depth,
    metadata: &Metadata,
) -> Metadata {
    let options = WriteOptions { metadata: metadata.clone(), depth, ..WriteOptions::default() };
    write_image(&folder.file(name), &ramp::<f32>(axes, 1, 1.0), &options).unwrap();
    let mut back = read_image::<f32>(&folder.file(name), &ReadOptions::default()).unwrap().metadata;
    back.grid = None;
    back
}

#[test]
fn metadata_survives_conversion_between_all_formats() {
    let folder = Folder::new();
    let given = metadata(300);
    for from in ["a.png", "a.jpg", "a.tif"] {
        let read = through(&folder, from, &[8, 9], Depth::U8, &given);
        assert_eq!(read, given, "{from}");
        for to in ["b.png", "b.jpg", "b.tif"] {
            assert_eq!(through(&folder, to, &[8, 9], Depth::U8, &read), given, "{from} to {to}");
        }
    }
    let rows = ImageRows::open(&folder.file("a.tif"), &ReadOptions::default()).unwrap().unwrap();
    let whole = read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
    assert_eq!(rows.metadata(), whole.metadata, "an image read row by row has the same metadata");
    assert_eq!(through(&folder, "deep.png", &[8, 9], Depth::U16, &given), given);
    assert_eq!(through(&folder, "float.tif", &[8, 9], Depth::F32, &given), given);
}

#[test]
fn oversized_metadata_does_not_damage_the_image() {
    let folder = Folder::new();
    let mut given = metadata(70_000);
    given.xmp = Some(vec![b'x'; 70_000]);
    for name in ["a.png", "a.tif"] {
        assert_eq!(through(&folder, name, &[8, 9], Depth::U8, &given), given, "{name}");
    }
    let back = through(&folder, "a.jpg", &[8, 9], Depth::U8, &given);
    assert_eq!((&back.icc, &back.xmp), (&given.icc, &None));
    let exif = back.exif.unwrap();
    // Everything but the maker note is preserved.
    assert!(
        exif.len() < 300
            && exif.windows(11).any(|w| w == b"Acme Optics")
            && exif.windows(4).any(|w| w == 1234u32.to_le_bytes())
    );
}

#[test]
fn invalid_metadata_is_dropped() {
    let folder = Folder::new();
    let given = Metadata {
        exif: Some(b"not EXIF at all".to_vec()),
        xmp: Some(vec![0xff, 0xfe, 0]),
        ..Metadata::default()
    };
    assert_eq!(through(&folder, "a.tif", &[8, 9], Depth::U8, &given).exif, None);
    assert_eq!(through(&folder, "a.png", &[8, 9], Depth::U8, &given).xmp, None);
}
