// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/generator.h>
#include <quire/kv_cache.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quire {

struct SessionOptions {
  std::vector<Message> messages = {};        // how every conversation starts: a system message, …
  std::string tools_json = {};               // JSON array of tools
  std::unique_ptr<KvCache> cache = nullptr;  // none: a DynamicCache; must be empty
};

// A conversation that grows. It keeps the messages, the token ids and the KV cache; each turn
// renders the whole conversation anew, reuses the longest common prefix of its ids with those the
// cache holds, truncates the rest and feeds only what is new. So the answer is that of the whole
// conversation given at once, whatever the template does to earlier messages.
//
// Where a cache cannot be truncated (a window has moved on), it is filled again from the start.
// A session without a cache of the caller's begins with what the generator's prefix cache knows of
// its first turn, and leaves that turn there for others.
//
// Thread-safety: one session, one thread at a time; sessions of one generator are independent.
// The generator must outlive its sessions.
class QUIRE_EXPORT Session {
 public:
  explicit Session(Generator& generator, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Adds a user's message, and the assistant's answer unless it was cancelled. `settings` may hold
  // everything but what to generate from and the cache. Usage counts the whole conversation as
  // prompt; what the cache held of it is cached_tokens.
  // Throws Error as Generator::generate; the messages are then as before.
  Result say(std::string text, const Request& settings = {}, const StreamCallback& stream = {});

  // The same for a whole conversation, which replaces the one so far.
  Result answer(std::vector<Message> conversation, const Request& settings = {},
                const StreamCallback& stream = {});

  // Back to the start; the cache is emptied.
  void reset();

  // An independent session with the same messages and, shared until written, the same cache.
  Session fork() const;

  // Keeps the conversation and its cache in a file, as Snapshot::save does. / Goes on from there;
  // the cache is then of the class it was saved with, and reset() still leads to this session's
  // own start. Throws Error as Snapshot::save and load, and kInvalidArgument for a session without
  // tokens and for a snapshot that is no conversation; the session is then as before.
  void save(const std::filesystem::path& path) const;
  void load(const std::filesystem::path& path);

  const std::vector<Message>& messages() const;

  // The tokens that the cache holds.
  std::span<const TokenId> ids() const;
  const KvCache& cache() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
