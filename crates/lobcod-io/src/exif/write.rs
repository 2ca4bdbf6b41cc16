//! Writes the directories as a block.

use super::*;

impl Exif {
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
