// SPDX-License-Identifier: Apache-2.0
// quire_policy_study TRACE…: what eviction policies beyond those of the library would find, beside
// LRU and the optimum, at 1,000, 10,000, 50,000 and 100,000 blocks.
//
//   ghost      blocks seen once and blocks seen again are apart, and a block that comes back soon
//              after it was evicted counts as seen again (the idea of 2Q, ARC and S3-FIFO)
//   lru-2      by the last use but one
//   admission  what was asked for less often than the others goes first, counting from before a
//              block was evicted too, all counts halved from time to time (the idea of TinyLFU)
//   bonus      LRU, where a second use counts like having come a quarter of a typical stay later
//   hint       LRU that is told of every block which nobody will ask for again: the most that
//              hints such as end_session and one_shot could give
#include <quire/prefix_index.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/trace.h"

namespace {

using cli::Trace;
using quire::BlockUse;
using quire::TokenId;

// A policy that knows which block of the trace it ranks.
class TracePolicy : public quire::EvictionPolicy {
 public:
  explicit TracePolicy(const Trace& trace) : trace_(trace) {}
  std::string_view name() const final { return "study"; }
  double rank(const BlockUse& use) final { return rank_of(id(use.tick, use), use); }
  void evicted(const BlockUse& use, double) final { gone(id(use.used, use), use); }

 protected:
  virtual double rank_of(TokenId id, const BlockUse& use) = 0;
  virtual void gone(TokenId, const BlockUse&) {}
  const Trace& trace() const { return trace_; }

 private:
  TokenId id(std::uint64_t tick, const BlockUse& use) const {
    return trace_.requests[tick - 1][use.depth - 1];
  }
  const Trace& trace_;
};

class Ghost final : public TracePolicy {
 public:
  Ghost(const Trace& trace, std::int64_t capacity)
      : TracePolicy(trace), most_(static_cast<std::size_t>(capacity)) {}

 private:
  double rank_of(TokenId id, const BlockUse& use) override {
    return use.uses >= 2 || left_.contains(id) ? 1 : 0;
  }
  void gone(TokenId id, const BlockUse&) override {
    if (left_.insert(id).second) order_.push_back(id);
    if (order_.size() > most_) {
      left_.erase(order_.front());
      order_.pop_front();
    }
  }
  std::size_t most_;
  std::unordered_set<TokenId> left_;
  std::deque<TokenId> order_;
};

class LastButOne final : public TracePolicy {
 public:
  LastButOne(const Trace& trace, std::int64_t) : TracePolicy(trace) {}

 private:
  double rank_of(TokenId id, const BlockUse& use) override {
    const std::uint64_t before = std::exchange(used_[id], use.tick);
    return static_cast<double>(before);
  }
  std::unordered_map<TokenId, std::uint64_t> used_;
};

class Admission final : public TracePolicy {
 public:
  Admission(const Trace& trace, std::int64_t capacity)
      : TracePolicy(trace), period_(10 * capacity) {}

 private:
  double rank_of(TokenId id, const BlockUse&) override {
    if (++asked_ % period_ == 0) {
      for (auto& [known, count] : counts_) count /= 2;
    }
    return ++counts_[id];
  }
  std::int64_t period_;
  std::int64_t asked_ = 0;
  std::unordered_map<TokenId, int> counts_;
};

class Bonus final : public TracePolicy {
 public:
  Bonus(const Trace& trace, std::int64_t) : TracePolicy(trace) {}

 private:
  double rank_of(TokenId, const BlockUse& use) override {
    return static_cast<double>(use.tick) + (use.uses >= 2 ? stay_ / 4 : 0);
  }
  void gone(TokenId, const BlockUse& use) override {
    stay_ += (static_cast<double>(use.tick - use.used) - stay_) / static_cast<double>(++evictions_);
  }
  double stay_ = 0;
  std::int64_t evictions_ = 0;
};

class Hint final : public TracePolicy {
 public:
  Hint(const Trace& trace, std::int64_t) : TracePolicy(trace) {
    for (std::size_t i = 0; i < trace.requests.size(); ++i) {
      for (const TokenId id : trace.requests[i]) last_[id] = i + 1;
    }
  }

 private:
  double rank_of(TokenId id, const BlockUse& use) override { return last_[id] > use.tick ? 1 : 0; }
  std::unordered_map<TokenId, std::size_t> last_;
};

using Make = std::unique_ptr<quire::EvictionPolicy> (*)(const Trace&, std::int64_t);

template <typename Policy>
std::unique_ptr<quire::EvictionPolicy> make(const Trace& trace, std::int64_t capacity) {
  return std::make_unique<Policy>(trace, capacity);
}

constexpr std::pair<const char*, Make> kPolicies[] = {{"lru", nullptr},
                                                      {"ghost", make<Ghost>},
                                                      {"lru-2", make<LastButOne>},
                                                      {"admission", make<Admission>},
                                                      {"bonus", make<Bonus>},
                                                      {"hint", make<Hint>},
                                                      {"optimal", nullptr}};

void study(const std::string& path) {
  const Trace trace = cli::read_trace(path);
  std::printf("%s\n", path.c_str());
  for (const auto& [name, make] : kPolicies) {
    std::printf("%-10s", name);
    for (const std::int64_t capacity : {1'000, 10'000, 50'000, 100'000}) {
      const cli::HitRatios found = make == nullptr
                                       ? cli::replay_trace(trace, {name, capacity, 0})
                                       : cli::replay_trace(trace, make(trace, capacity), capacity);
      std::printf(" %7.2f", 100 * found.blocks);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: quire_policy_study TRACE...\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) study(argv[i]);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
