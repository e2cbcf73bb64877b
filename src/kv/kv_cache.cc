// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <quire/error.h>
#include <quire/kv_cache.h>

#include <algorithm>
#include <string>

#include "kv/page_attention.h"

namespace quire {

KvCache::~KvCache() = default;

std::int64_t KvCache::capacity() const { return kUnlimited; }

bool KvCache::can_truncate(std::int64_t n) const { return 0 <= n && n <= length(); }

void KvCache::drop_last(std::int64_t n) {
  if (n < 0 || n > length()) {
    throw Error(
        ErrorCode::kInvalidArgument, "KvCache::drop_last",
        "expected 0 to " + std::to_string(length()) + " tokens, found " + std::to_string(n));
  }
  truncate(length() - n);
}

void KvCache::reset() { truncate(0); }

std::unique_ptr<KvCache> KvCache::fork() const { return clone(); }

std::int64_t KvCache::bytes() const { return 0; }

void KvCache::prepare(std::int64_t n) {
  if (n < 0) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::prepare",
                "expected no fewer than 0 tokens, found " + std::to_string(n));
  }
  if (n > capacity() - length()) {
    throw Error(ErrorCode::kContextOverflow, "KV cache",
                "expected room for " + std::to_string(n) + " tokens, found " +
                    std::to_string(length()) + " of " + std::to_string(capacity()) + " in use");
  }
  prepared_from_ = length();
}

void KvCache::attend(const Attention& attention) {
  const c10::InferenceMode guard;
  const auto [keys, values] = update(attention.layer, attention.k, attention.v);
  const std::int64_t tokens = attention.q.size(0);
  if (keys.dim() != 3 || keys.sizes() != values.sizes() || keys.size(0) < tokens ||
      keys.size(1) != attention.k.size(1) || keys.size(2) != attention.k.size(2)) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::update",
                "expected keys and values [S, Hkv, D] that end with the new tokens");
  }
  check_attention(attention, {keys.size(1), keys.size(2), 0}, tokens);
  attend_over_tensors(attention, keys, values, window(attention.layer));
}

void KvCache::commit() {}

void KvCache::rollback() {
  if (length() > prepared_from_) truncate(prepared_from_);
}

std::pair<at::Tensor, at::Tensor> KvCache::update(std::int64_t, const at::Tensor&,
                                                  const at::Tensor&) {
  throw Error(ErrorCode::kUnsupported, "KvCache::update",
              "expected a class that overrides attend or update, found neither");
}

std::int64_t KvCache::window(std::int64_t) const { return 0; }

}  // namespace quire
