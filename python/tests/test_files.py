"""Files, pickles and the layouts of other packages."""

import os
import pickle
import subprocess
import wave
from pathlib import Path

import lobcod
import numpy as np
import pytest


def same(a: lobcod.Codes, b: lobcod.Codes) -> bool:
    for name in ("position", "atom", "channel", "value", "dictionary"):
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            return False
    if any(getattr(a, name) != getattr(b, name) for name in ("shape", "channels", "channel_axis", "border", "penalty")):
        return False
    return (a.base is None and b.base is None) or np.array_equal(np.asarray(a.base), np.asarray(b.base))


def kinds() -> list[lobcod.Codes]:
    colour = lobcod.still_life(24)
    return [
        lobcod.encode(colour[..., 0], penalty=20),
        lobcod.encode(colour.astype(np.uint8), penalty=20, channel_axis=-1),
        lobcod.encode(colour, "natural-rgb-8x8-96", penalty=20, channel_axis=-1, base="none"),
        lobcod.encode(np.moveaxis(colour, -1, 0).astype(float), penalty=20, channel_axis=0, border="periodic"),
        lobcod.encode(np.sin(np.arange(99.0)), relative_penalty=0.1),
        lobcod.encode(colour[:12, :12, 0].reshape(4, 6, 6), relative_penalty=0.1),
    ]


def test_codes_survive_pickling_and_files(tmp_path: Path) -> None:
    for i, codes in enumerate(kinds()):
        again = pickle.loads(pickle.dumps(codes))
        assert same(codes, again) and again.report == codes.report
        codes.save(tmp_path / f"{i}.npz")
        read = lobcod.Codes.load(tmp_path / f"{i}.npz")
        assert same(codes, read) and np.array_equal(read.reconstruct(), codes.reconstruct())
        with pytest.raises(ValueError, match="have no report"):
            _ = read.report
    with pytest.raises(ValueError, match="these are not codes"):
        lobcod.Codes.from_arrays({"value": np.zeros(3)})


@pytest.mark.skipif("LOBCOD_PROGRAM" not in os.environ, reason="LOBCOD_PROGRAM does not name the command line")
def test_the_command_line_reads_and_writes_the_same_files(tmp_path: Path) -> None:
    program = os.environ["LOBCOD_PROGRAM"]
    for i, codes in enumerate(kinds()):
        file, image = tmp_path / f"{i}.npz", tmp_path / f"{i}.npy"
        codes.save(file)
        subprocess.run([program, "decode", file, "-o", image, "--quiet"], check=True)
        np.testing.assert_allclose(np.load(image), codes.reconstruct(), atol=1e-3)
    grey = lobcod.still_life(40).mean(axis=-1)
    np.save(tmp_path / "grey.npy", grey)
    encode: list[str | Path] = [
        program,
        "encode",
        tmp_path / "grey.npy",
        "-o",
        tmp_path / "cli.npz",
        "--penalty",
        "20",
        "--quiet",
    ]
    subprocess.run(encode, check=True)
    assert same(lobcod.Codes.load(tmp_path / "cli.npz"), lobcod.encode(grey, penalty=20))
    lobcod.save_dictionary(tmp_path / "atoms.npz", lobcod.random_dictionary(7, (5, 5)), learnt_from="nothing", count=3)
    subprocess.run([*encode, "--dictionary", tmp_path / "atoms.npz"], check=True)
    assert same(lobcod.Codes.load(tmp_path / "cli.npz"), lobcod.encode(grey, lobcod.random_dictionary(7, (5, 5)), 20))


@pytest.mark.skipif("LOBCOD_PROGRAM" not in os.environ, reason="LOBCOD_PROGRAM does not name the command line")
def test_codes_of_a_sound_with_two_channels_are_read(tmp_path: Path) -> None:
    time = np.arange(2000)
    sound = np.stack([np.sin(time / 9) * np.exp(-(time % 400) / 99), np.sin(time / 5) * np.exp(-(time % 300) / 60)], axis=-1)
    with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
        file.setparams((2, 2, 8000, len(time), "NONE", ""))
        file.writeframes((20000 * sound).astype("<i2").tobytes())
    program, codes_file = os.environ["LOBCOD_PROGRAM"], tmp_path / "codes.npz"
    subprocess.run([program, "encode", tmp_path / "sound.wav", "-o", codes_file, "--quiet"], check=True)
    subprocess.run([program, "decode", codes_file, "-o", tmp_path / "sound.npy", "--quiet"], check=True)
    codes = lobcod.Codes.load(codes_file)
    assert codes.shape == (2000,) and codes.channels == 2 and codes.channel_axis == 1
    np.testing.assert_allclose(codes.reconstruct(), np.load(tmp_path / "sound.npy"), atol=1e-3)
    expected = 20000 / 32767 * 255 * sound
    assert np.linalg.norm(codes.reconstruct() - expected) < 0.3 * np.linalg.norm(expected)


@pytest.mark.skipif("LOBCOD_PROGRAM" not in os.environ, reason="LOBCOD_PROGRAM does not name the command line")
def test_the_command_line_detects_the_noise_of_floats_up_to_one(grey: lobcod.Array, tmp_path: Path) -> None:
    noisy = (grey / 255 + 0.1 * np.random.default_rng(0).standard_normal(grey.shape)).astype(np.float32)
    np.save(tmp_path / "noisy.npy", noisy)
    program = os.environ["LOBCOD_PROGRAM"]
    subprocess.run([program, "denoise", tmp_path / "noisy.npy", "-o", tmp_path / "clean.npy", "--quiet"], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "clean.npy"), lobcod.denoise(noisy), atol=1e-5)
    assert lobcod.psnr(lobcod.denoise(noisy), grey / 255, 1) > lobcod.psnr(noisy, grey / 255, 1) + 3


def test_reports_are_plain(grey: lobcod.Array) -> None:
    report = lobcod.encode(grey, penalty=20).report.to_dict()
    for name in ("status", "objective", "data_term", "gap", "relative_gap", "nonzeros", "pixels", "penalty", "penalty_max"):
        assert name in report
    assert {"seconds", "objective", "nonzeros", "relative_gap"} == set(report["history"][0])


def test_dictionaries_in_files(tmp_path: Path) -> None:
    for axes, atoms in [
        ("mt", lobcod.random_dictionary(3, 9)),
        ("mct", lobcod.random_dictionary(3, 9, channels=2)),
        ("mhw", lobcod.random_dictionary(3, (4, 5))),
        ("mchw", lobcod.random_dictionary(3, (4, 5), channels=3)),
        ("mdhw", lobcod.random_dictionary(3, (2, 3, 4))),
        ("mcdhw", lobcod.random_dictionary(3, (2, 3, 4), channels=2)),
    ]:
        lobcod.save_dictionary(tmp_path / "atoms.npz", atoms, axes, seed=0, how="random", share=0.5)  # type: ignore[arg-type]
        assert np.array_equal(lobcod.load_dictionary(tmp_path / "atoms.npz"), atoms)
        assert str(np.load(tmp_path / "atoms.npz")["axes"]) == axes
    double = lobcod.random_dictionary(3, (4, 5), precision="f64")
    lobcod.save_dictionary(tmp_path / "atoms.npy", double)
    assert np.array_equal(np.load(tmp_path / "atoms.npy"), double)
    assert np.array_equal(lobcod.load_dictionary(tmp_path / "atoms.npy", "f64"), double)
    with pytest.raises(ValueError, match="axes is 'mchw'"):
        lobcod.save_dictionary(tmp_path / "atoms.npz", double, "mchw")
    with pytest.raises(FileNotFoundError):
        lobcod.load_dictionary(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="is not"):
        (tmp_path / "bad.npz").write_bytes(b"nonsense")
        lobcod.load_dictionary(tmp_path / "bad.npz")


def test_layouts_of_other_packages() -> None:
    flat, colour = lobcod.random_dictionary(7, (5, 4)), lobcod.random_dictionary(7, (5, 4), channels=3)
    for atoms, shape in ((flat, (5, 4, 7)), (colour, (5, 4, 3, 7))):
        theirs = lobcod.to_sporco(atoms)
        assert theirs.shape == shape
        np.testing.assert_allclose(lobcod.from_sporco(2 * theirs, dimN=2), atoms, atol=1e-6)
    assert lobcod.from_sporco(lobcod.to_sporco(flat))[3, 1, 2] == pytest.approx(lobcod.to_sporco(flat)[1, 2, 3])
    one, many = lobcod.random_dictionary(6, 9), lobcod.random_dictionary(6, 9, channels=4)
    for atoms, shape in ((one, (6, 1, 9)), (many, (6, 4, 9))):
        theirs = lobcod.to_alphacsc(atoms)
        assert theirs.shape == shape
        np.testing.assert_allclose(lobcod.from_alphacsc(3 * theirs), atoms, atol=1e-6)
    for wrong in (lobcod.to_sporco, lobcod.from_alphacsc, lobcod.to_alphacsc):
        with pytest.raises(ValueError, match="reshape it"):
            wrong(np.ones((2, 2, 2, 2, 2, 2)))
    with pytest.raises(ValueError, match="all zeros"):
        lobcod.from_sporco(np.zeros((3, 3, 2)))


def test_embedded_dictionaries() -> None:
    for name in lobcod.EMBEDDED:
        atoms = lobcod.embedded_dictionary(name)
        np.testing.assert_allclose(np.linalg.norm(atoms.reshape(len(atoms), -1), axis=1), 1, atol=1e-4)
