//! The program on several ranks. Images are small, because ranks poll and there may be fewer cores
//! than ranks.

#![cfg(feature = "mpi")]

#[allow(dead_code, reason = "this test uses a part")]
#[path = "suite/common/mod.rs"]
mod common;

use common::{Desk, text, texture};
use lobcod_io::Depth;
use serde_json::Value;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A command on several ranks, run in the test folder.
fn mpirun(desk: &Desk, ranks: usize, line: &str) -> Command {
    let mut command = lobcod_mpi::launcher(ranks);
    command.arg(env!("CARGO_BIN_EXE_lobcod")).args(line.split_whitespace());
    command.args(["--engine", "mpi"]).current_dir(desk.path("."));
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ] {
        command.env(name, value);
    }
    command
}

/// Runs a command on several ranks; it must succeed.
fn succeed(desk: &Desk, ranks: usize, line: &str) -> Output {
    let output = mpirun(desk, ranks, line).output().unwrap();
    assert!(output.status.success(), "{ranks} ranks, {line}: {}", text(&output.stderr));
    output
}

fn bytes(desk: &Desk, name: &str) -> Vec<u8> {
    std::fs::read(desk.path(name)).unwrap()
}

const USUAL: &str = "--penalty 30 --threads 1";

#[test]
fn codes_of_images_read_in_blocks_are_those_of_one_process() {
    let desk = Desk::new();
    desk.write("a.npy", &texture(&[150, 60], 1, 0.3), Depth::F32);
    desk.write("a.tif", &texture(&[150, 60], 3, 0.9), Depth::U8);
    for (image, more) in [
        ("a.npy", ""),
        ("a.npy", "--base none --border zero --precision f64"),
        ("a.tif", "--tile 16"),
    ] {
        desk.succeed(&format!("encode {image} -o alone.npz {USUAL} {more} --quiet"));
        for ranks in [1, 3] {
            let output = succeed(
                &desk,
                ranks,
                &format!("encode {image} -o codes.npz {USUAL} {more} --json"),
            );
            let report: Value =
                serde_json::from_slice(&output.stdout).expect("one report on standard output");
            assert_eq!((&report["engine"], &report["ranks"]), (&"mpi".into(), &ranks.into()));
            assert!(
                bytes(&desk, "codes.npz") == bytes(&desk, "alone.npz"),
                "{image} {more} on {ranks} ranks"
            );
        }
    }
    assert!(desk.files().iter().all(|name| !name.contains("unfinished")), "nothing is left behind");
}

#[test]
fn images_read_as_a_whole_are_distributed_too() {
    let desk = Desk::new();
    desk.image("a.png", &[90, 70], 1, 0.2);
    desk.image("b.png", &[50, 64], 1, 1.2);
    let mut holes = texture(&[90, 70], 1, 0.0);
    holes
        .data_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = if i % 7 == 0 || i / 70 == 40 { 255.0 } else { 0.0 });
    desk.write("holes.png", &holes, Depth::U8);
    for (line, file) in [
        ("encode a.png --holes holes.png --border periodic -o NAME.npz", "npz"),
        ("learn a.png b.png --atoms 12 --size 6x6 --passes 2 -o NAME.npz", "npz"),
        (
            "learn a.png --atoms 9 --size 6x6 --passes 1 --method stochastic --step adam -o \
             NAME.npz",
            "npz",
        ),
    ] {
        desk.succeed(&format!("{} {USUAL} --quiet", line.replace("NAME", "alone")));
        succeed(&desk, 2, &format!("{} {USUAL}", line.replace("NAME", "ranks")));
        assert!(
            bytes(&desk, &format!("alone.{file}")) == bytes(&desk, &format!("ranks.{file}")),
            "{line}"
        );
    }
    let inpaint = "inpaint a.png --holes holes.png --penalty 20 --threads 1 -o";
    desk.succeed(&format!("{inpaint} alone.png --quiet"));
    succeed(&desk, 2, &format!("{inpaint} ranks.png"));
    assert!(bytes(&desk, "alone.png") == bytes(&desk, "ranks.png"));
}

#[test]
fn a_killed_job_resumes_on_other_ranks_with_the_same_result() {
    let desk = Desk::new();
    desk.write("a.npy", &texture(&[200, 180], 1, 0.3), Depth::F32);
    let line = "encode a.npy --threads 1 --penalty 4 --tolerance 1e-6";
    succeed(&desk, 1, &format!("{line} -o unbroken.npz"));
    let mut job = mpirun(&desk, 3, &format!("{line} -o broken.npz --checkpoint kept.safetensors"));
    let mut job = job.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(100);
    while !desk.path("kept.safetensors").exists() {
        assert!(Instant::now() < patience, "no checkpoint was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    job.kill().unwrap();
    job.wait().unwrap();
    succeed(&desk, 2, &format!("{line} -o resumed.npz --resume kept.safetensors"));
    assert!(bytes(&desk, "resumed.npz") == bytes(&desk, "unbroken.npz"));
}

#[test]
fn an_error_on_one_rank_ends_all_with_one_message() {
    let desk = Desk::new();
    let mut signal = texture(&[150, 60], 1, 0.3);
    // Only the last rank reads this row.
    signal.data_mut()[145 * 60 + 7] = f32::NAN;
    desk.write("a.npy", &signal, Depth::F32);
    let output = mpirun(&desk, 3, &format!("encode a.npy -o codes.npz {USUAL}")).output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("samples are missing"), "{said}");
    assert!(!desk.path("codes.npz").exists());
    let output = mpirun(&desk, 2, "fuse a.npy a.npy -o b.png").output().unwrap();
    assert!(text(&output.stderr).contains("fuse does not support MPI"));
}

#[test]
fn the_doctor_connects_two_ranks() {
    let desk = Desk::new();
    let mut command = desk.command("doctor --json");
    let output = command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["engines"]["mpi"], true, "{report}");
    let refused =
        command.env_remove("OMPI_ALLOW_RUN_AS_ROOT").env("PATH", "/nowhere").output().unwrap();
    let report: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert!(report["advice"]["mpi"].as_str().unwrap().contains("install it"), "{report}");
}
