"""A user's script, which type checkers accept in their strict modes."""

import lobcod
import numpy as np
import numpy.typing as npt

image: npt.NDArray[np.float32] = np.zeros((64, 64), np.float32)
known: npt.NDArray[np.bool_] = np.ones((64, 64), np.bool_)

codes: lobcod.Codes = lobcod.encode(image, "natural", 20.0, mask=known, border="periodic", max_memory="1GB", threads=-1)
gap: float = codes.report.relative_gap
several: list[lobcod.Codes] = lobcod.encode([image, image[:32]], penalty=20, start="spread")
again = lobcod.encode(image, codes.dictionary, start=codes, channel_axis=None, progress=True)
decoded: lobcod.Array = lobcod.decode(again)

result = lobcod.learn([image], atoms=16, size=(5, 5), method="stochastic", step="adam", init="patches")
dictionary, report = result
passes: int = report.passes
objectives: list[float] = [point.objective for point in report.history]

filled: lobcod.Array = lobcod.inpaint(image, known, preset="fast", penalty="auto")
filled, inpainting = lobcod.inpaint(image, known, return_report=True)
fit: lobcod.Array = inpainting.fit
fused, fusion = lobcod.fuse([image, image], "focus", align="shift", return_report=True)
decision: lobcod.Array = fusion.decision
clean: lobcod.Array = lobcod.denoise(image, "gaussian:25", method="local")
smooth, texture = lobcod.separate(image, penalty=5)
smooth, texture, separation = lobcod.separate(image, penalty=5, return_report=True)
turns: int = separation.alternations


def watch(now: lobcod.Progress) -> bool:
    """Stops after ten seconds."""
    return now.seconds < 10


stream = lobcod.Stream(16, (5, 5), 20, base="none").partial_fit(image, progress=watch)
penalty: float | None = stream.penalty
layer: lobcod.Array = lobcod.base_layer(image, "smooth")
score: float = lobcod.psnr(filled, image, data_range=255)
atoms: lobcod.Array = lobcod.from_sporco(np.ones((8, 8, 3, 20)), dimN=2)
