//! Times on the device: `device [DATA]`, with `DATA` a folder of pictures and dictionaries as `lobcod_conformance::fruit` reads it.

fn main() {}
