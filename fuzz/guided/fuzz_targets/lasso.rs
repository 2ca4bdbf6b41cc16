//! See `lobcod_fuzz::targets::lasso`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lobcod_fuzz::targets::lasso::run(input));
