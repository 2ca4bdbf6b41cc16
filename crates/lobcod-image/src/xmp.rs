//! Packets of XMP put into files that are already written.

/// What stands before the packet in a segment of JPEG, and in a chunk of PNG: keyword, not compressed, no language, no translation.
const JPEG_NAME: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const PNG_NAME: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";
/// Where the first chunk of a PNG ends: the signature, then the header.
const PNG_HEADER: usize = 8 + 25;

/// Adds a packet to a JPEG, behind what applications noted before; one that is too large for a segment is left out.
pub(crate) fn add_to_jpeg(file: &mut Vec<u8>, packet: &[u8]) {
    let Ok(length) = u16::try_from(2 + JPEG_NAME.len() + packet.len()) else { return };
    let mut at = 2;
    // Segments APP0 to APP15 have their length behind their marker.
    while let Some(&[0xff, 0xe0..=0xef, high, low]) = file.get(at..at + 4) {
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    let segment = [&[0xff, 0xe1], &length.to_be_bytes()[..], JPEG_NAME, packet].concat();
    file.splice(at..at, segment);
}

/// Adds a packet to a PNG, behind its header; one that is no text is left out.
pub(crate) fn add_to_png(file: &mut Vec<u8>, packet: &[u8]) {
    let Ok(length) = u32::try_from(PNG_NAME.len() + packet.len()) else { return };
    if std::str::from_utf8(packet).is_err() || file.len() < PNG_HEADER {
        return;
    }
    let content = [b"iTXt", PNG_NAME, packet].concat();
    let chunk = [&length.to_be_bytes()[..], &content, &crc32fast::hash(&content).to_be_bytes()].concat();
    file.splice(PNG_HEADER..PNG_HEADER, chunk);
}
