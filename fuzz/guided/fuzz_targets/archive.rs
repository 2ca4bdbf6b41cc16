//! See `lobcod_fuzz::targets::archive`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::archive::run(input));
