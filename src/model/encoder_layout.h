// SPDX-License-Identifier: Apache-2.0
// The files that sentence-transformers puts around an encoder: modules.json (which steps there
// are), the pooling's config, sentence_bert_config.json (how long a text may be). Keys and defaults
// are that library's, in its older and its newer spelling.
//
// Errors: kNotFound (a file), kUnsupported (a module, a pooling), kCorrupt; they name file and key.
// Thread-safety: values, and functions of their arguments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace quire {

// How the hidden states of a text's tokens become one vector. In the order in which the results of
// several are joined.
enum class Pooling : std::uint8_t {
  kCls,           // the first token
  kMax,           // the largest of each dimension
  kMean,          // the mean
  kMeanSqrtLen,   // the sum over the square root of the number of tokens
  kWeightedMean,  // the mean, token i weighing i + 1
  kLastToken,
};

struct SentenceLayout {
  std::filesystem::path encoder;  // the folder of the encoder's own files
  std::vector<Pooling> pooling;   // at least one
  bool normalize = false;         // results are scaled to unit length
  bool lower_case = false;        // texts are put in lower case before anything else
  std::int64_t max_tokens = 0;    // of a text, those around it included; 0: not given
  std::string prompt;             // put before every text
};

// Whether `path` is laid out so: a folder with modules.json.
bool is_sentence_encoder(const std::filesystem::path& path);

SentenceLayout read_sentence_layout(const std::filesystem::path& path);

}  // namespace quire
