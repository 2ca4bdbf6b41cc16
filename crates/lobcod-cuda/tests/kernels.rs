//! Every kernel compiles, for common and unusual shapes. Needs NVRTC (`pip install
//! nvidia-cuda-nvrtc`) but no device; skipped without it.

use lobcod_conformance::skipped;
use lobcod_cuda::{Recipe, compile_without_device};

#[test]
fn kernels_compile_for_common_and_unusual_shapes() {
    let plain = Recipe {
        atom: [1, 8, 8],
        channels: 1,
        atoms: 81,
        strides: [26, 598, 598, 598],
        unit_weights: true,
        shared: true,
        clipped: false,
        capped: false,
        warps: 1,
    };
    let recipes = [
        plain.clone(),
        Recipe { clipped: true, capped: true, unit_weights: false, ..plain.clone() },
        Recipe { atom: [1, 1, 1], channels: 3, atoms: 1, ..plain.clone() },
        Recipe { atom: [1, 1, 128], atoms: 40, ..plain.clone() },
        Recipe {
            atom: [5, 5, 5],
            channels: 3,
            atoms: 500,
            shared: false,
            clipped: true,
            warps: 16,
            ..plain
        },
    ];
    std::thread::scope(|scope| {
        let compiled = recipes
            .map(|recipe| scope.spawn(move || (compile_without_device(&recipe, "sm_90"), recipe)));
        for thread in compiled {
            match thread.join().expect("the compiler does not panic") {
                (None, _) => {
                    return skipped("NVRTC was not found (pip install nvidia-cuda-nvrtc)");
                }
                (Some(Ok(bytes)), recipe) => assert!(bytes > 1000, "{recipe:?}"),
                (Some(Err(error)), recipe) => panic!("{error} ({recipe:?})"),
            }
        }
    });
}
