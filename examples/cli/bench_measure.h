// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/generator.h>
#include <quire/model.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "json.h"

// What `quire bench` times, by the public headers alone. Prompts are arbitrary token ids, the same
// ones in every run; each figure is the best of the repeats, which a busy machine disturbs least.
namespace cli {

struct BenchPlan {
  std::vector<std::int64_t> prefixes;  // tokens
  std::int64_t prefill = 0;            // tokens of the prompt that is only read
  std::int64_t decode = 0;             // new tokens
  int repeats = 1;
};

// The plan with every length cut to what the model's context has room for, and none twice.
// Throws quire::Error kInvalidArgument for lengths below 1.
BenchPlan fitted(BenchPlan plan, std::int64_t context);

class BenchMeasurements {
 public:
  // A prefix cache large enough for the longest prefix comes with it.
  BenchMeasurements(std::shared_ptr<const quire::Model> model, int threads, BenchPlan plan);

  // One measurement: where its result goes in the report, and how to take it. They may be taken in
  // any order.
  struct Step {
    std::string name;
    std::function<Json()> take;
  };
  std::vector<Step> steps();

 private:
  Json prefill();
  Json decode();
  Json first_token();  // by prefix length, computed and reused
  Json fork();
  Json snapshot();
  Json kv_bytes();

  quire::Request request(quire::TokenIds ids, std::int64_t new_tokens) const;
  quire::TokenIds text(std::int64_t tokens, unsigned seed) const;
  double best(const std::function<double()>& time) const;
  // The longest prefix, computed once.
  quire::KvCache& filled();

  std::shared_ptr<const quire::Model> model_;
  BenchPlan plan_;
  quire::Generator generator_;
  std::unique_ptr<quire::KvCache> filled_;
};

}  // namespace cli
