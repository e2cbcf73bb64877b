// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <quire/error.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>

namespace cli {
namespace {

// Reads lines of a plain or gzip file; zlib passes plain text through.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path) : path_(path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) {
      throw quire::Error(quire::ErrorCode::kNotFound, path.string(), "expected a trace file");
    }
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw quire::Error(quire::ErrorCode::kIo, path.string(), "cannot be opened");
    size_ = static_cast<double>(std::filesystem::file_size(path));
  }

  bool next(std::string& line) {
    line.clear();
    while (true) {
      const auto end = std::find(buffer_.begin() + at_, buffer_.begin() + filled_, '\n');
      line.append(buffer_.begin() + at_, end);
      const bool found = end != buffer_.begin() + filled_;
      at_ = end - buffer_.begin() + (found ? 1 : 0);
      if (found) return true;
      const int n = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
      if (n < 0)
        throw quire::Error(quire::ErrorCode::kCorrupt, path_.string(), "cannot be decompressed");
      if (n == 0) return !line.empty();
      at_ = 0;
      filled_ = n;
    }
  }

  double fraction() const { return static_cast<double>(gzoffset(file_.get())) / size_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  double size_ = 0;
  std::string buffer_ = std::string(1 << 16, '\0');
  std::ptrdiff_t at_ = 0;
  std::ptrdiff_t filled_ = 0;
};

void parse_request(const std::string& line, const std::string& subject, Trace& trace) {
  const auto request = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object() || !request.contains("hash_ids") || !request["hash_ids"].is_array()) {
    throw quire::Error(quire::ErrorCode::kCorrupt, subject,
                       "expected an object with a list hash_ids");
  }
  quire::TokenIds ids;
  ids.reserve(request["hash_ids"].size());
  for (const auto& id : request["hash_ids"]) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX) {
      throw quire::Error(quire::ErrorCode::kCorrupt, subject,
                         "hash_ids: expected integers below 2^31, found " + id.dump());
    }
    ids.push_back(id.get<quire::TokenId>());
  }
  const auto length = request.find("input_length");
  const bool known = length != request.end() && length->is_number_integer();
  trace.tokens.push_back(known ? length->get<std::int64_t>() : 0);
  trace.blocks += std::ssize(ids);
  trace.requests.push_back(std::move(ids));
}

constexpr std::size_t kNever = SIZE_MAX;

// For each block of each request, the request that needs it next.
std::vector<std::vector<std::size_t>> next_uses(const Trace& trace) {
  std::vector<std::vector<std::size_t>> next(trace.requests.size());
  std::unordered_map<quire::TokenId, std::size_t> later;
  for (std::size_t i = trace.requests.size(); i-- > 0;) {
    const quire::TokenIds& ids = trace.requests[i];
    next[i].reserve(ids.size());
    for (const quire::TokenId id : ids) {
      const auto known = later.find(id);
      next[i].push_back(known == later.end() ? kNever : known->second);
    }
    for (const quire::TokenId id : ids) later[id] = i;
  }
  return next;
}

// Belady's choice with the future known. Blocks of a chain are never needed before those they
// follow, so what it keeps is always a set of whole prefixes, and refusing a block is allowed.
class Optimal final : public quire::EvictionPolicy {
 public:
  explicit Optimal(const Trace& trace) : next_(next_uses(trace)) {}
  std::string_view name() const override { return "optimal"; }
  double rank(const quire::BlockUse& use) override {
    return -static_cast<double>(next_[use.tick - 1][use.depth - 1]);
  }

 private:
  std::vector<std::vector<std::size_t>> next_;
};

// Null: what a user gets.
std::unique_ptr<quire::EvictionPolicy> make_policy(const Trace& trace, std::string_view name) {
  if (name == "default") return nullptr;
  if (name == "optimal") return std::make_unique<Optimal>(trace);
  return quire::make_eviction_policy(name);
}

quire::PrefixIndex make_index(std::unique_ptr<quire::EvictionPolicy> policy,
                              std::int64_t capacity) {
  quire::PrefixIndexOptions options;
  options.block_size = 1;
  options.capacity_blocks = capacity;
  if (policy) options.policy = std::move(policy);
  return quire::PrefixIndex(std::move(options));
}

HitRatios replay(const Trace& trace, quire::PrefixIndex index, std::int64_t block_size) {
  const quire::BlockKey space{};
  HitRatios ratios;
  std::int64_t hits = 0;
  std::int64_t token_hits = 0;
  std::int64_t tokens = 0;
  for (std::size_t request = 0; request < trace.requests.size(); ++request) {
    const quire::TokenIds& ids = trace.requests[request];
    const quire::IndexMatch match = index.lookup(space, ids, std::ssize(ids));
    hits += match.tokens;
    ratios.hits.push_back(match.tokens);
    token_hits +=
        std::min(match.tokens * block_size, std::max<std::int64_t>(trace.tokens[request] - 1, 0));
    tokens += trace.tokens[request];
    quire::BlockId parent = match.blocks.empty() ? quire::kNoBlock : match.blocks.back();
    for (std::size_t i = match.blocks.size(); i < ids.size(); ++i) {
      const auto stored = index.insert(space, parent, std::span(ids).subspan(i, 1));
      if (!stored) break;
      parent = *stored;
    }
  }
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  ratios.blocks = share(hits, trace.blocks);
  ratios.tokens = share(token_hits, tokens);
  return ratios;
}

}  // namespace

Trace read_trace(const std::filesystem::path& path, const std::function<void(double)>& progress) {
  LineReader reader(path);
  Trace trace;
  std::string line;
  for (std::int64_t number = 1; reader.next(line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    parse_request(line, path.string() + " line " + std::to_string(number), trace);
    if (progress) progress(reader.fraction());
  }
  return trace;
}

HitRatios replay_trace(const Trace& trace, const ReplayOptions& options) {
  return replay(trace, make_index(make_policy(trace, options.policy), options.capacity_blocks),
                options.block_size);
}

HitRatios replay_trace(const Trace& trace, std::unique_ptr<quire::EvictionPolicy> policy,
                       std::int64_t capacity_blocks) {
  return replay(trace, make_index(std::move(policy), capacity_blocks), 0);
}

}  // namespace cli
