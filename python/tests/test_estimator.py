"""The estimator, by scikit-learn's own checks and by what it promises beyond them."""

import pickle
from typing import Any

import lobcod
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

SMALL = lobcod.ConvolutionalDictionaryLearning(atoms=4, size=3, passes=3)

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
    fitted = model(base="none", penalty=1.0).fit(images)
    codes = fitted.transform(images)
    assert codes.shape == (4, 6 * 19 * 67) == (4, len(fitted.get_feature_names_out()))
    assert np.array_equal(codes[1].toarray().ravel(), fitted.encode(images[1]).maps().ravel())
    back = fitted.inverse_transform(codes)
    assert lobcod.psnr(back, images) > 25
    wide = lobcod.still_life(32).mean(axis=-1)[None]
    assert fitted.inverse_transform(fitted.transform(wide), shape=(32, 32)).shape == (1, 32, 32)
    with pytest.raises(ValueError, match="give their shape"):
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
