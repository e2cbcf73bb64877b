// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/result.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace quire {
class PromptCache;
class SemanticCache;
}  // namespace quire

namespace server {

// Text in Prometheus' format.
class PrometheusText {
 public:
  // What the samples that follow are of; the name without "quire_".
  void family(std::string_view name, std::string_view type, std::string_view help);
  // `labels`: "" or {name="value",…}. `suffix` goes on with the family's name.
  void sample(double value, const std::string& labels = {}, std::string_view suffix = {});

  void single(std::string_view name, std::string_view type, std::string_view help, double value) {
    family(name, type, help);
    sample(value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};

// What the server did, for /metrics: replies, and where the tokens of answers came from.
//
// Thread-safety: internally synchronised.
class Metrics {
 public:
  void count_reply(std::string_view route, int status);
  // `took`: from the request to the end of its answer.
  void count_result(const quire::Result& result, std::chrono::duration<double> took);
  void write(PrometheusText& out) const;

 private:
  // Cumulative counts of durations up to each bound.
  struct Histogram {
    static constexpr std::array kBounds = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0};
    std::array<std::int64_t, kBounds.size()> counts{};
    std::int64_t count = 0;
    double seconds = 0;

    void add(double value);
    void write(PrometheusText& out, std::string_view name, std::string_view help) const;
  };

  using Counts = std::map<std::string, std::int64_t, std::less<>>;
  static void write(PrometheusText& out, std::string_view name, std::string_view label,
                    std::string_view help, const Counts& counts);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> replies_;
  Counts answers_, finished_, prompt_tokens_, misses_;
  std::int64_t completion_tokens_ = 0;
  std::int64_t cache_read_tokens_ = 0;
  std::int64_t cache_creation_tokens_ = 0;
  Histogram first_token_, whole_;
};

// The library's own caches.
void write_metrics(PrometheusText& out, const quire::PromptCache& prompts);
void write_metrics(PrometheusText& out, const quire::SemanticCache& answers);

}  // namespace server
