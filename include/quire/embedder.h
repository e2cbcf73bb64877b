// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dtype.h>
#include <quire/export.h>
#include <quire/token.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// A text as a vector, and how much of the text the encoder could see.
struct Embedding {
  std::vector<float> values;        // Embedder::dimension() floats
  TokenIds ids;                     // that were read, those around the text ([CLS], …) included
  std::vector<std::string> pieces;  // the ids as the vocabulary spells them
  std::vector<float> token_values;  // of each id, its state before pooling: [ids][width]
  std::int64_t unknown_tokens = 0;  // parts of the whole text that are not in the vocabulary
  bool truncated = false;           // the text was longer than what the encoder reads
};

struct EmbedderOptions {
  DType dtype = DType::kAuto;  // of the weights; kAuto: as in the files. Arithmetic is float32
  int threads = 0;             // that compute; 0: one a core
};

// Turns texts into vectors whose cosine says how close their meanings are.
//
// load() gives one that runs a sentence encoder as sentence-transformers does. For vectors from
// elsewhere derive from it: dimension() and embed() are enough.
//
// Thread-safety: all methods may be called concurrently, those of a derived class too. Calls of a
// loaded one share its threads.
class QUIRE_EXPORT Embedder {
 public:
  // `path`: a directory in sentence-transformers' layout, with a BERT, DistilBERT, MPNet, RoBERTa,
  // XLM-RoBERTa or CamemBERT encoder in safetensors. Vectors have unit length where its modules
  // say Normalize. Throws Error: kNotFound (a file, a tensor), kUnsupported (a decoder, an unknown
  // module, pooling or activation), kCorrupt, kIo, kOutOfMemory; they name the file and the key.
  static std::shared_ptr<const Embedder> load(const std::filesystem::path& path,
                                              const EmbedderOptions& options = {});

  Embedder() = default;
  virtual ~Embedder();
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  // Tells vectors of this embedder from others' where they are kept in a file. A loaded one's is
  // its directory's name; by default there is none.
  virtual std::string name() const;

  // Floats of every vector; at least 1.
  virtual std::int64_t dimension() const = 0;

  // A loaded one reads the first tokens of a text that is too long.
  // Throws Error: kNotFound (the directory has no tokenizer), kBadNumber (the weights give NaN or
  // infinity), kOutOfMemory.
  virtual std::vector<float> embed(std::string_view text) const = 0;

  // embed() of each, to the bit; a loaded one computes them together.
  virtual std::vector<std::vector<float>> embed_batch(std::span<const std::string> texts) const;

  // embed() with what it saw. By default the vector alone.
  virtual Embedding embed_in_detail(std::string_view text) const;

  // The vector of token ids as they are: nothing is put around them, nothing cut off.
  // Throws Error: kInvalidArgument (no ids, or one outside the vocabulary), kContextOverflow,
  // kUnsupported (by default).
  virtual std::vector<float> embed_ids(std::span<const TokenId> ids) const;
};

}  // namespace quire
