// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/generator.h>
#include <quire/snapshot.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace quire {

struct KnowledgeOptions {
  // Documents, chained in this order: files (UTF-8 text), then texts.
  std::vector<std::filesystem::path> files = {};
  std::vector<std::string> texts = {};
  std::string separator = "\n\n";                                    // between documents
  std::string instructions = "Answer the question from this text:";  // before them

  // Documents and question as a conversation, where the model has a chat template; else as a text,
  // in which the question stands between these two.
  bool chat = true;
  std::string before_question = "\n\nQuestion: ";
  std::string after_question = "\nAnswer:";

  // Where to keep the computed documents from run to run; empty: nowhere. A file of other documents
  // or of another model is replaced; one that is no good snapshot is an error.
  std::filesystem::path snapshot = {};
  PrefixScope scope = {};
};

// Cache-augmented generation: documents are read once, and every question is answered with all of
// them in the cache, in place of retrieving parts of them and reading those for each question.
// A question works on a fork that goes when it is answered, so questions are independent, and the
// documents stay exactly as they were computed.
//
// Thread-safety: ask may be called concurrently. The generator must outlive it.
class QUIRE_EXPORT KnowledgeCache {
 public:
  // Reads the documents, or maps them from the file that keeps them. `cache`: an empty one of the
  // class to keep them in; none: a DynamicCache.
  // Throws Error: kInvalidArgument (no document), kNotFound, kIo, and as Generator::prefill and
  // Snapshot::load.
  KnowledgeCache(Generator& generator, const KnowledgeOptions& options,
                 std::unique_ptr<KvCache> cache = nullptr);
  ~KnowledgeCache();
  KnowledgeCache(KnowledgeCache&&) noexcept;
  KnowledgeCache& operator=(KnowledgeCache&&) noexcept;

  // The answer ends at EOS, or as `settings` say, which may hold everything but what to generate
  // from, a cache, a snapshot and a scope. Throws Error as Generator::generate.
  Result ask(const std::string& question, const Request& settings = {},
             const StreamCallback& stream = {}) const;

  // What ask has the generator answer, without the snapshot: reading it from the start gives the
  // same answer.
  Request request(const std::string& question, const Request& settings = {}) const;

  std::int64_t length() const;  // tokens that are kept, before and after every question
  std::int64_t bytes() const;   // of their keys and values
  bool loaded() const;          // from the file
  const Snapshot& snapshot() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
