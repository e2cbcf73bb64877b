// SPDX-License-Identifier: Apache-2.0
// What the process that links the library can rely on: its own settings stay as they are, whatever
// is destroyed is gone, and fork() is either safe or refused.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/session.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/generate/models.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

using test::tiny_model;
using test::tiny_reference;

Request request_of(const std::string& model, std::size_t prompt = 0) {
  Request request;
  request.ids = tiny_reference(model).at("prompts")[prompt].get<TokenIds>();
  request.max_new_tokens = 12;
  request.ignore_eos = true;
  return request;
}

TokenIds reference_ids(const std::string& model, std::size_t prompt = 0) {
  return tiny_reference(model).at("greedy")[prompt].get<TokenIds>();
}

// What a host may have set and must find again.
struct HostState {
  int torch_threads = at::get_num_threads();
  bool grad = c10::GradMode::is_enabled();
  bool inference = c10::InferenceMode::is_enabled();
  bool deterministic = at::globalContext().deterministicAlgorithms();
  std::string locale = std::setlocale(LC_ALL, nullptr);
  int rounding = std::fegetround();
  float smallest = [] {
    volatile float tiny = 0x1p-126F;
    return tiny / 4;  // 0 if denormal numbers are flushed
  }();
  std::vector<const void*> handlers = [] {
    std::vector<const void*> all;
    for (int s = 1; s < SIGRTMIN; ++s) {
      struct sigaction action {};
      sigaction(s, nullptr, &action);
      all.push_back(reinterpret_cast<const void*>(action.sa_handler));
    }
    return all;
  }();
  fs::path folder = fs::current_path();

  bool operator==(const HostState&) const = default;
};

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

std::size_t threads_now() { return entries("/proc/self/task"); }
std::size_t files_now() { return entries("/proc/self/fd"); }

std::int64_t resident_bytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(Host, FindsItsSettingsUnchanged) {
  at::set_num_threads(3);
  const HostState before;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    Generator generator(tiny_model("llama"), {.threads = 2});
    EXPECT_EQ(generator.generate(request_of("llama")).ids, reference_ids("llama"));
    Request wrong = request_of("llama");
    wrong.max_new_tokens = 1 << 30;
    EXPECT_THROW(generator.generate(wrong), Error);
    EXPECT_TRUE(HostState() == before);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(HostState() == before);
}

TEST(Host, MayUseSeveralModelsAtOnce) {
  const std::vector<std::string> names = {"llama", "gemma3", "mistral-window"};
  std::vector<std::unique_ptr<Generator>> generators;
  for (const std::string& name : names) {
    generators.push_back(
        std::make_unique<Generator>(tiny_model(name), GeneratorOptions{.threads = 2}));
  }
  for (std::size_t prompt = 0; prompt < 3; ++prompt) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(generators[i]->generate(request_of(names[i], prompt)).ids,
                reference_ids(names[i], prompt))
          << names[i];
    }
  }
}

TEST(Host, AThousandGeneratorsLeaveNothing) {
  const auto model = tiny_model("llama");
  const auto use_one = [&] {
    Generator generator(model, {.threads = 2});
    EXPECT_EQ(generator.generate(request_of("llama")).ids, reference_ids("llama"));
  };
  for (int i = 0; i < 100; ++i) use_one();
  const std::size_t threads = threads_now();
  const std::size_t files = files_now();
  const std::int64_t resident = resident_bytes();
  for (int i = 0; i < 1000; ++i) use_one();
  EXPECT_EQ(threads_now(), threads);
  EXPECT_EQ(files_now(), files);
  // A generator's caches and threads are far over a thousandth of that.
  EXPECT_LT(resident_bytes() - resident, 2 << 20);
}

// Runs `work` in a forked process; whether it returned true.
bool true_in_fork(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = work();
    } catch (...) {
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Host, AForkIsRefusedItsParentsGeneratorAndMayMakeItsOwn) {
  const auto model = tiny_model("llama");
  const fs::path file = fs::path(::testing::TempDir()) / "quire_host_test.sqlite";
  fs::remove(file);
  auto prefixes = std::make_unique<PrefixCache>(PrefixCacheOptions{.disk_path = file});
  auto parents = std::make_unique<Generator>(
      model, GeneratorOptions{.threads = 2, .prefix_cache = prefixes.get()});
  EXPECT_EQ(parents->generate(request_of("llama")).ids, reference_ids("llama"));

  EXPECT_TRUE(true_in_fork([&] {
    try {
      parents->generate(request_of("llama"));
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::kUnsupported;
    }
  }));
  EXPECT_TRUE(true_in_fork([&] {
    Generator own(model, {.threads = 2});
    return own.generate(request_of("llama", 1)).ids == reference_ids("llama", 1);
  }));
  EXPECT_TRUE(true_in_fork([&] {  // whose end waits for no thread of the parent
    parents.reset();
    prefixes.reset();
    return true;
  }));

  EXPECT_EQ(parents->generate(request_of("llama", 2)).ids, reference_ids("llama", 2));
  prefixes->flush();
  fs::remove(file);
}

}  // namespace
}  // namespace quire
