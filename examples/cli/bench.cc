// SPDX-License-Identifier: Apache-2.0
// quire bench MODEL: what this machine makes of a model, and what its caches save.
#include <quire/model.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <thread>

#include "bench_measure.h"
#include "bench_peers.h"
#include "commands.h"
#include "models.h"
#include "program.h"
#include "progress.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::vector<std::int64_t> prefixes = {64, 256, 1024};
  std::int64_t prefill = 512;
  std::int64_t new_tokens = 64;
  int repeats = 3;
  bool peers = true;
};

Json measure(const Arguments& a) {
  const auto model = load_model(a);
  const BenchPlan plan =
      fitted({a.prefixes, a.prefill, a.new_tokens, a.repeats}, model->config().context);
  const int threads =
      a.threads > 0 ? a.threads : static_cast<int>(std::thread::hardware_concurrency());
  Json report = {{"model", a.model},
                 {"architecture", model->config().architecture},
                 {"dtype", to_string(model->dtype())},
                 {"device", to_string(model->device())},
                 {"threads", threads},
                 {"context", model->config().context}};

  BenchMeasurements measurements(model, a.threads, plan);
  std::vector<BenchMeasurements::Step> steps = measurements.steps();
  if (a.peers && model->device() == quire::Device::kCpu) {
    const PeerWork work = {find_model(a.model), model->dtype(), threads,
                           plan.prefill,        plan.decode,    plan.repeats};
    steps.push_back({"llama.cpp", [work] { return measure_llama_cpp(work); }});
    steps.push_back({"transformers", [work] { return measure_transformers(work); }});
  }
  Json peers = Json::array();
  Progress progress(a, "measuring");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    progress(static_cast<double>(i) / static_cast<double>(steps.size()));
    Json taken = steps[i].take();
    if (!taken.is_null() && taken.contains("name")) {
      peers.push_back(std::move(taken));
    } else if (!taken.is_null()) {
      report[steps[i].name] = std::move(taken);
    }
  }
  progress(1);
  report["peers"] = std::move(peers);
  return report;
}

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char line[160];
  std::va_list values;
  va_start(values, pattern);
  std::vsnprintf(line, sizeof line, pattern, values);
  va_end(values);
  return line;
}

double number(const Json& object, const char* key) { return object.at(key).get<double>(); }

std::string rates(const char* name, double prefill, double decode) {
  return format("%-22s%10.1f%14.1f\n", name, prefill, decode);
}

std::string kind_of(const Json& row) {
  const std::string kind = row.at("kv").get<std::string>();
  if (row.contains("nbits")) return kind + ", " + row["nbits"].dump() + " bits";
  if (row.contains("window")) return kind + ", window " + row["window"].dump();
  return kind;
}

std::string speed_table(const Json& r) {
  std::string text = format("%-22s%10s%14s\n", "tokens/s", "prefill", "decode");
  text += rates("quire", number(r.at("prefill"), "tokens_per_s"),
                number(r.at("decode"), "tokens_per_s"));
  for (const Json& peer : r.at("peers")) {
    const std::string name =
        peer.at("name").get<std::string>() + " " + peer.at("version").get<std::string>();
    text += rates(name.c_str(), number(peer, "prefill_tokens_per_s"),
                  number(peer, "decode_tokens_per_s"));
  }
  return text;
}

void print_for_people(const Json& r) {
  std::string text =
      r.at("model").get<std::string>() + ": " + r.at("architecture").get<std::string>() + ", " +
      r.at("dtype").get<std::string>() + " on the " + r.at("device").get<std::string>() + ", " +
      r.at("threads").dump() + " threads; " + r.at("prefill").at("tokens").dump() +
      " tokens read, " + r.at("decode").at("tokens").dump() + " written\n\n";
  text += speed_table(r);
  text += format("\n%-22s%10s%14s%10s\n", "first token after", "cold", "prefix known", "saved");
  for (const Json& row : r.at("ttft")) {
    text += format("%6lld tokens         %7.1f ms%11.1f ms%8.1f x\n",
                   row.at("prefix").get<long long>(), number(row, "cold_ms"),
                   number(row, "warm_ms"), number(row, "cold_ms") / number(row, "warm_ms"));
  }
  const Json& fork = r.at("fork");
  const Json& snapshot = r.at("snapshot");
  text +=
      format("\nfork of %lld tokens: %.1f us; a copy: %.1f us\n",
             fork.at("tokens").get<long long>(), number(fork, "fork_us"), number(fork, "copy_us"));
  text += format("snapshot: frozen in %.1f us, saved in %.1f ms (%.1f MB), loaded in %.1f ms, ",
                 number(snapshot, "freeze_us"), number(snapshot, "save_ms"),
                 number(snapshot, "bytes") / 1e6, number(snapshot, "load_ms"));
  text += format("checked only on use %.1f ms\n", number(snapshot, "load_verify_on_use_ms"));
  text += format("\nbytes of keys and values a token, over %lld tokens\n",
                 fork.at("tokens").get<long long>());
  for (const Json& row : r.at("kv_bytes_per_token")) {
    text += format("  %-22s%10.0f\n", kind_of(row).c_str(), number(row, "bytes_per_token"));
  }
  write(text);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "What this machine makes of a model");
  add_example(*command, "bench smollm2 --prefixes 64,1024");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  command->add_option("--prefixes", a->prefixes, "Tokens of the prefixes that are known or not")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--prefill", a->prefill, "Tokens of the prompt that is read")
      ->capture_default_str();
  command->add_option("--new-tokens", a->new_tokens, "Tokens of the answer that is written")
      ->capture_default_str();
  command->add_option("--repeats", a->repeats, "Each figure is the best of so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--peers,!--no-peers", a->peers,
                    "Measure llama-bench and transformers too, where they are (default: on)");
  add_run_options(*command, *a);
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("-v,--verbose", a->verbose, "Progress on stderr");
  command->callback([a] {
    answer(
        *a, Json::object(), [&](const Fields&) { return measure(*a); }, print_for_people);
  });
}

}  // namespace cli
