// SPDX-License-Identifier: Apache-2.0
// What an encoder sees of a text: its direction and its words.
//
// Thread-safety: as the embedder's.
#pragma once

#include <quire/embedder.h>
#include <quire/semantic_answer.h>

#include <memory>
#include <string>
#include <vector>

#include "semantic/word_pairing.h"

namespace quire {

struct Sight {
  // Why there is no vector; with one: kNone, or kUnknownTokens when it leaves a part of the text
  // out.
  SemanticMiss blind = SemanticMiss::kNone;
  std::vector<float> unit;  // empty: no vector
  Reading reading;
};

// Throws Error as the embedder does, but for kBadNumber, and kInvalidArgument for a vector that has
// not the embedder's dimension.
Sight see(const Embedder& embedder, const std::string& text);

}  // namespace quire
