//! See `lobcod_fuzz::targets::pursuit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::pursuit::run(input));
