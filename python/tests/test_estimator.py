"""The estimator: scikit-learn's own checks, and further guarantees."""

import inspect
import pickle
import tracemalloc
from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod._table import DEFAULTS
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

SMALL = lobcod.ConvolutionalDictionaryLearning(n_components=4, size=3, max_iter=3)

# Checks that are expected to fail, with the reason: none.
EXPECTED_TO_FAIL: dict[str, str] = {}


@parametrize_with_checks([SMALL], expected_failed_checks=lambda _: EXPECTED_TO_FAIL)  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def images() -> lobcod.Array:
    return np.asarray(lobcod.still_life(64).mean(axis=-1).reshape(4, 16, 64))


def model(**options: Any) -> Any:
    return lobcod.ConvolutionalDictionaryLearning(**{"atoms": 6, "size": (4, 4), "penalty": 20, "passes": 4, **options})


def test_rows_of_codes_stand_for_the_images(images: lobcod.Array) -> None:
    fitted = model(penalty=5.0).fit(images)
    codes = fitted.transform(images)
    assert codes.shape == (4, 6 * 19 * 67) == (4, len(fitted.get_feature_names_out()))
    assert np.array_equal(codes[1].toarray().ravel(), fitted.encode(images[1]).maps().ravel())
    back = fitted.inverse_transform(codes)
    assert lobcod.psnr(back, images, 255) > 25
    wide = lobcod.still_life(32).mean(axis=-1)[None]
    assert fitted.inverse_transform(fitted.transform(wide), shape=(32, 32)).shape == (1, 32, 32)
    with pytest.raises(ValueError, match="pass their shape"):
        fitted.inverse_transform(fitted.transform(wide))
    with pytest.raises(ValueError, match="use encode on each"):
        fitted.transform([images[0], wide[0]])


def test_channels(images: lobcod.Array) -> None:
    colour = lobcod.still_life(32).reshape(2, 16, 32, 3)
    joint = model(channel_axis=-1, base="none").fit(colour)
    assert joint.components_.shape == (6, 3, 4, 4)
    assert joint.inverse_transform(joint.transform(colour)).shape == colour.shape
    one_by_one = model(channel_axis=-1, base="none", init=model().fit(images).components_).fit(colour)
    assert one_by_one.components_.shape == (6, 4, 4)
    rows = one_by_one.transform(colour)
    assert rows.shape == (2, 3 * 6 * 19 * 35)
    assert np.array_equal(rows[1].toarray().ravel(), one_by_one.encode(colour[1]).maps().ravel())
    assert one_by_one.inverse_transform(rows).shape == colour.shape


def test_partial_fit_goes_on(images: lobcod.Array) -> None:
    stream = model()
    for image in images:
        stream.partial_fit(image[None])
    at_once = model().partial_fit(images)
    assert np.array_equal(stream.components_, at_once.components_) and stream.n_iter_ == 4
    restored = pickle.loads(pickle.dumps(stream)).partial_fit(images[:1])
    assert np.array_equal(restored.components_, stream.partial_fit(images[:1]).components_)
    fitted = model().fit(images)
    first = fitted.components_
    assert fitted.partial_fit(images).components_.shape == first.shape and not np.array_equal(first, fitted.components_)


def test_parameters_copies_and_pipelines(images: lobcod.Array) -> None:
    assert clone(model(border="zero")).get_params()["border"] == "zero"
    fitted = model().fit(list(images))
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).components_, fitted.components_)
    assert make_pipeline(model()).fit_transform(images).shape[0] == 4
    different = model().fit([images[0], images[1][:10, :30]])
    assert different.components_.shape == (6, 4, 4)


@pytest.fixture(scope="module")
def digits() -> lobcod.Array:
    datasets = pytest.importorskip("sklearn.datasets")
    return np.asarray(datasets.load_digits().images[:120])


def test_the_round_trip_of_digits_keeps_them(digits: lobcod.Array) -> None:
    fitted = lobcod.ConvolutionalDictionaryLearning(max_iter=5).fit(digits)
    back = fitted.inverse_transform(fitted.transform(digits))
    assert np.linalg.norm(back - digits) <= 0.15 * np.linalg.norm(digits)
    assert fitted.score(digits) == pytest.approx(1 - ((back - digits) ** 2).sum() / ((digits - digits.mean()) ** 2).sum())


def test_a_base_layer_must_be_given_back(images: lobcod.Array) -> None:
    fitted = model(base="local-mean", penalty=1.0).fit(images)
    codes = fitted.transform(images)
    with pytest.raises(ValueError, match="pass base=model.base_layers"):
        fitted.inverse_transform(codes)
    whole = fitted.inverse_transform(codes, base=fitted.base_layers(images))
    np.testing.assert_allclose(whole[1], fitted.encode(images[1]).reconstruct(), atol=1e-3)
    np.testing.assert_allclose(fitted.inverse_transform(codes, base=0)[1], fitted.encode(images[1]).texture(), atol=1e-3)
    assert fitted.score(images) > 0.9


def test_names_of_scikit_learn_and_their_aliases(images: lobcod.Array) -> None:
    ours = model(seed=3, threads=1).fit(images)
    theirs = lobcod.ConvolutionalDictionaryLearning(6, (4, 4), 20, max_iter=4, random_state=3, n_jobs=-1).fit(images)
    assert np.array_equal(ours.components_, theirs.components_) and theirs.n_iter_ == 4
    with pytest.warns(UserWarning, match="n_components and its alias atoms are both given; atoms is used"):
        assert lobcod.ConvolutionalDictionaryLearning(5, (4, 4), 20, atoms=6, max_iter=1).fit(images).components_.shape[0] == 6
    drawn = [model(random_state=state).fit(images).components_ for state in (np.random.RandomState(0), np.random.RandomState(0))]
    assert np.array_equal(*drawn) and not np.array_equal(drawn[0], ours.components_)


def test_defaults_are_those_of_learn() -> None:
    learn, estimator = (inspect.signature(f).parameters for f in (lobcod.learn, lobcod.ConvolutionalDictionaryLearning))
    names = {"seed": "random_state", "passes": "max_iter"}
    assert estimator["n_components"].default == DEFAULTS["learn"]["atoms"]
    for name in ("seed", "passes", "penalty", "relative_penalty", "method", "init", "border", "tolerance", "engine"):
        assert estimator[names.get(name, name)].default == learn[name].default, name
    assert estimator["stream_memory"].default == inspect.signature(lobcod.Stream).parameters["stream_memory"].default
    assert estimator["base"].default == "none"


def test_flat_rows(digits: lobcod.Array) -> None:
    rows = digits.reshape(len(digits), 64)
    options: dict[str, Any] = {"atoms": 6, "size": (4, 4), "penalty": 3, "passes": 2}
    flat = lobcod.ConvolutionalDictionaryLearning(sample_shape=(8, 8), **options).fit(rows)
    square = lobcod.ConvolutionalDictionaryLearning(**options).fit(digits)
    assert np.array_equal(flat.components_, square.components_)
    codes = flat.transform(rows)
    assert (codes != square.transform(digits)).nnz == 0
    assert np.array_equal(flat.inverse_transform(codes), square.inverse_transform(codes).reshape(len(digits), 64))
    assert flat.encode(rows[0]).shape == (8, 8)
    assert flat.score(rows) == square.score(digits)
    with pytest.raises(ValueError, match="but a row of X has 64 values"):
        lobcod.ConvolutionalDictionaryLearning(sample_shape=(8, 9), **options).fit(rows)


def test_names_of_columns(images: lobcod.Array) -> None:
    fitted = model().fit(images)
    names = fitted.get_feature_names_out()
    column = fitted.transform(images)[0].indices[0]
    codes = fitted.encode(images[0])
    first = min(zip(codes.atom, *codes.position.T))
    assert names[column] == "atom" + "_".join(str(int(n)) for n in first)
    assert len(set(names)) == len(names) == 6 * 19 * 67


def test_names_of_millions_of_columns_take_no_memory() -> None:
    large = lobcod.ConvolutionalDictionaryLearning(init=lobcod.embedded_dictionary(), penalty=100, max_iter=1)
    large.partial_fit(lobcod.still_life(32).mean(axis=-1)[None])
    large._sample_shape = (512, 512)
    tracemalloc.start()
    names = large.get_feature_names_out()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(names) == 81 * 519 * 519 and most < 100_000
    assert names[0] == "atom0_-7_-7" and names[-1] == "atom80_511_511" and names[519:521] == ["atom0_-6_-7", "atom0_-6_-6"]
    with pytest.raises(IndexError):
        names[len(names)]


def test_masked_samples_are_missing(images: lobcod.Array) -> None:
    missing = np.random.default_rng(0).random(images.shape) < 0.3
    nan = model().fit(np.where(missing, np.nan, images))
    masked = np.ma.masked_array(np.where(missing, 0, images), missing)
    for given in (masked, list(masked)):
        assert np.array_equal(model().fit(given).components_, nan.components_)


def test_colour_samples_without_channel_axis_are_warned_about() -> None:
    colour = lobcod.still_life(32).reshape(2, 16, 32, 3)
    with pytest.warns(UserWarning, match="channel_axis=-1"):
        lobcod.ConvolutionalDictionaryLearning(4, penalty=200, max_iter=1).fit(colour)
