// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include <quire/prompt_cache.h>
#include <quire/semantic_cache.h>

#include <charconv>
#include <iterator>

namespace server {
namespace {

std::string label_of(std::string_view name, std::string_view value) {
  return "{" + std::string(name) + "=\"" + std::string(value) + "\"}";
}

// The shortest decimal that reads back as the value.
std::string to_decimal(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value);
  return {std::begin(buffer), end};
}

}  // namespace

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = "quire_" + std::string(name);
  text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " +
           std::string(type) + "\n";
}

void PrometheusText::sample(double value, const std::string& labels, std::string_view suffix) {
  text_ += name_ + std::string(suffix) + labels + " " + to_decimal(value) + "\n";
}

void Metrics::count_reply(std::string_view route, int status) {
  const std::lock_guard lock(mutex_);
  ++replies_[{std::string(route), status}];
}

void Metrics::count_result(const quire::Result& result, std::chrono::duration<double> took) {
  const quire::Reused& reused = result.cache.reused;
  const bool computed = result.cache.source == quire::AnswerSource::kModel;
  const std::lock_guard lock(mutex_);
  ++answers_[std::string(to_string(result.cache.source))];
  ++finished_[std::string(to_string(result.finish_reason))];
  prompt_tokens_["memory"] += reused.memory;
  prompt_tokens_["copied"] += reused.copied;
  prompt_tokens_["disk"] += reused.disk;
  prompt_tokens_["remote"] += reused.remote;
  prompt_tokens_["snapshot"] += reused.snapshot;
  prompt_tokens_["answer"] += computed ? 0 : result.usage.prompt_tokens;
  prompt_tokens_["computed"] += computed ? result.usage.prompt_tokens - reused.total() : 0;
  if (computed) ++misses_[std::string(to_string(result.cache.why_not_more.reason))];
  completion_tokens_ += result.usage.completion_tokens;
  cache_read_tokens_ += result.usage.cache_read_tokens;
  cache_creation_tokens_ += result.usage.cache_creation_tokens;
  if (result.timings.ttft_ms > 0) first_token_.add(result.timings.ttft_ms / 1000);
  whole_.add(took.count());
}

void Metrics::write(PrometheusText& out) const {
  const std::lock_guard lock(mutex_);
  out.family("replies_total", "counter", "Replies by route and HTTP status.");
  for (const auto& [key, count] : replies_) {
    out.sample(static_cast<double>(count),
               "{route=\"" + key.first + "\",status=\"" + std::to_string(key.second) + "\"}");
  }
  write(out, "answers_total", "source", "Answers by where they came from.", answers_);
  write(out, "finished_total", "reason", "Answers by why they ended.", finished_);
  write(out, "prompt_tokens_total", "source",
        "Prompt tokens by where their keys and values came from.", prompt_tokens_);
  write(out, "misses_total", "reason", "Answers by why no more of the prompt was reused.", misses_);
  out.single("completion_tokens_total", "counter", "Tokens of answers.",
             static_cast<double>(completion_tokens_));
  out.single("cache_read_tokens_total", "counter", "Prompt tokens under a mark that was known.",
             static_cast<double>(cache_read_tokens_));
  out.single("cache_creation_tokens_total", "counter", "Prompt tokens under a mark newly kept.",
             static_cast<double>(cache_creation_tokens_));
  first_token_.write(out, "first_token_seconds",
                     "From the request to its first new token, if one was computed.");
  whole_.write(out, "answer_seconds", "From the request to the end of its answer.");
}

void Metrics::write(PrometheusText& out, std::string_view name, std::string_view label,
                    std::string_view help, const Counts& counts) {
  out.family(name, "counter", help);
  for (const auto& [value, count] : counts) {
    out.sample(static_cast<double>(count), label_of(label, value));
  }
}

void Metrics::Histogram::add(double value) {
  for (std::size_t i = 0; i < kBounds.size(); ++i) counts[i] += value <= kBounds[i] ? 1 : 0;
  ++count;
  seconds += value;
}

void Metrics::Histogram::write(PrometheusText& out, std::string_view name,
                               std::string_view help) const {
  out.family(name, "histogram", help);
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    out.sample(static_cast<double>(counts[i]), label_of("le", to_decimal(kBounds[i])), "_bucket");
  }
  out.sample(static_cast<double>(count), label_of("le", "+Inf"), "_bucket");
  out.sample(seconds, {}, "_sum");
  out.sample(static_cast<double>(count), {}, "_count");
}

void write_metrics(PrometheusText& out, const quire::PromptCache& prompts) {
  const quire::PromptCacheStats s = prompts.stats();
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::int64_t value) {
    out.single("prompt_cache_" + std::string(name), type, help, static_cast<double>(value));
  };
  add("entries", "gauge", "Snapshots kept.", s.entries);
  add("bytes", "gauge", "Bytes of their keys and values.", s.bytes);
  add("hits_total", "counter", "Lookups that found one.", s.hits);
  add("misses_total", "counter", "Lookups that found none.", s.misses);
  add("stored_total", "counter", "Snapshots stored.", s.puts);
  add("evicted_total", "counter", "Snapshots evicted for room.", s.evicted);
  add("expired_total", "counter", "Snapshots whose time to live ended.", s.expired);
}

void write_metrics(PrometheusText& out, const quire::SemanticCache& answers) {
  const quire::SemanticStats s = answers.stats();
  out.single("semantic_cache_entries", "gauge", "Answers kept.", static_cast<double>(s.entries));
  out.single("semantic_cache_bytes", "gauge", "Bytes of the cache.", static_cast<double>(s.bytes));
  out.single("semantic_cache_lookups_total", "counter", "Lookups.", static_cast<double>(s.lookups));
  out.family("semantic_cache_hits_total", "counter", "Answers served, by how they were found.");
  out.sample(static_cast<double>(s.exact_hits), label_of("level", "exact"));
  out.sample(static_cast<double>(s.normalized_hits), label_of("level", "normalized"));
  out.sample(static_cast<double>(s.semantic_hits), label_of("level", "semantic"));
  out.family("semantic_cache_misses_total", "counter", "Lookups without a hit, by why.");
  for (std::size_t i = 1; i < std::size(s.misses); ++i) {
    out.sample(static_cast<double>(s.misses[i]),
               label_of("reason", to_string(static_cast<quire::SemanticMiss>(i))));
  }
}

}  // namespace server
