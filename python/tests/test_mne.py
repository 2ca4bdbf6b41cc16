"""Waveforms of EEG: those of a simulation, whose topographies, waveforms and times are known."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mne = pytest.importorskip("mne")
from lobcod.mne import CSC, read_csc  # noqa: E402

EXAMPLE = Path(__file__).parent.parent / "examples/mne/eeg.py"


@pytest.fixture(scope="module", autouse=True)
def quiet() -> None:
    mne.set_log_level("error")


@pytest.fixture(scope="module")
def simulation() -> Any:
    spec = importlib.util.spec_from_file_location("eeg", EXAMPLE)
    assert spec is not None and spec.loader is not None
    sys.modules["eeg"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.simulate()


@pytest.fixture(scope="module")
def fitted(simulation: Any) -> CSC:
    return CSC(n_components=3, duration=0.5, max_iter=20).fit(simulation.raw)


def matches(csc: CSC, simulation: Any) -> list[int]:
    """The component of each source: that with the most similar topography."""
    found = csc.get_components()
    found = found / np.linalg.norm(found, axis=0)
    return [int(k) for k in np.abs(simulation.topographies.T @ found).argmax(axis=1)]


def test_planted_bursts_are_recovered(fitted: CSC, simulation: Any) -> None:
    order = matches(fitted, simulation)
    assert sorted(order) == [0, 1, 2]
    topographies, waveforms = fitted.get_components(), fitted.get_waveforms()
    assert topographies.shape == (32, 3) and waveforms.shape == (3, 50)
    for k, component in enumerate(order):
        assert abs(np.corrcoef(topographies[:, component], simulation.topographies[:, k])[0, 1]) > 0.99
        assert np.abs(np.correlate(waveforms[component], simulation.waveforms[k], "full")).max() > 0.95
    assert fitted.report_ is not None and fitted.report_.status == "completed"
    assert "3 components of 0.5 s, fitted to 32 channels" in repr(fitted)


def test_annotations_are_at_the_times_of_the_bursts(fitted: CSC, simulation: Any) -> None:
    order = matches(fitted, simulation)
    for date in (None, 1_600_000_000):
        raw = simulation.raw.copy().set_meas_date(date)
        raw.set_annotations(raw.annotations + fitted.annotate(raw))
        for k, component in enumerate(order):
            chosen = raw.annotations.description == f"CSC{component:03d}"
            onset = raw.annotations.onset[chosen] - raw.first_time
            assert len(onset) == len(simulation.starts[k])
            # A waveform may be learnt with a shift, which is the same for all events.
            late = onset - simulation.starts[k] / 100.0
            assert np.ptp(late) <= 0.02 and np.abs(late).max() < 0.25
            assert set(raw.annotations.duration[chosen]) == {0.5}
    few = fitted.annotate(simulation.raw, picks=[1])
    assert set(few.description) == {"CSC001"}
    with pytest.raises(TypeError, match="use get_sources"):
        fitted.annotate(epochs_of(simulation.raw))


def epochs_of(raw: Any) -> Any:
    return mne.make_fixed_length_epochs(raw, 3.0, preload=True)


def test_apply_removes_the_artefact_and_nothing_else(fitted: CSC, simulation: Any) -> None:
    blink = matches(fitted, simulation)[0]
    rest = simulation.raw.get_data() - simulation.parts[0]
    for inst in (simulation.raw.copy(), simulation.raw.copy().reorder_channels(simulation.raw.ch_names[::-1])):
        cleaned = fitted.apply(inst, exclude=[blink])
        assert cleaned is inst
        left = np.linalg.norm(cleaned.get_data(simulation.raw.ch_names) - rest) / np.linalg.norm(simulation.parts[0])
        assert left < 0.1
    epochs = epochs_of(simulation.raw)
    before = epochs.get_data(copy=True)
    fitted.exclude = [blink]
    after = fitted.apply(epochs).get_data()
    fitted.exclude = []
    removed = simulation.parts[0].reshape(32, 20, 300).swapaxes(0, 1)
    # Blinks that an epoch cuts are not modelled.
    cut = {int(start // 300) + side for start in simulation.starts[0] if start % 300 > 300 - 50 for side in (0, 1)}
    inside = [number for number in range(20) if number not in cut]
    assert len(inside) > 10
    assert np.linalg.norm((before - after - removed)[inside]) < 0.1 * np.linalg.norm(removed[inside])
    with pytest.raises(ValueError, match="no component 3; the components are 0 to 2"):
        fitted.apply(epochs, exclude=[3])


def test_sources_rebuild_the_recording(fitted: CSC, simulation: Any) -> None:
    sources = fitted.get_sources(simulation.raw)
    assert sources.ch_names == ["CSC000", "CSC001", "CSC002"] and sources.first_samp == 1234
    activations = sources.get_data()
    assert activations.min() >= 0 and activations.shape == (3, 6000)
    sums = [np.convolve(a, w)[:6000] for a, w in zip(activations, fitted.get_waveforms())]
    rest = simulation.raw.copy()
    fitted.apply(rest, exclude=[0, 1, 2])
    np.testing.assert_allclose(rest.get_data() + fitted.get_components() @ sums, simulation.raw.get_data(), atol=1e-9)
    epochs = epochs_of(simulation.raw)
    assert fitted.get_sources(epochs).get_data().shape == (20, 3, 300)


def test_epochs_and_bad_segments(simulation: Any) -> None:
    epochs = CSC(n_components=5, duration=0.5, max_iter=20).fit(epochs_of(simulation.raw))
    assert len(set(matches(epochs, simulation))) == 3
    raw = simulation.raw.copy()
    raw._data[:, 2000:2200] += 1e-2
    raw.set_annotations(mne.Annotations(20, 2, "BAD_jump"))
    kept = CSC(n_components=3, duration=0.5, max_iter=20).fit(raw)
    assert sorted(matches(kept, simulation)) == [0, 1, 2]
    assert np.abs(kept.get_components()).max() < 1e-4


def test_files(fitted: CSC, simulation: Any, tmp_path: Path) -> None:
    fitted.exclude = [2]
    fitted.save(tmp_path / "csc-epo.fif")
    fitted.exclude = []
    read = read_csc(tmp_path / "csc-epo.fif")
    assert read.exclude == [2] and read.ch_names == fitted.ch_names and read.penalty_ == fitted.penalty_
    np.testing.assert_allclose(read.get_components(), fitted.get_components(), rtol=1e-5)
    np.testing.assert_allclose(
        read.get_sources(simulation.raw).get_data(), fitted.get_sources(simulation.raw).get_data(), atol=1e-4
    )
    epochs_of(simulation.raw).save(tmp_path / "other-epo.fif")
    with pytest.raises(ValueError, match="holds epochs, but no components"):
        read_csc(tmp_path / "other-epo.fif")


def test_wrong_recordings(fitted: CSC, simulation: Any) -> None:
    raw = simulation.raw.copy()
    with pytest.raises(ValueError, match="has no channel Fp1"):
        fitted.get_sources(raw.copy().drop_channels(["Fp1"]))
    with pytest.raises(ValueError, match="sampled at 50 Hz, but the components 100 Hz; resample it"):
        fitted.apply(raw.copy().resample(50.0))
    with pytest.raises(ValueError, match="two or more channels"):
        CSC().fit(raw, picks=["Cz"])
    with pytest.raises(TypeError, match="must be a Raw or Epochs"):
        fitted.apply(raw.get_data())
    with pytest.raises(RuntimeError, match="call fit first"):
        CSC().get_components()
    unfiltered = mne.io.RawArray(raw.get_data(), mne.create_info(raw.ch_names, 100.0, "eeg"))
    with pytest.warns(UserWarning, match="slow drifts"):
        CSC(2, max_iter=2).fit(unfiltered, stop=1000)


@pytest.mark.filterwarnings("ignore:.*non-interactive")
def test_the_guide_runs(simulation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs/how-to/waveforms.md"
    block = next(part for part in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) if "lobcod.mne" in part)
    monkeypatch.chdir(tmp_path)
    raw = simulation.raw.copy()
    exec(compile(block, str(page), "exec"), {"raw": raw})
    assert np.linalg.norm(raw.get_data()) < 0.9 * np.linalg.norm(simulation.raw.get_data())
    assert len(raw.annotations) == 95 and (tmp_path / "sub01-epo.fif").exists()
    pytest.importorskip("matplotlib.pyplot").close("all")


def test_the_example_runs(tmp_path: Path) -> None:
    figure = tmp_path / "eeg.png"
    printed = subprocess.run([sys.executable, EXAMPLE, figure], check=True, capture_output=True, text=True).stdout
    assert "CSC000: 15 events" in printed and figure.stat().st_size > 10_000


def test_plots_show_the_components(fitted: CSC) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    waves = fitted.plot_waveforms(show=False)
    drawn = [ax.lines[0].get_ydata() for ax in waves.axes]
    np.testing.assert_array_equal(drawn, fitted.get_waveforms())
    maps = fitted.plot_components(picks=[2, 0], show=False)
    assert [ax.get_title() for ax in maps.axes] == ["CSC002", "CSC000"] and all(ax.images for ax in maps.axes)
    plt.close("all")
