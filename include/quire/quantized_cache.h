// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quire {

// Names as in transformers' QuantizedCache.
struct QuantizedCacheOptions {
  int nbits = 4;  // 8, 4 or 2
  // Numbers that share a scale, and tokens a page: 32 or 64.
  std::int64_t q_group_size = 32;
  // Up to this many of the last tokens stay in full precision: a multiple of q_group_size.
  std::int64_t residual_length = 64;
  std::int64_t max_bytes = 0;  // budget, forks included; 0: only the machine's memory
};

// A KV cache of codes. Keys share a scale per channel over the tokens of a page, values per token
// over q_group_size channels (as KIVI, arXiv:2402.02750, found best); scales and zeros are f16, for
// 4 and 2 bits fitted by least squares, and attention reads codes as they are. The first page stays
// in the spec's dtype, for its tokens draw most attention, and so do the last pages, up to
// residual_length tokens.
//
// What a token sees is a matter of its position alone: page j > 0 as codes once residual_length
// tokens from j's start on are complete, else in full precision. A page is coded once and never
// again, and results do not depend, to the bit, on how a prompt is cut into passes.
//
// Truncation keeps that promise, so it is refused where a page would have to be in full precision
// that has been coded. It is possible in the first page, in the last one, and, if residual_length
// is q_group_size, at every multiple of that. can_truncate tells.
//
// The constructor throws Error kInvalidArgument, or kUnsupported on a device other than the CPU.
//
// Thread-safety: as KvCache; forks share pages and may be used on different threads.
class QUIRE_EXPORT QuantizedCache final : public KvCache {
 public:
  explicit QuantizedCache(const KvSpec& spec, const QuantizedCacheOptions& options = {});
  ~QuantizedCache() override;

  const QuantizedCacheOptions& options() const;

  std::string_view kind() const override { return "quantized"; }
  std::int64_t length() const override;
  void truncate(std::int64_t n) override;
  bool can_truncate(std::int64_t n) const override;
  void reset() override;
  std::unique_ptr<KvCache> clone() const override;
  std::unique_ptr<KvCache> fork() const override;
  std::unique_ptr<KvCache> checkpoint() const override;
  void restore(KvCache& checkpoint) override;
  std::int64_t bytes() const override;  // codes, scales and full-precision pages
  std::int64_t shared_bytes() const;    // the part of bytes() that forks hold too

  void prepare(std::int64_t n) override;
  void attend(const Attention& attention) override;
  void commit() override;
  void rollback() override;

 private:
  friend struct CacheAccess;
  struct Impl;
  explicit QuantizedCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
