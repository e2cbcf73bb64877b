// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "program.h"
#include "progress.h"
#include "svg_plot.h"
#include "trace.h"

namespace cli {
namespace {

struct Settings {
  SharedOptions shared;
  std::string trace;
  std::vector<std::int64_t> capacities = {1000, 10000, 50000, 100000};
  std::vector<std::string> policies = {"lru", "lfu", "fifo", "default", "optimal"};
  std::int64_t block_size = 0;
  std::string plot;
  std::string plot_time;
};

struct Replayed {
  Json json;
  std::vector<PlotLine> lines;
  // Of the first policy, smallest capacity first: blocks of each request that were found.
  std::map<std::int64_t, std::vector<std::int64_t>> hits;
};

Replayed replay(const Trace& trace, const Settings& options) {
  Replayed result;
  Json rows = Json::array();
  const auto start = std::chrono::steady_clock::now();
  std::int64_t served = 0;
  Progress progress(options.shared, "replaying " + options.trace);
  const double runs = static_cast<double>(options.policies.size() * options.capacities.size());
  for (const std::string& policy : options.policies) {
    PlotLine line{policy, {}, {}};
    for (const std::int64_t capacity : options.capacities) {
      progress(static_cast<double>(rows.size()) / runs);
      HitRatios ratios = replay_trace(trace, {policy, capacity, options.block_size});
      if (policy == options.policies.front()) result.hits[capacity] = std::move(ratios.hits);
      Json row = {{"policy", policy}, {"capacity", capacity}, {"hit_ratio", ratios.blocks}};
      if (options.block_size > 0) row["token_hit_ratio"] = ratios.tokens;
      rows.push_back(std::move(row));
      line.points.emplace_back(static_cast<double>(capacity), ratios.blocks);
      served += trace.blocks;
    }
    result.lines.push_back(std::move(line));
  }
  progress(1);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  result.json = {{"requests", std::ssize(trace.requests)},
                 {"blocks", trace.blocks},
                 {"results", std::move(rows)},
                 {"infinite", replay_trace(trace, {}).blocks},
                 {"blocks_per_s", static_cast<double>(served) / seconds.count()}};
  return result;
}

// The share of blocks that `found` of each request comes to, over windows of consecutive requests.
PlotLine over_time(const Trace& trace, const std::vector<std::int64_t>& found, std::string name) {
  constexpr std::size_t kWindows = 60;
  PlotLine line{std::move(name), {}, {}};
  const std::size_t requests = trace.requests.size();
  for (std::size_t window = 0; window < kWindows; ++window) {
    const std::size_t first = requests * window / kWindows;
    const std::size_t last = requests * (window + 1) / kWindows;
    std::int64_t hits = 0;
    std::int64_t blocks = 0;
    for (std::size_t i = first; i < last; ++i) {
      hits += found[i];
      blocks += std::ssize(trace.requests[i]);
    }
    if (blocks == 0) continue;
    line.points.emplace_back(static_cast<double>(first + last) / 2,
                             static_cast<double>(hits) / static_cast<double>(blocks));
  }
  return line;
}

// Where blocks came from as the trace went on: each capacity stands for a tier behind the smaller
// ones, and what is computed was evicted or is new.
Plot plot_sources(const Trace& trace, const Replayed& replayed, const std::string& policy) {
  Plot plot{"Where blocks came from, policy " + policy, "requests", "blocks", {}, PlotKind::kBands};
  for (const auto& [capacity, hits] : replayed.hits) {
    plot.lines.push_back(over_time(trace, hits, "among " + std::to_string(capacity)));
  }
  plot.lines.push_back(over_time(trace, replay_trace(trace, {}).hits, "computed: evicted"));
  plot.lines.back().colour = "#555555";
  std::vector<std::int64_t> all;
  for (const quire::TokenIds& request : trace.requests) all.push_back(std::ssize(request));
  plot.lines.push_back(over_time(trace, all, "computed: new"));
  plot.lines.back().colour = "#bbbbbb";
  // More room finds less only under policies that are not worth a picture.
  for (std::size_t i = 1; i < plot.lines.size(); ++i) {
    for (std::size_t k = 0; k < plot.lines[i].points.size(); ++k) {
      double& share = plot.lines[i].points[k].second;
      share = std::max(share, plot.lines[i - 1].points[k].second);
    }
  }
  return plot;
}

void print_table(const Json& result) {
  std::string text = std::to_string(result["requests"].get<std::int64_t>()) + " requests, " +
                     std::to_string(result["blocks"].get<std::int64_t>()) + " blocks\n";
  char row[96];
  for (const Json& entry : result["results"]) {
    std::snprintf(row, sizeof row, "%-10s %10lld blocks %6.2f %%\n",
                  entry["policy"].get<std::string>().c_str(),
                  static_cast<long long>(entry["capacity"].get<std::int64_t>()),
                  100 * entry["hit_ratio"].get<double>());
    text += row;
  }
  std::snprintf(row, sizeof row, "%-10s %17s %6.2f %%\n", "unbounded", "",
                100 * result["infinite"].get<double>());
  write(text + row);
}

void check(const Settings& options) {
  for (const std::int64_t capacity : options.capacities) {
    if (capacity < 1) {
      throw quire::Error(quire::ErrorCode::kInvalidArgument, "--capacity",
                         "expected at least 1 block, found " + std::to_string(capacity));
    }
  }
  for (const std::string& policy : options.policies) {
    if (policy != "default" && policy != "optimal") quire::make_eviction_policy(policy);
  }
}

void run(const Settings& options) {
  check(options);
  const Trace trace = read_trace(options.trace);
  const Replayed result = replay(trace, options);
  if (!options.plot.empty()) {
    write_svg(options.plot, {"Prefix cache hits by capacity", "capacity in blocks (log scale)",
                             "hit ratio", result.lines});
  }
  if (!options.plot_time.empty()) {
    write_svg(options.plot_time, plot_sources(trace, result, options.policies.front()));
  }
  options.shared.json ? write_line(result.json) : print_table(result.json);
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "replay", "Replay a block-hash trace through the prefix cache's index and eviction");
  add_example(*command, "replay trace.jsonl.gz --capacity 1000,10000 --policy default,optimal");
  command->add_option("trace", options->trace, "JSON Lines with hash_ids, plain or gzip")
      ->required();
  command->add_option("--capacity", options->capacities, "Capacities in blocks")->delimiter(',');
  command
      ->add_option("--policy", options->policies,
                   "lru, lfu, fifo, slru, cost, default (what a user gets), optimal")
      ->delimiter(',');
  command->add_option("--block-size", options->block_size,
                      "Tokens a hash stands for: reports the share of tokens too");
  command->add_option("--plot", options->plot, "Write hit ratio against capacity as SVG");
  command->add_option("--plot-time", options->plot_time,
                      "Write where blocks came from over time as SVG, by the first policy");
  command->add_flag("--json", options->shared.json, "Print one JSON object");
  command->add_flag("-v,--verbose", options->shared.verbose, "Progress on stderr");
  command->callback([options] { run(*options); });
}

}  // namespace cli
