// SPDX-License-Identifier: Apache-2.0
// Everything about a sentence encoder but its weights, opened and checked: what loading and
// inspecting share (compare model_files.h).
//
// Errors: as Embedder::load.
#pragma once

#include <quire/checkpoint.h>
#include <quire/dtype.h>
#include <quire/inspect.h>
#include <quire/tokenizer.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "model/encoder_config.h"
#include "model/encoder_layout.h"
#include "model/encoder_plan.h"

namespace quire {

struct EncoderFiles {
  SentenceLayout layout;
  std::shared_ptr<const Checkpoint> checkpoint;
  EncoderConfig config;
  EncoderPlan plan;                            // borrows the checkpoint
  std::shared_ptr<const Tokenizer> tokenizer;  // null: there is none
  std::int64_t max_tokens = 0;                 // of a text, those around it included
};

EncoderFiles open_encoder(const std::filesystem::path& path);

// How a matrix is held when `asked` for: kAuto and kNative are what the file holds, without
// rounding.
DType encoder_dtype(const MatrixPlan& plan, DType asked);

ModelInfo inspect_encoder(const std::filesystem::path& path, DType dtype);

}  // namespace quire
