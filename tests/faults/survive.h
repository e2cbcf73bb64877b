// SPDX-License-Identifier: Apache-2.0
// What the tests of faults have in common: an operation is run once for every fault that can strike
// it, and afterwards everything must work and nothing be lost.
#pragma once

#include <gtest/gtest.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/faults/interpose.h"
#include "tests/generate/models.h"
#include "tests/io/temporary_folder.h"

namespace quire::faults {

struct Operation {
  std::function<void()> before;            // every time, without faults
  std::function<void()> run;               // may throw Error (or bad_alloc, if asked), nothing else
  std::function<void(bool failed)> after;  // what must hold then, without faults
};

// Every call of these kinds fails once, the later ones by samples: a typed error or the right
// answer, and as many open files as before. Prints how many faults struck.
void survive(std::initializer_list<std::span<const Call>> kinds, const Operation& operation);

// The same with the clocks: from every look at one on it is another time, a day later or earlier by
// the wall, an hour later by the steady one. None of it is a reason to fail.
void survive_jumps(const Operation& operation);

// Of the tiny llama, greedy.
Request request_of(std::size_t prompt, std::int64_t tokens = 3);
TokenIds reference_ids(std::size_t prompt, std::size_t tokens = 3);

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);
void empty(const std::filesystem::path& folder);

// Forgets all that the cache holds; its pages' memory must be free then.
void expect_no_pages(PrefixCache& cache, const PrefixModel& model);

class Faults : public ::testing::Test {
 protected:
  PrefixModel prefix_model() const { return {model_->fingerprint(), model_->kv_spec()}; }

  const test::TemporaryFolder folder_;
  const std::shared_ptr<const Model> model_ = test::tiny_model("llama");
  Generator generator_{model_, {.threads = 1}};
};

}  // namespace quire::faults
