//! Formatting and parsing of names and sizes.

use lobcod::dictionary::Embedded;
use lobcod::memory::words;
use lobcod::{Dictionary, Extent};

#[test]
fn embedded_dictionaries_match_their_names() {
    for (which, atoms, side, channels) in [
        (Embedded::Natural, 81, 8, 1),
        (Embedded::Natural12x12, 128, 12, 1),
        (Embedded::NaturalRgb, 96, 8, 3),
    ] {
        let dictionary = Dictionary::<f32>::embedded(which);
        let shape =
            (dictionary.len(), dictionary.extent(), dictionary.channels(), dictionary.normalised());
        assert_eq!(shape, (atoms, Extent::new(&[side, side]).unwrap(), channels, 0), "{which}");
        assert_eq!(which.name().parse::<Embedded>().unwrap(), which);
    }
    assert!("unnatural".parse::<Embedded>().is_err());
}

#[test]
fn byte_counts_are_formatted() {
    for (bytes, text) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (3 << 30, "3.0 GiB"),
        (1 << 50, "1024.0 TiB"),
    ] {
        assert_eq!(words(bytes), text);
    }
}
