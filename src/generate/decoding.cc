// SPDX-License-Identifier: Apache-2.0
#include "generate/decoding.h"

#include <quire/error.h>

#include <algorithm>
#include <utility>

namespace quire {

Decoding::Decoding(Answer answer, Draft draft, std::int64_t draft_limit)
    : answer_(std::move(answer)), draft_(std::move(draft)), draft_limit_(draft_limit) {}

void Decoding::begin(KvCache& cache, std::span<float> logits) {
  cache_ = &cache;
  choose(logits);
  pending_ = {answer_.last()};
}

Sequence Decoding::next(bool drafts) {
  checkpoint_.reset();
  fed_ = pending_;
  if (answer_.done()) {
    fed_.pop_back();
    rows_ = 0;
    return {fed_, *cache_, rows_};
  }
  TokenIds proposed;
  if (drafts) {
    const std::int64_t length = cache_->length() + std::ssize(pending_);
    proposed = draft_.propose(std::min(answer_.left() - 1, draft_limit_ - length));
  }
  if (!proposed.empty()) checkpoint_ = cache_->checkpoint();
  fed_.insert(fed_.end(), proposed.begin(), proposed.end());
  rows_ = 1 + std::ssize(proposed);
  return {fed_, *cache_, rows_};
}

void Decoding::take(float* logits, std::int64_t vocab) {
  const std::int64_t proposed = std::max<std::int64_t>(rows_ - 1, 0);
  std::int64_t accepted = 0;  // and in the cache to stay
  std::int64_t right = 0;     // an answer's last token may be right, but does not stay
  for (std::int64_t row = 0; row < rows_; ++row) {
    choose({logits + row * vocab, static_cast<std::size_t>(vocab)});
    if (row == proposed || fed_[pending_.size() + static_cast<std::size_t>(row)] != answer_.last())
      break;
    ++right;
    if (answer_.done()) break;
    ++accepted;
  }
  draft_.judge(proposed, right);
  drafted_ += proposed;
  accepted_ += right;
  keep(accepted);
}

// Undoes what was fed beyond `accepted` proposed tokens.
void Decoding::keep(std::int64_t accepted) {
  const std::int64_t known = std::ssize(fed_) - std::max<std::int64_t>(rows_ - 1, 0) + accepted;
  const std::int64_t wrong = std::ssize(fed_) - known;
  pending_.clear();
  if (wrong > 0) {
    if (cache_->can_truncate(cache_->length() - wrong)) {
      cache_->drop_last(wrong);
    } else if (checkpoint_) {
      // What stays of the pass is fed again with the next one.
      cache_->restore(*checkpoint_);
      pending_.assign(fed_.begin(), fed_.begin() + known);
    } else {
      throw Error(ErrorCode::kUnsupported, "draft",
                  "expected a cache that can be truncated or has checkpoints, found " +
                      std::string(cache_->kind()));
    }
  }
  checkpoint_.reset();
  pending_.push_back(answer_.last());
}

void Decoding::choose(std::span<float> logits) {
  answer_.take(logits);
  draft_.take(answer_.last());
}

}  // namespace quire
