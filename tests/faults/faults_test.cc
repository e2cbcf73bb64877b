// SPDX-License-Identifier: Apache-2.0
// Every operation with every call that it makes of the system failing once, one after the other:
// a typed error or the right answer, and afterwards everything works and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/semantic_cache.h>
#include <quire/snapshot.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/faults/interpose.h"
#include "tests/generate/models.h"
#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

using faults::Call;
using faults::Fault;
using test::tiny_model;
using test::tiny_reference;

// After this many, every seventh call; a sweep over all would take minutes.
constexpr int kAll = 150;
constexpr int kStep = 7;

struct Operation {
  std::function<void()> before;            // every time, without faults
  std::function<void()> run;               // may throw Error, nothing else
  std::function<void(bool failed)> after;  // what must hold then, without faults
};

// Returns how many faults struck.
int survive(Call call, const Operation& operation) {
  int struck = 0;
  for (int n = 1;; n += n < kAll ? 1 : kStep) {
    SCOPED_TRACE(std::string(faults::name_of(call)) + " " + std::to_string(n) + " fails");
    operation.before();
    bool failed = false;
    std::string foreign;
    bool hit = false;
    {
      const Fault fault(call, n);
      try {
        operation.run();
      } catch (const Error&) {
        failed = true;
      } catch (const std::bad_alloc& error) {
        failed = call == Call::kMemory;
        if (!failed) foreign = error.what();
      } catch (const std::exception& error) {
        foreign = error.what();
      }
      hit = fault.struck();
    }
    EXPECT_EQ(foreign, "") << "an exception that is no quire::Error";
    operation.after(failed);
    if (!hit) {
      EXPECT_FALSE(failed) << "failed without a fault";
      return struck;
    }
    ++struck;
    if (::testing::Test::HasFailure()) return struck;  // one trace is enough
  }
}

// `memory`: whether operator new fails too. Not where JSON is written or SQLite is behind: the JSON
// library allocates in its destructors, which ends the process.
void survive_all(const Operation& operation, bool memory = false) {
  for (const Call call : faults::kCalls) {
    if (call == Call::kMemory && !memory) continue;
    const int struck = survive(call, operation);
    ::testing::Test::RecordProperty(faults::name_of(call), struck);
    std::cout << faults::name_of(call) << ": " << struck << " faults survived\n";
    if (::testing::Test::HasFailure()) return;
  }
}

Request request_of(std::size_t prompt, std::int64_t tokens = 3) {
  Request request;
  request.ids = tiny_reference("llama").at("prompts")[prompt].get<TokenIds>();
  request.max_new_tokens = tokens;
  request.ignore_eos = true;
  return request;
}

TokenIds reference_ids(std::size_t prompt, std::size_t tokens = 3) {
  auto ids = tiny_reference("llama").at("greedy")[prompt].get<TokenIds>();
  ids.resize(tokens);
  return ids;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

class Faults : public ::testing::Test {
 protected:
  Faults() : folder_(fs::path(::testing::TempDir()) / "quire_faults_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    EXPECT_EQ(generator_.generate(request_of(0)).ids, reference_ids(0));
  }
  ~Faults() override { fs::remove_all(folder_); }

  void expect_works() {
    for (const std::size_t prompt : {0, 1}) {
      EXPECT_EQ(generator_.generate(request_of(prompt)).ids, reference_ids(prompt));
    }
  }

  const fs::path folder_;
  const std::shared_ptr<const Model> model_ = tiny_model("llama");
  Generator generator_{model_, {.threads = 1}};
};

TEST_F(Faults, Generate) {
  std::unique_ptr<Generator> fresh;
  Result result;
  survive_all({[&] {
                 fresh = std::make_unique<Generator>(model_, GeneratorOptions{.threads = 1});
                 result = {};
               },
               [&] { result = fresh->generate(request_of(2)); },
               [&](bool failed) {
                 if (!failed) {
                   EXPECT_EQ(result.ids, reference_ids(2));
                 }
                 EXPECT_EQ(fresh->generate(request_of(2)).ids, reference_ids(2));
                 EXPECT_EQ(fresh->generate(request_of(0)).ids, reference_ids(0));
               }},
              true);
}

TEST_F(Faults, SnapshotSave) {
  const fs::path file = folder_ / "snapshot.quire";
  const Snapshot old = generator_.prefill(request_of(0));
  const Snapshot fresh = generator_.prefill(request_of(1));
  const TokenIds old_ids(old.ids().begin(), old.ids().end());
  const TokenIds new_ids(fresh.ids().begin(), fresh.ids().end());
  survive_all({[&] { old.save(file); }, [&] { fresh.save(file); },
               [&](bool failed) {
                 const Snapshot loaded = Snapshot::load(file, *model_);
                 const TokenIds ids(loaded.ids().begin(), loaded.ids().end());
                 EXPECT_TRUE(ids == new_ids || (failed && ids == old_ids));
                 EXPECT_THAT(files_in(folder_), ::testing::ElementsAre(file));
               }});
}

TEST_F(Faults, SnapshotLoad) {
  const fs::path file = folder_ / "snapshot.quire";
  generator_.prefill(request_of(0)).save(file);
  Result result;
  const auto use = [&] {
    Request request = request_of(0);
    request.snapshot = Snapshot::load(file, *model_);
    request.ids = TokenIds{};
    result = generator_.generate(request);
  };
  survive_all({[&] { result = {}; }, use,
               [&](bool failed) {
                 if (!failed) {
                   EXPECT_EQ(result.ids, reference_ids(0));
                 }
                 use();
                 EXPECT_EQ(result.ids, reference_ids(0));
               }});
}

TEST_F(Faults, DiskTier) {
  const fs::path file = folder_ / "prefixes.sqlite";
  Result result;
  const auto use = [&] {
    PrefixCache prefixes({.block_size = 16, .disk_path = file});
    Generator own(model_, {.threads = 1, .prefix_cache = &prefixes});
    result = own.generate(request_of(3));
    prefixes.flush();
  };
  survive_all({[&] {
                 for (const fs::path& old : files_in(folder_)) fs::remove(old);
                 result = {};
               },
               use,
               [&](bool failed) {
                 if (!failed) {
                   EXPECT_EQ(result.ids, reference_ids(3));
                 }
                 for (int again = 0; again < 2; ++again) {  // stores, then loads
                   use();
                   EXPECT_EQ(result.ids, reference_ids(3));
                 }
               }});
}

TEST_F(Faults, SemanticFile) {
  const fs::path file = folder_ / "answers.sqlite";
  const auto embedder = std::make_shared<testing::FakeEmbedder>();
  const auto open = [&] {
    return std::make_unique<SemanticCache>(embedder, SemanticCacheOptions{.path = file});
  };
  const auto knows = [](SemanticCache& cache, const char* text) {
    const SemanticLookup found = cache.lookup(text);
    return found.hit && found.hit->response == std::string("answer to ") + text;
  };
  survive_all({[&] {
                 for (const fs::path& old : files_in(folder_)) fs::remove(old);
                 open()->store("first", "answer to first");
               },
               [&] { open()->store("second", "answer to second"); },
               [&](bool failed) {
                 const auto cache = open();
                 cache->verify();
                 EXPECT_TRUE(knows(*cache, "first"));
                 if (!failed) {
                   EXPECT_TRUE(knows(*cache, "second"));
                 }
                 EXPECT_TRUE(cache->store("third", "answer to third"));
                 EXPECT_TRUE(knows(*cache, "third"));
               }});
}

}  // namespace
}  // namespace quire
