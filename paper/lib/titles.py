"""Names that the scripts and the generated tables share."""

PURSUIT = {
    "lobcod-free": "lobcod",
    "lobcod-zero": "lobcod",
    "spams": "layered LoBCoD, SPAMS LARS, f32",
    "sporco": "SPORCO ConvBPDN ADMM, f32",
    "sporco-masked": "SPORCO ConvBPDNMaskDcpl ADMM, f32",
}
BATCH = {
    "lobcod-atomwise": "lobcod, atomwise",
    "lobcod-stochastic": "lobcod, stochastic (Algorithm 2)",
    "lobcod-batch": "lobcod, batch",
    "sbdl-ksvd": "SBDL, K-SVD (crates/lobcod-baselines)",
    "sbdl-mod": "SBDL, MOD (crates/lobcod-baselines)",
    "spams": "Algorithm 2, numpy and SPAMS' LARS",
    "sporco_masked": "SPORCO, mask-decoupled (Wohlberg 2016)",
    "sporco_consensus": "SPORCO, consensus (Garcia-Cardona 2017)",
    "sporco_admm": "SPORCO, ConvBPDNDictLearn",
}
ONLINE = {
    "lobcod-stream": "lobcod, stream",
    "lobcod-stochastic": "lobcod, stochastic (Algorithm 2, online steps)",
    "spatial": "Liu 2018, spatial (crates/lobcod-baselines, lobcod's pursuit)",
    "sporco_online": "SPORCO, online (Liu 2018, frequency)",
    "sporco_online_masked": "SPORCO, online, masked",
}
IMAGES = ["barbara", "boat", "house", "lena", "peppers", "cameraman", "couple", "fingerprint"]
IMAGES += ["hill", "man", "montage"]
# The rows of the paper's table of inpainting, in the order of IMAGES.
PAPER_INPAINTING = {
    "SBDL, external": [30.41, 31.76, 36.17, 35.92, 33.69, 28.76, 32.16, 30.91, 33.12, 33.04, 28.93],
    "LoBCoD, external": [
        30.93, 31.82, 36.58, 36.15, 33.54, 28.88, 32.46, 31.75, 33.25, 33.18, 29.18,
    ],
    "SBDL, image-specific": [
        31.98, 32.04, 36.19, 36.01, 34.03, 28.85, 32.18, 30.96, 33.21, 32.99, 28.95,
    ],
    "LoBCoD, image-specific": [
        32.50, 32.27, 36.74, 36.17, 34.48, 29.04, 32.56, 31.76, 33.42, 33.25, 29.23,
    ],
}  # fmt: skip
INPAINTING = {
    "external": "lobcod, embedded atoms",
    "fruit": "lobcod, atoms of Fruit",
    "specific": "lobcod, image-specific",
    "best": "lobcod, `--preset best`",
    "sbdl-external": "SBDL, embedded atoms",
    "sbdl-fruit": "SBDL, atoms of Fruit",
    "sbdl-ksvd": "SBDL, image-specific, K-SVD",
    "sbdl-mod": "SBDL, image-specific, MOD",
}
# PSNR in dB that the paper prints for its fusion pairs.
PAPER_FUSION = {
    "Barbara": {"LoBCoD": 42.27, "Liu 2016": 41.96},
    "Butterfly": {"LoBCoD": 36.01, "Liu 2016": 35.30},
    "Bird": {"LoBCoD": 39.81, "Liu 2016": 39.29},
}
