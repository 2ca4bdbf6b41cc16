"""Arrays from other packages: DLPack, torch and xarray."""

from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod._arrays import read_image


class OnlyDlpack:
    """An array that is readable only through DLPack."""

    def __init__(self, array: lobcod.Array) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class OnDevice(OnlyDlpack):
    """A GPU tensor as in torch: numpy cannot read it without a copy."""

    copies = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def detach(self) -> "OnDevice":
        return self

    def cpu(self) -> lobcod.Array:
        self.copies += 1
        return self.array


def test_dlpack_is_read_without_a_copy(grey: lobcod.Array) -> None:
    assert np.shares_memory(read_image(OnlyDlpack(grey), None).array, grey)
    assert lobcod.encode(OnlyDlpack(grey), penalty=20) == lobcod.encode(grey, penalty=20)  # type: ignore[call-overload]
    np.testing.assert_array_equal(lobcod.denoise(OnlyDlpack(grey), sigma=20), lobcod.denoise(grey, sigma=20))  # type: ignore[call-overload]


def test_tensors_of_a_device_are_copied_once(grey: lobcod.Array) -> None:
    tensor = OnDevice(grey)
    assert lobcod.encode(tensor, penalty=20) == lobcod.encode(grey, penalty=20)  # type: ignore[call-overload]
    assert tensor.copies == 1


def test_tensors_of_torch(grey: lobcod.Array) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(grey.copy())
    assert np.shares_memory(read_image(tensor, None).array, tensor.numpy())
    for given in (tensor, tensor.clone().requires_grad_()):
        assert lobcod.encode(given, penalty=20) == lobcod.encode(grey, penalty=20)


def test_xarray_keeps_dims_and_coords(grey: lobcod.Array) -> None:
    xarray = pytest.importorskip("xarray")
    missing = np.random.default_rng(0).random(grey.shape) < 0.3
    image = xarray.DataArray(
        np.where(missing, np.nan, grey),
        dims=("y", "x"),
        coords={"y": 0.5 * np.arange(64), "x": np.arange(64)},
        attrs={"unit": "count"},
    )
    filled = lobcod.inpaint(image, preset="fast")
    assert isinstance(filled, xarray.DataArray) and filled.dims == ("y", "x") and filled.attrs == {"unit": "count"}
    np.testing.assert_array_equal(filled.coords["y"], image.coords["y"])
    np.testing.assert_array_equal(filled.values, lobcod.inpaint(image.values, preset="fast"))
    whole = image.copy(data=grey)
    for layer in (lobcod.denoise(whole, sigma=20), *lobcod.separate(whole, penalty=5), lobcod.base_layer(whole)):
        assert isinstance(layer, xarray.DataArray) and layer.dims == ("y", "x")
    codes = lobcod.encode(whole, penalty=20)
    assert type(codes.base) is np.ndarray and codes == lobcod.encode(grey, penalty=20)
    colour = xarray.DataArray(lobcod.still_life(24), dims=("y", "x", "band"))
    layer = lobcod.base_layer(colour, channel_axis=-1)
    assert isinstance(layer, xarray.DataArray) and layer.dims == ("y", "x", "band")
