//! See `lobcod_fuzz::targets::image`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::image::run(input));
