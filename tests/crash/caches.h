// SPDX-License-Identifier: Apache-2.0
// What the writer and the inspector agree on: numbered questions, and the caches of a folder.
//
// Thread-safety: none.
#pragma once

#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/semantic_cache.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace quire::crash {

using Number = std::uint32_t;

// Questions of one family begin alike.
std::string question(Number number);

// Greedy; most answers end by themselves, since only those are kept.
Request request_for(std::string prompt);

// A tiny one, in float32.
std::shared_ptr<const Model> load_model();

// Whether a writer saves a snapshot of a question, and the file, which others take turns in.
bool has_snapshot(Number number);
std::filesystem::path snapshot_file(const std::filesystem::path& folder, Number number);

// The files of the disk tier and of the answers.
std::filesystem::path pages_file(const std::filesystem::path& folder);
std::filesystem::path answers_file(const std::filesystem::path& folder);

// A generator with all caches that have files, in one folder. So little fits into memory that the
// disk tier is read as well as written.
struct Caches {
  Caches(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model);

  PrefixCache prefixes;
  SemanticCache answers;
  Generator generator;
};

}  // namespace quire::crash
