// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/prompt_cache.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "generate/admission.h"
#include "generate/answer.h"
#include "generate/answer_reuse.h"
#include "generate/cache_marks.h"
#include "generate/chat_prompt.h"
#include "generate/marked_start.h"
#include "generate/prefix_turns.h"
#include "generate/request_checks.h"
#include "generate/run.h"
#include "generate/scheduler.h"
#include "generate/snapshot_prefill.h"
#include "generate/snapshot_start.h"
#include "io/worker_thread.h"
#include "kernels/thread_pool.h"

namespace quire {
namespace {

[[noreturn]] void refuse(std::string_view field, std::string_view problem) {
  throw Error(ErrorCode::kInvalidArgument, field, problem);
}

void check_positive(std::string_view field, std::int64_t value) {
  if (value < 1) refuse(field, "expected at least 1, found " + std::to_string(value));
}

}  // namespace

struct Generator::Impl {
  Impl(std::shared_ptr<const Model> m, const GeneratorOptions& o)
      : model(std::move(m)),
        options(o),
        threads(o.threads),
        chat(model->tokenizer(), model->chat_template()),
        prefixes(o.prefix_cache),
        prompts(o.prompt_cache),
        admission(o.max_batch, o.max_queue),
        scheduler(*model, threads, {.chunk = o.prefill_chunk, .shared_chunk = o.shared_chunk}) {
    if (prefixes == nullptr && o.prefix_cache_bytes > 0) {
      own_prefixes.emplace(PrefixCacheOptions{.bytes = o.prefix_cache_bytes});
      prefixes = &*own_prefixes;
    }
    if (prompts == nullptr && o.prompt_cache_bytes > 0) {
      own_prompts.emplace(PromptCacheOptions{.bytes = o.prompt_cache_bytes});
      prompts = &*own_prompts;
    }
    if (prefixes != nullptr) turns.emplace(prefixes->options().block_size);
  }

  const Tokenizer& tokenizer(std::string_view field) const {
    if (!model->tokenizer()) refuse(field, "expected ids, since the model has no tokenizer");
    return *model->tokenizer();
  }

  TokenIds tokenize(const Request& request, bool open_answer = true) const;
  TokenIds tokenize_prompt(const std::string& prompt, bool at_start) const;
  TokenIds tokenize_messages(const Request& request, bool open_answer) const;
  TokenIds tokenize_after(const Snapshot& snapshot, const Request& request) const;
  TokenIds draft_of(const Request& request) const;
  AnswerOptions answer_options(const Request& request) const;
  void check_room(const Request& request, std::int64_t prompt) const;

  const ProcessMark mark;
  std::shared_ptr<const Model> model;
  GeneratorOptions options;
  ThreadPool threads;
  ChatPrompt chat;
  std::optional<PrefixCache> own_prefixes;
  PrefixCache* prefixes;  // null: none
  std::optional<PromptCache> own_prompts;
  PromptCache* prompts;  // null: none
  std::optional<PrefixTurns> turns;
  Admission admission;
  Scheduler scheduler;

  Result generate(const Request& request, const StreamCallback& stream,
                  Run::Clock::time_point called);

  PrefixModel prefix_model() const { return {model->fingerprint(), model->kv_spec()}; }
  std::int64_t reusable_tokens() const;
  Snapshot shared_snapshot(const Request& request, const TokenIds& prompt,
                           std::int64_t beyond) const;
  Result run_from_snapshot(const Snapshot& snapshot, const Request& request,
                           const AnswerOptions& answer, const TokenIds& prompt,
                           const StreamCallback& stream, Run::Clock::time_point called);
  Result run_with_marks(const Request& request, const AnswerOptions& answer, const TokenIds& prompt,
                        std::span<const TokenMark> marks, const StreamCallback& stream,
                        Run::Clock::time_point called);
  void store(PrefixMatch& match, const Request& request, const TokenIds& prompt,
             const Result& result, const KvCache& cache, std::vector<float> last) const;
  Result run_with_prefixes(const Request& request, const AnswerOptions& answer,
                           const TokenIds& prompt, const StreamCallback& stream,
                           Run::Clock::time_point called);
};

// Rotations that depend on a text's whole length make pages of its longer forms different ones.
std::int64_t Generator::Impl::reusable_tokens() const {
  const RopeConfig& rope = model->config().rope;
  const bool by_length =
      rope.scaling == RopeScaling::kDynamic || rope.scaling == RopeScaling::kLongRope;
  return by_length ? rope.original_context : model->config().context;
}

Result Generator::Impl::run_with_prefixes(const Request& request, const AnswerOptions& answer,
                                          const TokenIds& prompt, const StreamCallback& stream,
                                          Run::Clock::time_point called) {
  PrefixTurns::Turn turn(*turns, prompt, request.scope, !request.one_shot, request.deadline);
  PrefixMatch match = prefixes->lookup_whole(prefix_model(), prompt, request.scope);
  if (const Snapshot known = shared_snapshot(request, prompt, match.reused_tokens())) {
    turn.end();  // no page comes of it
    return run_from_snapshot(known, request, answer, prompt, stream, called);
  }
  turn.reuses(match.reused_tokens());
  const std::unique_ptr<KvCache> cache = match.make_cache();
  Run run(*model, request, answer, prompt, match.reused_tokens(), *cache, stream);
  const bool whole = match.reused_tokens() == std::ssize(prompt);
  std::vector<float> last;
  run.when_read([&](std::span<const float> logits) {
    if (turn.awaited()) match.store(prompt, *cache, false);
    turn.end();
    if (!whole && prefixes->options().logits_bytes > 0) last.assign(logits.begin(), logits.end());
  });
  if (whole) run.start(match.logits());
  scheduler.drive(run, static_cast<bool>(stream));
  Result result = run.finish(called);
  result.usage.cached_tokens = match.reused_tokens();
  result.cache.reused = match.reused();
  result.cache.why_not_more = match.why_not_more();
  store(match, request, prompt, result, *cache, std::move(last));
  return result;
}

void Generator::Impl::store(PrefixMatch& match, const Request& request, const TokenIds& prompt,
                            const Result& result, const KvCache& cache,
                            std::vector<float> last) const {
  const bool complete = result.finish_reason != FinishReason::kCancelled &&
                        result.finish_reason != FinishReason::kDeadline;
  if (!complete || request.one_shot) return;
  TokenIds text = prompt;
  text.insert(text.end(), result.ids.begin(), result.ids.end());
  text.resize(static_cast<std::size_t>(std::min(cache.length(), reusable_tokens())));
  match.store(text, cache);
  if (!last.empty()) match.store_logits(prompt, std::move(last));
}

Result Generator::Impl::run_from_snapshot(const Snapshot& snapshot, const Request& request,
                                          const AnswerOptions& answer, const TokenIds& prompt,
                                          const StreamCallback& stream,
                                          Run::Clock::time_point called) {
  const SnapshotStart start = start_from(snapshot, prompt, reusable_tokens());
  Run run(*model, request, answer, prompt, start.reused, *start.cache, stream);
  if (start.reused == std::ssize(prompt)) run.start(start.logits);
  scheduler.drive(run, static_cast<bool>(stream));
  Result result = run.finish(called);
  result.usage.cached_tokens = start.reused;
  result.cache.reused.snapshot = start.reused;
  result.cache.why_not_more = start.why;
  return result;
}

Result Generator::Impl::run_with_marks(const Request& request, const AnswerOptions& answer,
                                       const TokenIds& prompt, std::span<const TokenMark> marks,
                                       const StreamCallback& stream,
                                       Run::Clock::time_point called) {
  const Run::Clock::time_point started = Run::Clock::now();
  std::optional<PrefixMatch> match;
  if (request.prefix_cache && prefixes != nullptr) {
    match = prefixes->lookup(prefix_model(), prompt, request.scope);
  }
  const MarkedStart start = start_at_marks({*model, threads, *prompts, match ? &*match : nullptr,
                                            request, prompt, marks, options.prefill_chunk});
  const Run::Clock::duration spent = Run::Clock::now() - started;
  Run run(*model, request, answer, prompt, start.length, *start.cache, stream);
  if (start.length == std::ssize(prompt)) run.start(start.logits);
  scheduler.drive(run, static_cast<bool>(stream));
  Result result = run.finish(called);
  report(start, match ? &*match : nullptr, spent, result);
  if (start.by_prefix) store(*match, request, prompt, result, *start.cache, {});
  return result;
}

// One of the prompt cache that was given, if it serves more than `beyond` tokens and has room for
// the answer.
Snapshot Generator::Impl::shared_snapshot(const Request& request, const TokenIds& prompt,
                                          std::int64_t beyond) const {
  if (options.prompt_cache == nullptr || request.cache) return {};
  PromptMatch match = options.prompt_cache->lookup(snapshot_model(*model), prompt, request.scope);
  const bool fits =
      match.snapshot && request.max_new_tokens <= match.snapshot.capacity() - std::ssize(prompt);
  return fits && match.tokens > beyond ? std::move(match.snapshot) : Snapshot();
}

TokenIds Generator::Impl::tokenize_prompt(const std::string& prompt, bool at_start) const {
  const Tokenizer& t = tokenizer("prompt");
  TokenIds ids = t.encode(prompt, {.add_special = at_start});
  // The prompt may spell BOS itself.
  if (at_start && t.adds_bos() && ids.size() > 1 && ids[0] == t.bos() && ids[1] == t.bos()) {
    ids.erase(ids.begin());
  }
  return ids;
}

TokenIds Generator::Impl::tokenize_messages(const Request& request, bool open_answer) const {
  tokenizer("messages");
  if (!model->chat_template()) {
    refuse("messages", "expected a prompt or ids, since the model has no chat template");
  }
  RenderOptions render;
  render.tools_json = request.tools_json;
  render.add_generation_prompt = open_answer;
  return chat.ids(prepare(chat, request.messages).messages, render);
}

// A prompt continues the text, so that the two are tokenised as one; where there is no text it is
// appended, as ids are.
TokenIds Generator::Impl::tokenize_after(const Snapshot& snapshot, const Request& request) const {
  if (request.prompt && snapshot.text()) {
    return tokenize_prompt(*snapshot.text() + *request.prompt, true);
  }
  TokenIds ids(snapshot.ids().begin(), snapshot.ids().end());
  const TokenIds more = request.ids ? *request.ids : tokenize_prompt(*request.prompt, false);
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

TokenIds Generator::Impl::tokenize(const Request& request, bool open_answer) const {
  const bool at_start = !request.cache || request.cache->length() == 0;
  if (request.snapshot) check_owner(request.snapshot, snapshot_model(*model), request.scope);
  TokenIds ids = !request.messages.empty() ? tokenize_messages(request, open_answer)
                 : request.snapshot        ? tokenize_after(request.snapshot, request)
                 : request.ids             ? *request.ids
                                           : tokenize_prompt(*request.prompt, at_start);
  if (ids.empty() && at_start) {
    const auto& t = model->tokenizer();
    const TokenId bos = t ? t->bos().value_or(-1) : model->config().bos;
    if (bos >= 0) ids.push_back(bos);
  }
  if (ids.empty()) {
    throw Error(ErrorCode::kEmptyPrompt, "prompt", "expected at least one token, found none");
  }
  check_ids(ids, model->config().vocab_size, "ids");
  return ids;
}

TokenIds Generator::Impl::draft_of(const Request& request) const {
  if (!request.draft.empty() && !request.draft_ids.empty()) {
    refuse("draft", "expected one of draft and draft_ids, found both");
  }
  check_ids(request.draft_ids, model->config().vocab_size, "draft_ids");
  if (request.draft.empty()) return request.draft_ids;
  return tokenizer("draft").encode(request.draft);
}

AnswerOptions Generator::Impl::answer_options(const Request& request) const {
  const GenerationDefaults& defaults = model->generation_defaults();
  AnswerOptions answer;
  answer.sampling = request.sampling.value_or(defaults.sampling);
  if (!request.ignore_eos) answer.eos = request.eos.value_or(defaults.eos);
  answer.stop = request.stop;
  answer.max_new_tokens = request.max_new_tokens;
  answer.logprobs = request.logprobs;
  answer.draft = draft_of(request);
  answer.prompt_lookup = request.prompt_lookup;
  answer.draft_limit = reusable_tokens();
  if (!answer.stop.empty()) tokenizer("stop");
  return answer;
}

void Generator::Impl::check_room(const Request& request, std::int64_t prompt) const {
  check_fit({.context = model->config().context,
             .capacity = request.cache      ? request.cache->capacity()
                         : request.snapshot ? request.snapshot.capacity()
                                            : KvCache::kUnlimited,
             .held = request.cache ? request.cache->length() : 0,
             .prompt = prompt,
             .more = request.max_new_tokens});
}

Generator::Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options) {
  if (!model) refuse("model", "expected a model, found null");
  check_positive("prefill_chunk", options.prefill_chunk);
  check_positive("shared_chunk", options.shared_chunk);
  check_positive("max_batch", options.max_batch);
  if (options.max_queue < 0) {
    refuse("max_queue", "expected at least 0, found " + std::to_string(options.max_queue));
  }
  impl_ = std::make_unique<Impl>(std::move(model), options);
}

Generator::~Generator() = default;

Result Generator::generate(const Request& request, const StreamCallback& stream) {
  return impl_->generate(request, stream, Run::Clock::now());
}

Result Generator::Impl::generate(const Request& request, const StreamCallback& stream,
                                 Run::Clock::time_point called) {
  check_call(mark, request, static_cast<bool>(stream));
  const AnswerOptions answer = answer_options(request);
  const TokenIds prompt = tokenize(request);
  check_ids(request.cache_ids, model->config().vocab_size, "cache_ids");
  check_room(request, std::ssize(prompt));
  const AnswerCaches caches{options.answer_cache, options.semantic_cache};
  if (caches.any() && may_reuse_answer(request, answer)) {
    return reuse_answer(caches, *model, request, answer, prompt, stream,
                        [&](const Request& own) { return generate(own, stream, called); });
  }

  // Where a text's pages are not those of longer ones, marks keep nothing.
  std::vector<TokenMark> marks;
  if (prompts != nullptr && std::ssize(prompt) <= reusable_tokens()) {
    marks = token_marks(chat, request, prompt);
  }
  const Admission::Seat seat(admission, request.n, request.deadline);
  if (request.snapshot) {
    return run_from_snapshot(request.snapshot, request, answer, prompt, stream, called);
  }
  if (!marks.empty()) {
    return run_with_marks(request, answer, prompt, marks, stream, called);
  }
  if (!request.cache && request.prefix_cache && prefixes != nullptr &&
      std::ssize(prompt) <= reusable_tokens()) {
    return run_with_prefixes(request, answer, prompt, stream, called);
  }
  if (const Snapshot known = shared_snapshot(request, prompt, 0)) {
    return run_from_snapshot(known, request, answer, prompt, stream, called);
  }
  std::optional<DynamicCache> own;
  if (!request.cache) own.emplace(model->kv_spec());
  KvCache& cache = own ? *own : *request.cache;
  Run run(*model, request, answer, prompt, 0, cache, stream);
  scheduler.drive(run, static_cast<bool>(stream));
  return run.finish(called);
}

Snapshot Generator::prefill(const Request& request, std::unique_ptr<KvCache> cache) {
  return prefill_from(request.snapshot, request, std::move(cache));
}

Snapshot Generator::prefill_from(const Snapshot& from, const Request& request,
                                 std::unique_ptr<KvCache> cache) {
  check_call(impl_->mark, request, false);
  if (request.cache) refuse("cache", "expected one to keep, as the second argument");
  if (cache && cache->length() > 0) {
    refuse("cache", "expected an empty one, found " + std::to_string(cache->length()) + " tokens");
  }
  if (cache && from) refuse("snapshot", "expected none beside a cache");
  const TokenIds prompt = impl_->tokenize(request, false);
  check_fit({.context = impl_->model->config().context,
             .capacity = cache  ? cache->capacity()
                         : from ? from.capacity()
                                : KvCache::kUnlimited,
             .prompt = std::ssize(prompt)});
  return prefill_to_snapshot(
      {*impl_->model, impl_->threads, impl_->options.prefill_chunk, impl_->reusable_tokens()}, from,
      request, prompt, std::move(cache));
}

std::vector<float> Generator::next_logits(const Request& request) {
  check_call(impl_->mark, request, false);
  if (request.cache) refuse("cache", "expected none");
  const TokenIds prompt = impl_->tokenize(request);
  impl_->check_room(request, std::ssize(prompt));
  DynamicCache cache(impl_->model->kv_spec());
  const at::Tensor logits = quire::prefill(*impl_->model, impl_->threads, prompt, cache,
                                           impl_->options.prefill_chunk, nullptr)
                                .cpu();
  const float* begin = logits.const_data_ptr<float>();
  return {begin, begin + logits.numel()};
}

TokenIds Generator::tokenize(const Request& request, bool open_answer) const {
  check_request(request, false);
  return impl_->tokenize(request, open_answer);
}

PrefixCache* Generator::prefix_cache() const { return impl_->prefixes; }
PromptCache* Generator::prompt_cache() const { return impl_->prompts; }

const std::shared_ptr<const Model>& Generator::model() const { return impl_->model; }

}  // namespace quire
