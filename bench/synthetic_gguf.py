#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a GGUF file of a llama model in a known size and shape whose weights are random blocks.

What it says is noise; what it costs to load, hold and run is what a trained file of its shape costs.
The tokenizer is another file's. Needs the Python package gguf (never needed by Quire itself).

    PYTHON bench/synthetic_gguf.py 1.7b q4_0 OUT.gguf [--tokenizer FILE.gguf]
"""
import argparse
import os

import gguf
import numpy

# layers, hidden size, MLP size, heads, heads of keys and values
SHAPES = {"1.7b": (24, 2048, 8192, 32, 32), "7b": (32, 4096, 11008, 32, 32)}
BLOCKS = {"q4_0": gguf.GGMLQuantizationType.Q4_0, "q4_k": gguf.GGMLQuantizationType.Q4_K}
CONTEXT = 4096
CHUNK = 1 << 16  # blocks that are drawn; a tensor repeats them


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("QUIRE_HOME", os.path.expanduser("~/.cache/quire"))
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("blocks", choices=BLOCKS)
    parser.add_argument("out")
    parser.add_argument("--tokenizer", default=os.path.join(
        home, "models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"))
    return parser.parse_args()


def copy_tokenizer(path, writer):
    """Copies every key of the tokenizer; returns the number of its tokens."""
    reader = gguf.GGUFReader(path)
    for name, field in reader.fields.items():
        if name.startswith("tokenizer."):
            kind = field.types[0]
            sub = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, sub)
    return len(reader.fields["tokenizer.ggml.tokens"].data)


def random_blocks(kind, random):
    """CHUNK random blocks whose weights have about the size of a trained model's."""
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (CHUNK, size), dtype=numpy.uint8)
    halves = blocks[:, :4].view(numpy.float16)
    if kind == gguf.GGMLQuantizationType.Q4_0:
        halves[:, 0] = random.uniform(0.002, 0.006, CHUNK)
    else:  # 6-bit scales of 4-bit codes, and mins that bring their mean to zero
        halves[:, 0] = random.uniform(0.0001, 0.0002, CHUNK)
        halves[:, 1] = 7.5 * halves[:, 0]
    return blocks.reshape(-1)


def write(options, writer):
    layers, hidden, mlp, heads, kv_heads = SHAPES[options.shape]
    writer.add_block_count(layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(mlp)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    vocabulary = copy_tokenizer(options.tokenizer, writer)
    writer.add_vocab_size(vocabulary)

    kind = BLOCKS[options.blocks]
    blocks = random_blocks(kind, numpy.random.default_rng(0))
    per_block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    kv = hidden // heads * kv_heads
    tensors = [("token_embd.weight", vocabulary, hidden), ("output_norm.weight", 0, hidden)]
    for i in range(layers):
        tensors += [(f"blk.{i}.{name}.weight", rows, cols) for name, rows, cols in (
            ("attn_norm", 0, hidden), ("attn_q", hidden, hidden), ("attn_k", kv, hidden),
            ("attn_v", kv, hidden), ("attn_output", hidden, hidden), ("ffn_norm", 0, hidden),
            ("ffn_gate", mlp, hidden), ("ffn_up", mlp, hidden), ("ffn_down", hidden, mlp))]

    def data_of(rows, cols):
        if rows == 0:  # a norm
            return numpy.ones(cols, dtype=numpy.float32)
        return numpy.resize(blocks, (rows, cols // per_block * block_bytes))

    for name, rows, cols in tensors:
        data = data_of(1 if rows else 0, cols)
        shape = (rows, data.shape[1]) if rows else data.shape
        size = max(rows, 1) * data.nbytes
        writer.add_tensor_info(name, shape, data.dtype, size, raw_dtype=kind if rows else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for _, rows, cols in tensors:
        writer.write_tensor_data(data_of(rows, cols))


def main():
    options = parse()
    writer = gguf.GGUFWriter(options.out, "llama")
    write(options, writer)
    writer.close()


if __name__ == "__main__":
    main()
