// SPDX-License-Identifier: Apache-2.0
#include "semantic/answer_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "semantic/sight.h"
#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

using testing::FakeEmbedder;

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class AnswerFileTest : public ::testing::Test {
 protected:
  AnswerFileTest() {
    std::string name = ::testing::TempDir() + "answers-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~AnswerFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "answers.db"; }

  SemanticCacheOptions options() const {
    SemanticCacheOptions options;
    options.threshold = 0.8;
    options.path = file();
    return options;
  }

  std::filesystem::path folder_;
};

std::shared_ptr<FakeEmbedder> fake(std::int64_t dimension = 32) {
  return std::make_shared<FakeEmbedder>(dimension);
}

std::optional<ErrorCode> code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

constexpr const char* kStored = "bramo cassel dintu folgar hespi jornak lemura";
constexpr const char* kNear = "bramo cassel dintu folgar hespi jornak";

TEST_F(AnswerFileTest, EntriesOutliveTheProcess) {
  std::uint64_t id = 0;
  {
    SemanticCache answers(fake(), options());
    id = *answers.store({.prompt = kStored,
                         .answer = {.response = "a",
                                    .ids = {7, 8},
                                    .finish_reason = FinishReason::kStop,
                                    .stop = "."},
                         .ids = {1, 2},
                         .scope = {.vary = "v"},
                         .keep = {.tags = {"doc"}}});
    answers.store("brek", "old");
    answers.store("brek", "new");
    answers.remove(*answers.store("cilo", "x"));
    answers.store("LONG text", "blind");
    answers.verify();
  }
  SemanticCache answers(fake(), options());
  answers.verify();
  EXPECT_EQ(answers.stats().entries, 3);
  const SemanticLookup near = answers.lookup(kNear, {.vary = "v"});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->id, id);
  EXPECT_EQ(near->ids, TokenIds({7, 8}));
  EXPECT_EQ(near->finish_reason, FinishReason::kStop);
  EXPECT_EQ(near->stop, ".");
  EXPECT_EQ(answers.lookup({.prompt = "?", .ids = {1, 2}, .scope = {.vary = "v"}})->id, id);
  EXPECT_FALSE(answers.lookup(kNear));
  EXPECT_EQ(answers.lookup("brek")->response, "new");
  EXPECT_EQ(answers.lookup("LONG text")->response, "blind");
  EXPECT_EQ(answers.invalidate("doc"), 1);
  answers.verify();
  EXPECT_GT(*answers.store("next", "x"), id);
}

TEST_F(AnswerFileTest, WhatWasLearnedIsKept) {
  double score = 0;
  {
    SemanticCache answers(fake(), options());
    const auto id = answers.store(kStored, "a");
    score = answers.lookup(kNear)->score;
    answers.report_wrong(*id);
  }
  SemanticCache answers(fake(), options());
  const SemanticLookup missed = answers.lookup(kNear);
  ASSERT_FALSE(missed);
  EXPECT_GT(missed.passed_over.at(0).threshold, score);
}

TEST_F(AnswerFileTest, ExpiryAndBoundsHoldAfterOpening) {
  auto time = std::chrono::system_clock::time_point(std::chrono::hours(1));
  SemanticCacheOptions with = options();
  with.clock = [&] { return time; };
  {
    SemanticCache answers(fake(), with);
    answers.store({.prompt = "alnu",
                   .answer = {.response = "x"},
                   .keep = {.ttl = std::chrono::milliseconds(50)}});
    for (const char* prompt : {"brek", "cilo", "dorv"}) answers.store(prompt, "x");
  }
  time += std::chrono::milliseconds(50);
  with.max_entries = 2;
  SemanticCache answers(fake(), with);
  EXPECT_EQ(answers.stats().entries, 2);
  EXPECT_EQ(answers.stats().expired, 1);
  EXPECT_TRUE(answers.lookup("dorv"));
  answers.verify();
}

TEST_F(AnswerFileTest, AnotherEncodersFileIsRefused) {
  { SemanticCache answers(fake(), options()); }
  SemanticCacheOptions other = options();
  other.encoder = "other";
  EXPECT_EQ(code_of([&] { SemanticCache answers(fake(), other); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { SemanticCache answers(fake(16), options()); }),
            ErrorCode::kInvalidArgument);
  struct Turned final : Embedder {
    std::int64_t dimension() const override { return 32; }
    std::string name() const override { return "fake"; }
    std::vector<float> embed(std::string_view text) const override {
      std::vector<float> values = FakeEmbedder().embed(text);
      std::rotate(values.begin(), values.begin() + 1, values.end());
      return values;
    }
  };
  EXPECT_EQ(code_of([&] { SemanticCache answers(std::make_shared<Turned>(), options()); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { SemanticCache answers(fake(), options()); }), std::nullopt);
  struct Nameless final : Embedder {
    std::int64_t dimension() const override { return 2; }
    std::vector<float> embed(std::string_view) const override { return {1, 0}; }
  };
  EXPECT_EQ(code_of([&] { SemanticCache answers(std::make_shared<Nameless>(), options()); }),
            ErrorCode::kInvalidArgument);
}

TEST_F(AnswerFileTest, OneProcessAtATime) {
  SemanticCache answers(fake(), options());
  EXPECT_EQ(code_of([&] { SemanticCache second(fake(), options()); }), ErrorCode::kIo);
}

TEST_F(AnswerFileTest, OtherFilesAreRefused) {
  { std::ofstream(file()) << std::string(5000, 'x'); }
  EXPECT_EQ(code_of([&] { SemanticCache answers(fake(), options()); }), ErrorCode::kCorrupt);
  std::filesystem::remove(file());
  Sqlite(file(), 0).run("CREATE TABLE other (a)");
  const std::string before = bytes_of_file(file());
  EXPECT_EQ(code_of([&] { SemanticCache answers(fake(), options()); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(bytes_of_file(file()), before) << "another program's file is left as it is";
}

TEST_F(AnswerFileTest, DamagedRowsAreFound) {
  for (const char* damage :
       {"UPDATE answers SET body = zeroblob(length(body))", "UPDATE answers SET body = x''",
        "UPDATE answers SET body = substr(body, 2)", "UPDATE answers SET state = zeroblob(40)",
        "UPDATE answers SET id = id + 1"}) {
    std::filesystem::remove(file());
    {
      SemanticCache answers(fake(), options());
      answers.store(kStored, "a");
    }
    Sqlite(file(), 0).run(damage);
    EXPECT_EQ(code_of([&] { SemanticCache answers(fake(), options()); }), ErrorCode::kCorrupt)
        << damage;
  }
}

TEST_F(AnswerFileTest, VerifyWantsTheEntriesOfMemory) {
  {
    SemanticCache answers(fake(), options());
    answers.store("alnu", "x");
    answers.store("brek", "x");
  }
  Sight sight = see(*fake(), kProbe);
  AnswerFile opened(file(), {"fake", sight.unit});
  EXPECT_EQ(code_of([&] { opened.verify({1, 2}); }), std::nullopt);
  EXPECT_EQ(code_of([&] { opened.verify({1}); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of([&] { opened.verify({1, 3}); }), ErrorCode::kCorrupt);
}

// A child stores and says so; killed, it has lost nothing of what it said.
TEST_F(AnswerFileTest, AKilledProcessLosesNothing) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    SemanticCache answers(fake(), options());
    for (int i = 0;; ++i) {
      answers.store("q" + std::to_string(i), std::to_string(i));
      if (i % 3 == 0) answers.store("q" + std::to_string(i), "again " + std::to_string(i));
      if (write(pipes[1], &i, sizeof(i)) != sizeof(i)) _exit(1);
    }
  }
  int last = 0;
  while (last < 200) {
    ASSERT_EQ(read(pipes[0], &last, sizeof(last)), static_cast<ssize_t>(sizeof(last)));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipes[1]);
  int more = 0;
  while (read(pipes[0], &more, sizeof(more)) == static_cast<ssize_t>(sizeof(more))) last = more;
  close(pipes[0]);
  SemanticCache answers(fake(), options());
  answers.verify();
  for (int i = 0; i <= last; ++i) {
    const SemanticLookup found = answers.lookup("q" + std::to_string(i));
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->response, (i % 3 == 0 ? "again " : "") + std::to_string(i));
  }
}

}  // namespace
}  // namespace quire
