// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>
#include <quire/dtype.h>
#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/model_config.h>
#include <quire/sampling.h>
#include <quire/token.h>
#include <quire/tokenizer.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

struct ModelOptions {
  DType dtype = DType::kAuto;
  Device device = Device::kCpu;
  int threads = 0;  // used while loading; 0: one a core
  // Called now and then while loading with a fraction from 0 to 1, on the calling thread.
  std::function<void(double)> progress = {};
};

// One sequence of a batch: the new tokens, and the cache that holds what came before them.
struct Sequence {
  std::span<const TokenId> tokens;
  KvCache& cache;
  // Logits for the last `logits` of these tokens; 0: none.
  std::int64_t logits = 1;
  // Rope scalings that depend on the length of the text ("dynamic", "longrope") go by the length
  // after this pass, or by this one if it is longer: set it to the whole prompt's length when a
  // prompt is read in chunks, so that chunks give what the whole gives.
  std::int64_t rope_length = 0;
};

// What the files recommend for generation (generation_config.json).
struct GenerationDefaults {
  std::vector<TokenId> eos;  // generation config, else config, else tokenizer
  Sampling sampling;         // greedy unless do_sample is true
  bool do_sample = false;
};

// A decoder language model: weights, configuration, tokenizer and chat template of one directory
// or file. Everything mutable is the caller's: caches, generators.
//
// Thread-safety: immutable after load; forward may run on many threads with distinct caches.
class QUIRE_EXPORT Model {
 public:
  // `path`: a Hugging Face directory or a .gguf file. Throws Error with the file and the tensor or
  // key, and what was expected and found.
  static std::shared_ptr<const Model> load(const std::filesystem::path& path,
                                           const ModelOptions& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const;
  const KvSpec& kv_spec() const;
  DType dtype() const;
  Device device() const;
  const std::filesystem::path& path() const;

  // Equal for models that compute equal keys and values: XXH3 over the configuration and every
  // weight as the files hold it, and the dtype.
  const std::string& fingerprint() const;

  // nullptr when the files hold none.
  const std::shared_ptr<const Tokenizer>& tokenizer() const;

  // Equal for tokenizers that make equal ids, as far as a fixed text shows: XXH3 over the
  // vocabulary and that text's ids. Empty without one. Taken when it is first asked for.
  const std::string& tokenizer_fingerprint() const;

  const std::shared_ptr<const ChatTemplate>& chat_template() const;
  const GenerationDefaults& generation_defaults() const;

  // Runs the sequences as one ragged batch: linear layers once over all tokens, attention for each
  // sequence over its own cache. Returns float32 logits [sum of Sequence::logits, vocab], in order.
  // Each cache grows by its tokens; if anything throws, none has.
  //
  // REQUIRES: at least one token in each sequence, distinct caches made for kv_spec().
  // Throws Error: kInvalidArgument (token id, cache), kContextOverflow, kOutOfPages.
  at::Tensor forward(std::span<const Sequence> batch, ThreadPool* threads = nullptr) const;

  class Impl;

 private:
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace quire
