//! Insertion of XMP packets into encoded files.

/// Headers of the packet in a JPEG segment and in a PNG chunk (keyword, uncompressed, no language,
/// no translation).
const JPEG_NAME: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const PNG_NAME: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";
/// End of the first chunk of a PNG: signature and header.
const PNG_HEADER: usize = 8 + 25;

/// The packet with its orientation, a single digit, set to upright.
pub(crate) fn with_upright_orientation(mut packet: Vec<u8>) -> Vec<u8> {
    for name in [&b"tiff:Orientation=\""[..], b"tiff:Orientation='", b"<tiff:Orientation>"] {
        let found = packet.windows(name.len()).position(|window| window == name);
        if let Some(digit) = found
            .and_then(|at| packet.get_mut(at + name.len()))
            .filter(|digit| digit.is_ascii_digit())
        {
            *digit = b'1';
        }
    }
    packet
}

/// Adds a packet to a JPEG, after the other application segments; omitted if it is too large for a
/// segment.
pub(crate) fn add_to_jpeg(file: &mut Vec<u8>, packet: &[u8]) {
    let Ok(length) = u16::try_from(2 + JPEG_NAME.len() + packet.len()) else { return };
    let mut at = 2;
    // Segments APP0 to APP15 store their length after the marker.
    while let Some(&[0xff, 0xe0..=0xef, high, low]) = file.get(at..at + 4) {
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    let segment = [&[0xff, 0xe1], &length.to_be_bytes()[..], JPEG_NAME, packet].concat();
    file.splice(at..at, segment);
}

/// Adds a packet to a PNG, after its header; omitted if it is not valid text.
pub(crate) fn add_to_png(file: &mut Vec<u8>, packet: &[u8]) {
    let Ok(length) = u32::try_from(PNG_NAME.len() + packet.len()) else { return };
    if std::str::from_utf8(packet).is_err() || file.len() < PNG_HEADER {
        return;
    }
    let content = [b"iTXt", PNG_NAME, packet].concat();
    let chunk =
        [&length.to_be_bytes()[..], &content, &crc32fast::hash(&content).to_be_bytes()].concat();
    file.splice(PNG_HEADER..PNG_HEADER, chunk);
}
