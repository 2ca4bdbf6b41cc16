//! See `lobcod_fuzz::targets::mask`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::mask::run(input));
