//! Inputs found by fuzzing that are not easily described by numbers.

/// Overflowing codes from coordinate descent, more than the cap allows, bypassed LARS.
const CODES_BEYOND_A_CAP: &str = "\
    00254a6f94b9de03284d7297bce1062bcd62f78c21b64be0750a9f34c95ef3881db247dc71069b30c55aef8419ae42d8\
    6d02972cc156eb8015aa3fd469fe9328bd52e77c11a63bd065fa8f24b94ee3780da237cc61f68b20b54adf74099e33c8\
    5df2871cb146db70059a2fc459ee8318ad42d76c01962bc055ea7f14a93ed368fd9227bc51e67b10a53acf64f98e23b8\
    4de27750759abfe4092e53789dc2e70c31567ba0c7ea0f34597ea3c86d12375c81a6cbf0153a5f84a9cef3183d6287ac\
    d1f61b9abfe4092e53789dc2e70c31567ba0c5ea0f34597ea3c86d12375c8186cbf0153a5f84a9cef3183d6287acd1f6\
    1b\
";

#[test]
fn overflowing_codes_respect_the_cap() {
    let digits = CODES_BEYOND_A_CAP.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let input: Vec<u8> = digits.chunks_exact(2).map(byte).collect();
    (lobcod_fuzz::target("lasso").unwrap().run)(&input);
}
