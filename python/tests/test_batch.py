"""Several images in one call, and the number of threads."""

import os
import warnings

import lobcod
import numpy as np
import pytest

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_a_list_gives_a_list(grey: lobcod.Array) -> None:
    images = [grey[:20, :30], grey[10:50, 5:40].astype(np.float64), (grey / 2).astype(np.uint8)]
    together = lobcod.encode(images, penalty=20)
    assert isinstance(together, list) and len(together) == 3
    for codes, image in zip(together, images):
        alone = lobcod.encode(image, penalty=20)
        assert codes == alone and codes.dtype == image.dtype and codes.report.objective == alone.report.objective
    assert lobcod.encode(tuple(images[:1]), penalty=20)[0] == together[0]
    assert lobcod.encode([], penalty=20) == []


def test_masks_and_starts_of_several(grey: lobcod.Array) -> None:
    known = np.random.default_rng(0).random(grey.shape) < 0.7
    images = [grey, grey[::-1]]
    one_mask = lobcod.encode(images, penalty=20, mask=known)
    a_list = lobcod.encode(images, penalty=20, mask=[known, known])
    assert one_mask == a_list and one_mask[1] == lobcod.encode(grey[::-1], penalty=20, mask=known)
    again = lobcod.encode(images, penalty=20, mask=known, start=one_mask)
    assert all(codes.report.discovery_sweeps <= 2 for codes in again)
    with pytest.raises(ValueError, match="mask has 1 entries for 2 images"):
        lobcod.encode(images, mask=[known])
    with pytest.raises(ValueError, match="image 1 is float64 without axes"):
        lobcod.encode([grey, 3.0])
    with pytest.raises(ValueError, match="work with one image only"):
        lobcod.encode(images, checkpoint="unused.npz")


def test_one_warning_for_all(grey: lobcod.Array) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lobcod.encode([grey, grey[:9, :9], grey[::-1]], penalty=0.5, tolerance=1e-6, max_sweeps=1)
    assert len(caught) == 1 and "of the 3 pursuits" in str(caught[0].message)
    assert caught[0].category is lobcod.ConvergenceWarning and caught[0].filename == __file__


def test_a_time_limit_is_for_all_together() -> None:
    large = lobcod.still_life(128).mean(axis=-1)
    with pytest.warns(lobcod.ConvergenceWarning, match="of the 4 pursuits"):
        codes = lobcod.encode([large] * 4, penalty=0.05, tolerance=0, time_limit=0.2)
    assert sum(one.report.seconds for one in codes) < 10 and codes[-1].report.status == "time_limit"


def test_threads_are_chosen_by_size(grey: lobcod.Array) -> None:
    assert lobcod.encode(grey[:8, :8], relative_penalty=0.1).report.threads == 1
    large = np.tile(grey, (8, 8))
    options = {"relative_penalty": 0.9, "tolerance": 1}
    assert lobcod.encode(large, **options).report.threads == min(CORES or 1, large.size // 8192)  # type: ignore[call-overload]
    assert lobcod.encode(grey[:8, :8], relative_penalty=0.1, threads=-1).report.threads == CORES
    assert lobcod.encode(grey[:8, :8], relative_penalty=0.1, threads=2).report.threads == 2
    assert lobcod.learn([grey[:8, :8]], 4, (3, 3), passes=1).report.threads == 1
    assert lobcod.inpaint(grey[:16, :16], preset="fast", return_report=True)[1].threads == 1
