// SPDX-License-Identifier: Apache-2.0
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/model.h>
#include <quire/prefix_cache.h>
#include <quire/session.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generate/session_note.h"
#include "generate/snapshot_start.h"
#include "prompt/common_prefix.h"

namespace quire {

struct Session::Impl {
  Generator* generator;
  std::vector<Message> start;
  std::string tools_json;
  std::unique_ptr<KvCache> cache;
  std::vector<Message> messages;
  TokenIds ids;  // what the cache holds

  bool own_cache = false;  // not the caller's, so another one may take its place

  Result answer(std::vector<Message> conversation, const Request& settings,
                const StreamCallback& stream);
  CommonPrefix reuse(std::span<const TokenId> prompt);
  std::optional<PrefixMatch> begin(std::span<const TokenId> prompt, const Request& settings);
  void finish(std::optional<PrefixMatch>& begun, const Request& settings, Result& result);
};

// Cuts the cache down to the common prefix. What remains of it is what `ids` says.
CommonPrefix Session::Impl::reuse(std::span<const TokenId> prompt) {
  CommonPrefix m = common_prefix(ids, prompt, std::ssize(prompt) - 1);
  if (m.tokens < cache->length()) {
    if (cache->can_truncate(m.tokens)) {
      cache->truncate(m.tokens);
    } else {
      cache->reset();
      m = {0, {.reason = MissReason::kEvicted, .at = 0}};
    }
    ids.resize(static_cast<std::size_t>(m.tokens));
  }
  return m;
}

// An empty cache is filled with what the generator's prefix cache has of the prompt. Where
// rotations depend on a text's length, pages cannot be shared by texts that go on growing.
std::optional<PrefixMatch> Session::Impl::begin(std::span<const TokenId> prompt,
                                                const Request& settings) {
  PrefixCache* prefixes = generator->prefix_cache();
  const Model& model = *generator->model();
  const RopeScaling scaling = model.config().rope.scaling;
  if (!own_cache || cache->length() > 0 || prefixes == nullptr || !settings.prefix_cache ||
      scaling == RopeScaling::kDynamic || scaling == RopeScaling::kLongRope) {
    return std::nullopt;
  }
  PrefixMatch match =
      prefixes->lookup({model.fingerprint(), model.kv_spec()}, prompt, settings.scope);
  cache = match.make_cache();
  ids.assign(prompt.begin(), prompt.begin() + match.reused_tokens());
  return match;
}

// Tells what was reused, and lets others have the text.
void Session::Impl::finish(std::optional<PrefixMatch>& begun, const Request& settings,
                           Result& result) {
  if (!begun) return;
  result.usage.cached_tokens = begun->reused_tokens();
  result.cache.reused = begun->reused();
  result.cache.why_not_more = begun->why_not_more();
  const bool complete = result.finish_reason != FinishReason::kCancelled &&
                        result.finish_reason != FinishReason::kDeadline;
  if (complete && !settings.one_shot) begun->store(ids, *cache);
}

Result Session::Impl::answer(std::vector<Message> conversation, const Request& settings,
                             const StreamCallback& stream) {
  if (settings.prompt || settings.ids || !settings.messages.empty() || settings.cache ||
      settings.snapshot) {
    throw Error(
        ErrorCode::kInvalidArgument, "settings",
        "expected no prompt, ids, messages, cache or snapshot, since the session has its own");
  }
  Request request = settings;
  request.messages = conversation;
  if (request.tools_json.empty()) request.tools_json = tools_json;
  const TokenIds prompt = generator->tokenize(request);
  std::optional<PrefixMatch> begun = begin(prompt, settings);
  const CommonPrefix reused = reuse(prompt);

  request.messages.clear();
  request.tools_json.clear();
  request.ids = TokenIds(prompt.begin() + reused.tokens, prompt.end());
  request.cache = cache.get();
  request.cache_ids = ids;
  Result result = generator->generate(request, stream);

  ids = prompt;
  ids.insert(ids.end(), result.ids.begin(), result.ids.end());
  ids.resize(static_cast<std::size_t>(cache->length()));
  result.usage.prompt_tokens = std::ssize(prompt);
  result.usage.uncached_tokens = std::ssize(prompt);
  result.usage.total_tokens = std::ssize(prompt) + result.usage.completion_tokens;
  result.usage.cached_tokens = reused.tokens;
  result.cache.reused.memory = reused.tokens;
  result.cache.why_not_more = reused.why;
  finish(begun, settings, result);
  if (result.finish_reason != FinishReason::kCancelled) {
    conversation.push_back({"assistant", result.text});
    messages = std::move(conversation);
  }
  return result;
}

Session::Session(Generator& generator, SessionOptions options) : impl_(std::make_unique<Impl>()) {
  if (options.cache && options.cache->length() != 0) {
    throw Error(ErrorCode::kInvalidArgument, "cache",
                "expected an empty cache, found one of " + std::to_string(options.cache->length()) +
                    " tokens");
  }
  const bool own = options.cache == nullptr;
  impl_->generator = &generator;
  impl_->start = std::move(options.messages);
  impl_->tools_json = std::move(options.tools_json);
  impl_->cache = options.cache ? std::move(options.cache)
                               : std::make_unique<DynamicCache>(generator.model()->kv_spec());
  impl_->own_cache = own;
  impl_->messages = impl_->start;
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result Session::say(std::string text, const Request& settings, const StreamCallback& stream) {
  std::vector<Message> conversation = impl_->messages;
  conversation.push_back({"user", std::move(text)});
  return impl_->answer(std::move(conversation), settings, stream);
}

Result Session::answer(std::vector<Message> conversation, const Request& settings,
                       const StreamCallback& stream) {
  return impl_->answer(std::move(conversation), settings, stream);
}

void Session::reset() {
  impl_->cache->reset();
  impl_->ids.clear();
  impl_->messages = impl_->start;
}

Session Session::fork() const {
  auto copy = std::make_unique<Impl>();
  copy->generator = impl_->generator;
  copy->start = impl_->start;
  copy->tools_json = impl_->tools_json;
  copy->cache = impl_->cache->fork();
  copy->own_cache = impl_->own_cache;
  copy->messages = impl_->messages;
  copy->ids = impl_->ids;
  return Session(std::move(copy));
}

void Session::save(const std::filesystem::path& path) const {
  if (impl_->ids.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "session", "expected a conversation, found none yet");
  }
  const Snapshot snapshot(SnapshotParts{.model = snapshot_model(*impl_->generator->model()),
                                        .ids = impl_->ids,
                                        .cache = impl_->cache->fork(),
                                        .note = note_of(impl_->messages)});
  snapshot.save(path);
}

void Session::load(const std::filesystem::path& path) {
  const Snapshot snapshot = Snapshot::load(path, *impl_->generator->model());
  std::vector<Message> messages = messages_of_note(snapshot.note(), path.native());
  std::unique_ptr<KvCache> cache = snapshot.fork(std::ssize(snapshot.ids()));
  impl_->ids.assign(snapshot.ids().begin(), snapshot.ids().end());
  impl_->cache = std::move(cache);
  impl_->messages = std::move(messages);
}

const std::vector<Message>& Session::messages() const { return impl_->messages; }
std::span<const TokenId> Session::ids() const { return impl_->ids; }
const KvCache& Session::cache() const { return *impl_->cache; }

}  // namespace quire
