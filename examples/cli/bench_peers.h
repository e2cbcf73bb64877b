// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dtype.h>

#include <cstdint>
#include <filesystem>

#include "json.h"

namespace cli {

struct PeerWork {
  std::filesystem::path model;
  quire::DType dtype;
  int threads;
  std::int64_t prefill;
  std::int64_t decode;
  int repeats;
};

// What others make of the same files and the same lengths on this machine, if they are on PATH:
// llama.cpp (llama-bench, for .gguf files) and transformers (in python3, on the CPU). One object
// each: name, version, what their weights are in, prefill_tokens_per_s, decode_tokens_per_s. Those
// that are not there, or cannot run the model, are left out. Each has its own way to time: of
// llama-bench it is the mean, of transformers the best of the repeats.
Json measure_llama_cpp(const PeerWork& work);
Json measure_transformers(const PeerWork& work);

}  // namespace cli
