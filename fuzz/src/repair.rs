//! Corrects checksums after a mutation, so that the code behind them is tested too.

/// Returns the file with correct checksums of its png chunks or stored zip entries.
pub fn repaired(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    if file.starts_with(b"\x89PNG") {
        repair_png(&mut file);
    } else if file.starts_with(b"PK") {
        // An invalid directory is left unchanged.
        let _ = repair_zip(&mut file);
    }
    file
}

fn repair_png(file: &mut [u8]) {
    let mut at = 8;
    while let Some(head) = file.get(at..at + 4) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let end = at.saturating_add(length).saturating_add(8);
        let Some(body) = file.get(at + 4..end) else { return };
        let checksum = crc32fast::hash(body).to_be_bytes();
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&checksum);
        at = end + 4;
    }
}

fn repair_zip(file: &mut [u8]) -> Option<()> {
    let end = file.len().checked_sub(22)?;
    let number = |file: &[u8], at: usize, size: usize| -> Option<usize> {
        Some(
            file.get(at..at.checked_add(size)?)?
                .iter()
                .rev()
                .fold(0, |n, &b| n << 8 | usize::from(b)),
        )
    };
    let (count, mut line) = (number(file, end + 10, 2)?, number(file, end + 16, 4)?);
    for _ in 0..count {
        let (size, offset) = (number(file, line + 20, 4)?, number(file, line + 42, 4)?);
        let start = offset + 30 + number(file, offset + 26, 2)? + number(file, offset + 28, 2)?;
        if number(file, line + 10, 2)? == 0 {
            let checksum =
                crc32fast::hash(file.get(start..start.checked_add(size)?)?).to_le_bytes();
            file.get_mut(line + 16..line + 20)?.copy_from_slice(&checksum);
            file.get_mut(offset + 14..offset + 18)?.copy_from_slice(&checksum);
        }
        line += 46
            + number(file, line + 28, 2)?
            + number(file, line + 30, 2)?
            + number(file, line + 32, 2)?;
    }
    Some(())
}
