"""Arrays larger than memory: read and coded in bands."""

from pathlib import Path
from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod import _bands, _table

LIMIT = 800_000
"""Below the estimated memory of the solver for the whole image, which must be enough for unusually many codes."""
OPTIONS: dict[str, Any] = {"penalty": 40.0, "threads": 1}


@pytest.fixture(scope="module")
def tall() -> lobcod.Array:
    """An image of 400x48 samples."""
    return np.tile(lobcod.still_life(48).mean(axis=-1), (9, 1))[:400]


class Chunked:
    """An array that is read piece by piece, as those of zarr and dask are."""

    def __init__(self, array: lobcod.Array) -> None:
        self.array, self.chunks, self.most = array, (64, 48), 0
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __getitem__(self, key: Any) -> lobcod.Array:
        part: lobcod.Array = self.array[key]
        self.most = max(self.most, part.size)
        return part

    def __array__(self, dtype: Any = None, copy: Any = None) -> lobcod.Array:
        raise AssertionError("the array is never read as a whole")


def objective(codes: lobcod.Codes, image: lobcod.Array, penalty: float) -> float:
    """The objective of codes, computed from their definition."""
    residual = image - codes.reconstruct()
    return float(0.5 * (residual**2).sum() + penalty * np.abs(codes.value).sum())


def test_chunks_are_coded_in_bands_to_the_optimum(tall: lobcod.Array) -> None:
    whole = lobcod.encode(tall, **OPTIONS)
    chunked = Chunked(tall)
    codes = lobcod.encode(chunked, max_memory=LIMIT, **OPTIONS)
    assert chunked.most < tall.size / 2
    assert codes.report.working_memory_bytes < whole.report.working_memory_bytes < LIMIT
    assert codes.report.status == "converged" and codes.report.relative_gap <= 1e-3
    assert codes.report.objective == pytest.approx(objective(codes, tall, 40), rel=1e-5)
    # Both are within the tolerance of one optimum.
    assert codes.report.objective == pytest.approx(whole.report.objective, rel=1e-3)
    np.testing.assert_array_equal(codes.base, whole.base)
    assert codes.shape == tall.shape and codes.dtype == tall.dtype and isinstance(codes.value.base, np.memmap)


def test_memory_maps_and_files(tall: lobcod.Array, tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", tall)
    image = np.load(tmp_path / "image.npy", mmap_mode="r")
    file = tmp_path / "codes.npz"
    codes = lobcod.encode(image, max_memory=LIMIT, output=file, **OPTIONS)
    assert codes == lobcod.Codes.load(file) == lobcod.Codes.load(file, mmap_mode="r")
    assert codes == lobcod.encode(tall, max_memory=LIMIT, **OPTIONS)
    small = lobcod.encode(image, output=file, **OPTIONS)
    assert small == lobcod.encode(tall, **OPTIONS) == lobcod.Codes.load(file)


def test_masks_channels_and_volumes_in_bands(tall: lobcod.Array) -> None:
    hidden = np.random.default_rng(0).random(tall.shape) < 0.2
    for given, mask in ((np.where(hidden, np.nan, tall), None), (tall, ~hidden)):
        codes = lobcod.encode(Chunked(given), mask=mask, base="none", max_memory=900_000, **OPTIONS)
        residual = np.where(hidden, 0, tall - codes.reconstruct())
        assert codes.report.objective == pytest.approx(0.5 * (residual**2).sum() + 40 * np.abs(codes.value).sum(), rel=1e-5)
    colour = np.stack([tall, tall[::-1], tall[:, ::-1]])
    first = lobcod.encode(Chunked(colour), channel_axis=0, max_memory=2_000_000, **OPTIONS)
    last = lobcod.encode(Chunked(np.moveaxis(colour, 0, -1)), channel_axis=-1, max_memory=2_000_000, **OPTIONS)
    assert np.array_equal(first.value, last.value) and first.channel_axis == 0 and last.channel_axis == 2
    np.testing.assert_array_equal(first.reconstruct(), np.moveaxis(last.reconstruct(), -1, 0))
    assert first.report.objective == pytest.approx(objective(first, colour, 40), rel=1e-5)


def test_what_bands_cannot_do_is_refused(tall: lobcod.Array, tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "start": "spread",
        "penalty_map": np.ones_like(tall),
        "weights": np.ones((81, 407, 55)),
        "elastic": 0.5,
        "joint": 5.0,
        "loss": "l1",
        "debias": True,
        "checkpoint": tmp_path / "state.npz",
        "resume": tmp_path / "state.npz",
    }
    known = {parameter.name for parameter in _table.FUNCTIONS["encode"].parameters}
    # An option that is new is refused in bands until it is listed as supported, and needs a value here.
    assert set(values) | {"max_error"} == known - _bands.SUPPORTED and known > _bands.SUPPORTED
    wrong: list[tuple[dict[str, Any], str]] = [
        *(({name: value}, name) for name, value in values.items()),
        ({"border": "periodic"}, 'border="periodic"'),
        ({"border": "inside"}, 'border="inside"'),
        ({"base": "smooth"}, 'base="smooth"'),
        ({"mask": tall > 0}, "a mask with a base layer"),
        ({"max_nonzeros": np.ones((407, 55), int)}, "max_nonzeros for each position"),
    ]
    for options, what in wrong:
        with pytest.raises(MemoryError, match=f"does not support {what}; do without it, or raise max_memory"):
            lobcod.encode(Chunked(tall), max_memory=LIMIT, **OPTIONS, **options)
    with pytest.raises(MemoryError, match="does not support max_error"):
        lobcod.encode(Chunked(tall), max_memory=LIMIT, max_error=10.0, threads=1)
    with pytest.raises(MemoryError):
        lobcod.encode(Chunked(tall), max_memory=1000, **OPTIONS)
    with pytest.raises(ValueError, match="samples are missing, which the local mean does not support in bands"):
        lobcod.encode(np.where(tall > 100, np.nan, tall), max_memory=LIMIT, **OPTIONS)

    class Broken(Chunked):
        def __getitem__(self, key: Any) -> lobcod.Array:
            raise OSError("the disk is gone")

    with pytest.raises(ValueError, match=r"rows 0 to \d+ cannot be read \(OSError: the disk is gone\)"):
        lobcod.encode(Broken(tall), max_memory=LIMIT, **OPTIONS)
    with pytest.raises(ValueError, match="output work with one image only"):
        lobcod.encode([tall], output="unused.npz")


@pytest.mark.parametrize("package", ["zarr", "dask.array", "h5py", "xarray"])
def test_arrays_of_other_packages(package: str, tall: lobcod.Array, tmp_path: Path) -> None:
    module = pytest.importorskip(package)
    image: Any
    if package == "zarr":
        image = module.open(str(tmp_path / "image.zarr"), mode="w", shape=tall.shape, chunks=(64, 48), dtype=tall.dtype)
        image[:] = tall
    elif package == "h5py":
        image = module.File(tmp_path / "image.h5", "w").create_dataset("image", data=tall)
    else:
        image = pytest.importorskip("dask.array").from_array(tall, chunks=(64, 48))
        image = module.DataArray(image, dims=("y", "x")) if package == "xarray" else image
    assert lobcod.encode(image, max_memory=LIMIT, **OPTIONS) == lobcod.encode(tall, max_memory=LIMIT, **OPTIONS)
    assert lobcod.encode(image, **OPTIONS) == lobcod.encode(tall, **OPTIONS)
