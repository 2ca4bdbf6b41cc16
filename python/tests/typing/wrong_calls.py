"""Wrong calls, each of which type checkers must reject."""

import lobcod
import numpy as np

image = np.zeros((64, 64), np.float32)

lobcod.encode(image, border="round")  # wrong
lobcod.encode(image, penalty="high")  # wrong
lobcod.encode(image, thread=2)  # wrong
lobcod.encode(image, threads="all")  # wrong
lobcod.encode(image, schedule="random")  # wrong
lobcod.encode(image, local="magic")  # wrong
lobcod.encode(image, precision="f16")  # wrong
lobcod.encode(image, engine="tpu")  # wrong
lobcod.encode(image, dictionary="unnatural")  # wrong
lobcod.encode(image, start="middle")  # wrong
lobcod.encode(image, progress="bar")  # wrong
lobcod.encode("image.png")  # wrong
lobcod.encode()  # wrong
lobcod.encode(image).report.gaps  # wrong
lobcod.encode([image]).report  # wrong
lobcod.learn([image], method="luck")  # wrong
lobcod.learn([image], atoms="many")  # wrong
lobcod.learn([image], step="giant")  # wrong
lobcod.learn([image], init="magic")  # wrong
lobcod.learn([image]).atoms  # wrong
lobcod.inpaint(image, preset="slow")  # wrong
lobcod.inpaint(image, penalty="low")  # wrong
lobcod.inpaint(image, learn="much")  # wrong
lobcod.inpaint(image).fit  # wrong
lobcod.inpaint(image, return_report=True).shape  # wrong
lobcod.fuse([image, image], "blend")  # wrong
lobcod.fuse([image, image], align="rotate")  # wrong
lobcod.fuse([image, image], compose="paint")  # wrong
lobcod.denoise(image, sigma="25")  # wrong
lobcod.denoise(image, method="magic")  # wrong
lobcod.separate(image, alternations=2.5)  # wrong
lobcod.Stream(size="8x8")  # wrong
lobcod.psnr(image, image, peak=255)  # wrong
lobcod.ConvolutionalDictionaryLearning(border="round")  # wrong
lobcod.embedded_dictionary("unnatural")  # wrong
lobcod.random_dictionary(8, (5, 5), precision="f16")  # wrong
lobcod.base_layer(image, size="8x8")  # wrong
