// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace quire {

EvictionPolicy::~EvictionPolicy() = default;

void EvictionPolicy::evicted(const BlockUse&, double) {}

namespace {

// The index breaks ties by recency, so a constant rank is LRU.
class Lru final : public EvictionPolicy {
 public:
  std::string_view name() const override { return "lru"; }
  double rank(const BlockUse&) override { return 0; }
};

class Fifo final : public EvictionPolicy {
 public:
  std::string_view name() const override { return "fifo"; }
  double rank(const BlockUse& use) override { return static_cast<double>(use.inserted); }
};

class SegmentedLru final : public EvictionPolicy {
 public:
  std::string_view name() const override { return "slru"; }
  double rank(const BlockUse& use) override { return use.uses >= 2 ? 1 : 0; }
};

// Frequency over an aging clock: the clock is the rank of the last victim, so that blocks which
// were popular long ago do not stay for ever (LFU with dynamic aging, as in GDSF).
class AgedLfu final : public EvictionPolicy {
 public:
  std::string_view name() const override { return "lfu"; }
  double rank(const BlockUse& use) override { return clock_ + use.uses; }
  void evicted(const BlockUse&, double rank) override { clock_ = std::max(clock_, rank); }

 private:
  double clock_ = 0;
};

// GDSF with a block's cost: one share for the linear layers, one that grows with the tokens before
// it for attention. The constant is where both are equal for a small decoder.
class CostAware final : public EvictionPolicy {
 public:
  std::string_view name() const override { return "cost"; }
  double rank(const BlockUse& use) override {
    constexpr double kEqualDepth = 128;
    return clock_ + use.uses * (1 + use.depth / kEqualDepth);
  }
  void evicted(const BlockUse&, double rank) override { clock_ = std::max(clock_, rank); }

 private:
  double clock_ = 0;
};

}  // namespace

std::unique_ptr<EvictionPolicy> make_eviction_policy(std::string_view name) {
  if (name == "lru") return std::make_unique<Lru>();
  if (name == "fifo") return std::make_unique<Fifo>();
  if (name == "lfu") return std::make_unique<AgedLfu>();
  if (name == "slru") return std::make_unique<SegmentedLru>();
  if (name == "cost") return std::make_unique<CostAware>();
  throw Error(ErrorCode::kInvalidArgument, "eviction policy",
              "expected lru, fifo, lfu, slru or cost, found " + std::string(name));
}

}  // namespace quire
