// SPDX-License-Identifier: Apache-2.0
#include "generate/marked_start.h"

#include <ATen/core/Tensor.h>
#include <quire/dynamic_cache.h>

#include <algorithm>
#include <utility>

#include "generate/run.h"
#include "generate/snapshot_start.h"
#include "prompt/common_prefix.h"
#include "prompt/marked_prefixes.h"

namespace quire {
namespace {

constexpr const char* kField = "cache_control";

class Starter {
 public:
  explicit Starter(const MarkedRequest& asked)
      : asked_(asked), owner_(snapshot_model(asked.model)) {
    const std::int64_t least = asked.prompts.options().min_cacheable;
    for (const TokenMark& mark : asked.marks) {
      if (mark.tokens >= least) marks_.push_back(mark);
    }
  }

  MarkedStart start() {
    const std::int64_t last = marks_.empty() ? 0 : marks_.back().tokens;
    if (last > 0) {
      known_ = MarkedPrefixes::longest(asked_.prompts, owner_, asked_.request.scope, first(last));
    }
    start_.read = known_ ? std::ssize(known_.ids()) : 0;
    std::erase_if(marks_, [&](const TokenMark& mark) { return mark.tokens <= start_.read; });
    const MissReason gone = why_gone();
    if (!begin_with_prefix()) begin_with_known();
    explain(last, gone);
    for (const TokenMark& mark : marks_) {
      if (!read_up_to(mark.tokens)) return std::move(start_);
      keep(start_.cache->fork(), mark, start_.logits);
    }
    if (start_.length < std::ssize(asked_.prompt)) start_.logits.clear();
    return std::move(start_);
  }

 private:
  std::span<const TokenId> first(std::int64_t tokens) const {
    return asked_.prompt.first(static_cast<std::size_t>(tokens));
  }

  // Why the longest new mark was not known.
  MissReason why_gone() const {
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
      const MissReason reason = MarkedPrefixes::why_gone(asked_.prompts, owner_,
                                                         asked_.request.scope, first(mark->tokens));
      if (reason != MissReason::kCold) return reason;
    }
    return MissReason::kCold;
  }

  // False if it knows less than the marks do, or if new marks lie where its cache cannot go back
  // to.
  bool begin_with_prefix() {
    if (asked_.prefix == nullptr || asked_.prefix->reused_tokens() < start_.read) return false;
    std::unique_ptr<KvCache> cache = asked_.prefix->make_cache();
    const std::int64_t reused = asked_.prefix->reused_tokens();
    const auto inside = [&](const TokenMark& mark) { return mark.tokens < reused; };
    if (!std::ranges::all_of(marks_, [&](const TokenMark& mark) {
          return !inside(mark) || cache->can_truncate(mark.tokens);
        })) {
      return false;
    }
    for (const TokenMark& mark : marks_) {
      if (!inside(mark)) continue;
      std::unique_ptr<KvCache> part = cache->fork();
      part->truncate(mark.tokens);
      keep(std::move(part), mark, {});
    }
    std::erase_if(marks_, inside);
    begin(std::move(cache), reused, asked_.prefix->why_not_more());
    start_.by_prefix = true;
    return true;
  }

  void begin_with_known() {
    if (!known_) {
      auto cache = std::make_unique<DynamicCache>(asked_.model.kv_spec());
      return begin(std::move(cache), 0, {.reason = MissReason::kCold, .at = 0});
    }
    const bool whole = start_.read == std::ssize(asked_.prompt) && !known_.logits().empty();
    const std::int64_t most = std::ssize(asked_.prompt) - (whole ? 0 : 1);
    const CommonPrefix common = common_prefix(known_.ids(), asked_.prompt, most);
    std::unique_ptr<KvCache> cache = known_.fork(common.tokens);
    if (!cache) {
      return begin(known_.fork(0), 0, {.reason = MissReason::kEvicted, .at = 0});
    }
    begin(std::move(cache), common.tokens, common.why);
    if (whole) start_.logits.assign(known_.logits().begin(), known_.logits().end());
  }

  void begin(std::unique_ptr<KvCache> cache, std::int64_t reused, WhyNotMore why) {
    start_.cache = std::move(cache);
    start_.length = start_.reused = reused;
    start_.why = std::move(why);
  }

  // What the marks have to say goes before what the pages have, unless there is nothing to explain.
  void explain(std::int64_t last, MissReason gone) {
    if (start_.why.reason == MissReason::kNone) return;
    const bool short_marks = last == 0 && !asked_.marks.empty();
    const MissReason reason = short_marks ? MissReason::kBelowMinimum : gone;
    if (reason == MissReason::kCold) return;
    start_.why = {.reason = reason, .at = start_.reused, .field = kField};
  }

  // False if the request was over first.
  bool read_up_to(std::int64_t tokens) {
    if (tokens == start_.length) return true;
    const at::Tensor logits =
        prefill(asked_.model, asked_.threads,
                first(tokens).subspan(static_cast<std::size_t>(start_.length)), *start_.cache,
                asked_.chunk, &asked_.request);
    start_.length = start_.cache->length();
    if (!logits.defined()) return false;
    const at::Tensor host = logits.cpu();
    const float* begin = host.const_data_ptr<float>();
    start_.logits.assign(begin, begin + host.numel());
    return true;
  }

  void keep(std::unique_ptr<KvCache> cache, const TokenMark& mark, std::vector<float> logits) {
    const std::span<const TokenId> ids = first(mark.tokens);
    MarkedPrefixes::put(asked_.prompts,
                        Snapshot(SnapshotParts{.model = owner_,
                                               .scope = asked_.request.scope,
                                               .ids = TokenIds(ids.begin(), ids.end()),
                                               .logits = std::move(logits),
                                               .cache = std::move(cache)}),
                        mark.ttl);
    start_.created = mark.tokens - start_.read;
  }

  const MarkedRequest& asked_;
  const PrefixModel owner_;
  std::vector<TokenMark> marks_;  // long enough, and new
  Snapshot known_;
  MarkedStart start_;
};

}  // namespace

MarkedStart start_at_marks(const MarkedRequest& asked) { return Starter(asked).start(); }

void report(const MarkedStart& start, const PrefixMatch* prefix,
            std::chrono::steady_clock::duration spent, Result& result) {
  Usage& usage = result.usage;
  usage.cached_tokens = start.reused;
  usage.cache_read_tokens = start.read;
  usage.cache_creation_tokens = start.created;
  usage.uncached_tokens -= start.read + start.created;
  result.cache.reused = start.by_prefix ? prefix->reused() : Reused{.snapshot = start.reused};
  result.cache.why_not_more = start.why;
  const double ms = std::chrono::duration<double, std::milli>(spent).count();
  Timings& timings = result.timings;
  timings.queue_ms -= ms;
  timings.prefill_ms += ms;
  const auto fresh = static_cast<double>(usage.prompt_tokens - start.reused);
  timings.prefill_tokens_per_s = timings.prefill_ms > 0 ? fresh * 1000 / timings.prefill_ms : 0;
}

}  // namespace quire
