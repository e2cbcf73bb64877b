// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>
#include <quire/kv_cache.h>
#include <quire/prefix_scope.h>
#include <quire/sampling.h>
#include <quire/snapshot.h>
#include <quire/token.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// That an answer to the same question, or to one that means the same, will do. See AnswerCache and
// SemanticCache.
struct AnswerReuse {
  // Also answers that were drawn (temperature > 0), for an equal seed.
  bool sampled = false;
  std::string vary = {};               // whatever else the answer depends on
  std::vector<std::string> tags = {};  // for SemanticCache::invalidate
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
};

// What to generate from: exactly one of prompt, ids and messages.
struct Request {
  std::optional<std::string> prompt = std::nullopt;  // special tokens as the tokenizer adds them
  std::optional<TokenIds> ids = std::nullopt;        // taken as they are
  std::vector<Message> messages = {};                // rendered by the model's chat template
  std::string tools_json = {};                       // JSON array, for messages

  std::int64_t max_new_tokens = 256;
  // None of these two: what the files recommend (Model::generation_defaults).
  std::optional<Sampling> sampling = std::nullopt;
  std::optional<std::vector<TokenId>> eos = std::nullopt;
  std::vector<std::string> stop = {};  // the answer ends before one, across token borders
  bool ignore_eos = false;             // go on past EOS, which is neither suppressed nor special
  int logprobs = 0;                    // report the k most likely tokens of each step
  int n = 1;                           // answers from one prefill

  // The caller's own cache: the request's tokens are appended after cache->length(). Not owned.
  // With n > 1 the first answer stays in it.
  KvCache* cache = nullptr;
  TokenIds cache_ids = {};  // what it holds, if you know: the repetition penalty counts them too

  // Continue a prompt that has been computed, on a fork of it. `prompt` continues its text: the
  // answer is that of the joined text. `ids`, and a prompt where it has no text, are appended.
  // `messages` are read whole. The longest common prefix of the tokens is reused.
  Snapshot snapshot = {};

  // A guess at the answer, as text or as ids: an earlier answer to nearly the same, an old version
  // of the text asked for. The model reads it some tokens a pass and keeps what it would have said
  // itself, so the answer is the one without a draft, only sooner; so are sampled answers, since
  // each token is drawn as ever, from equal random numbers. Each of n answers follows the draft.
  std::string draft = {};
  TokenIds draft_ids = {};
  bool prompt_lookup = false;  // guess also what followed the same few tokens earlier in the text

  // The generator's prefix cache, which serves requests without a cache of their own.
  bool prefix_cache = true;  // false: neither looked up nor stored
  bool one_shot = false;     // looked up, but not stored: this text will not come again
  PrefixScope scope = {};    // only texts of an equal scope are reused

  // Look for an answer in the generator's answer and semantic caches, and leave the own one there.
  // Requests with a cache, a snapshot, logprobs or n > 1 are computed all the same.
  std::optional<AnswerReuse> reuse = std::nullopt;

  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;

  // Cancels the request from any thread: it is looked at between any two passes, also while the
  // prompt is read, and a request that waits for its place ends when it has got it.
  std::stop_token cancel = {};
};

enum class Stream { kContinue, kStop, kCancel };

// Receives each chunk of text as it becomes certain: whole UTF-8, never part of a stop string;
// together they are Result::text. kStop ends the answer here; kCancel abandons it. An exception
// thrown here ends the request and reaches the caller of generate.
//
// It runs on the thread that called generate, and no lock is held: it may take its time, which
// delays this answer alone, and use the generator, though this request keeps its place in the
// batch.
using StreamCallback = std::function<Stream(std::string_view chunk)>;

}  // namespace quire
