"""Write blocks of random bytes of every block type and what gguf-py makes of them.

Usage: make_blocks.py        (needs numpy and gguf; writes TYPE.blocks and TYPE.f32 beside itself)

TYPE.blocks is one row of encoded weights, TYPE.f32 the little-endian float32 they stand for. The bytes
are random, so that every code and scale occurs; scales of random bits are now and then subnormal, huge,
infinite or NaN, as in a damaged file.
"""
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

NAMES = "F32 F16 BF16 F64 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K".split()
ELEMENTS = 8192


def main():
    folder = Path(__file__).parent
    rng = np.random.default_rng(20)
    for name in NAMES:
        kind = GGMLQuantizationType[name]
        elements, size = GGML_QUANT_SIZES[kind]
        data = rng.integers(0, 256, ELEMENTS // elements * size, dtype=np.uint8)
        if name == "F64":  # random bits would rarely be in float32's range
            data = (rng.standard_normal(ELEMENTS) * 10.0 ** rng.uniform(-46, 40, ELEMENTS)).view(np.uint8)
        with np.errstate(all="ignore"):
            values = data.view(np.float64).astype(np.float32) if name == "F64" else quants.dequantize(data, kind)
        (folder / f"{name}.blocks").write_bytes(data.tobytes())
        (folder / f"{name}.f32").write_bytes(values.astype("<f4").tobytes())


main()
