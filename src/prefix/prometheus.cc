// SPDX-License-Identifier: Apache-2.0
#include <quire/prefix_cache.h>

#include <string>
#include <string_view>
#include <vector>

namespace quire {
namespace {

// One metric of all tiers after the other, as the format wants it.
std::string tiers_as_prometheus(const std::vector<TierStats>& tiers) {
  struct Metric {
    std::string_view name, type, help;
    std::int64_t TierStats::*value;
  };
  constexpr Metric kMetrics[] = {
      {"loaded_blocks_total", "counter", "Blocks found in a tier.", &TierStats::loaded_blocks},
      {"stored_blocks_total", "counter", "Blocks written to a tier.", &TierStats::stored_blocks},
      {"evicted_blocks_total", "counter", "Blocks a tier evicted for room.",
       &TierStats::evicted_blocks},
      {"rejected_blocks_total", "counter", "Blocks a tier did not take.",
       &TierStats::rejected_blocks},
      {"corrupt_blocks_total", "counter", "Blocks found damaged.", &TierStats::corrupt_blocks},
      {"failures_total", "counter", "Operations of a tier that failed.", &TierStats::failures},
      {"timeouts_total", "counter", "Of these, for want of an answer in time.",
       &TierStats::timeouts},
      {"skipped_total", "counter", "Operations not tried, since the tier was failing.",
       &TierStats::skipped},
      {"bytes", "gauge", "Bytes a tier keeps.", &TierStats::bytes},
  };
  std::string text;
  if (tiers.empty()) return text;
  for (const Metric& metric : kMetrics) {
    const std::string name = "quire_prefix_cache_tier_" + std::string(metric.name);
    text += "# HELP " + name + " " + std::string(metric.help) + "\n# TYPE " + name + " " +
            std::string(metric.type) + "\n";
    for (const TierStats& tier : tiers) {
      text += name + "{tier=\"" + tier.name + "\"} " + std::to_string(tier.*metric.value) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string PrefixCache::prometheus() const {
  const PrefixCacheStats s = stats();
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view type, std::string_view help,
                           std::int64_t value) {
    const std::string full = "quire_prefix_cache_" + std::string(name);
    text += "# HELP " + full + " " + std::string(help) + "\n# TYPE " + full + " " +
            std::string(type) + "\n" + full + " " + std::to_string(value) + "\n";
  };
  add("lookups_total", "counter", "Lookups.", s.lookups);
  add("asked_tokens_total", "counter", "Prompt tokens looked up.", s.asked_tokens);
  add("memory_tokens_total", "counter", "Prompt tokens reused as whole pages.", s.memory_tokens);
  add("copied_tokens_total", "counter", "Prompt tokens reused from part of a page.",
      s.copied_tokens);
  add("disk_tokens_total", "counter", "Prompt tokens reused from disk.", s.disk_tokens);
  add("remote_tokens_total", "counter", "Prompt tokens reused from remote tiers.", s.remote_tokens);
  add("whole_prompts_total", "counter", "Prompts that needed no forward pass.", s.whole_prompts);
  add("stored_blocks_total", "counter", "Blocks stored.", s.stored_blocks);
  add("evicted_blocks_total", "counter", "Blocks evicted for room.", s.evicted_blocks);
  add("expired_blocks_total", "counter", "Blocks whose time to live ended.", s.expired_blocks);
  add("rejected_blocks_total", "counter", "Blocks there was no room for.", s.rejected_blocks);
  add("collisions_total", "counter", "Equal keys of different texts.", s.collisions);
  add("blocks", "gauge", "Blocks kept.", s.blocks);
  add("bytes", "gauge", "Bytes of pages kept.", s.bytes);
  add("logits_bytes", "gauge", "Bytes of logits kept.", s.logits_bytes);
  add("index_bytes", "gauge", "Bytes of the index.", s.index_bytes);
  add("dropped_blocks_total", "counter", "Blocks too many to write to a tier.", s.dropped_blocks);
  return text + tiers_as_prometheus(s.tiers);
}

}  // namespace quire
