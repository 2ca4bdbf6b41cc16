//! See `lobcod_fuzz::targets::picture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::picture::run(input));
