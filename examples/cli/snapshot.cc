// SPDX-License-Identifier: Apache-2.0
// quire snapshot MODEL: computes a prompt once and keeps it in a file, or goes on from such a file.
#include <quire/generator.h>
#include <quire/snapshot.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "files.h"
#include "program.h"
#include "request.h"

namespace cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments : SharedOptions {
  std::optional<std::string> save, load, prompt, file, question, kv;
  std::optional<std::int64_t> max_new_tokens;
  bool verify_on_use = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string required(const Fields& line, const std::string& key) {
  if (const auto text = line.text(key)) return *text;
  throw quire::Error(quire::ErrorCode::kInvalidArgument, key, "expected a text");
}

class Snapshots {
 public:
  explicit Snapshots(const SharedOptions& options)
      : model_(load_model(options)), generator_(model_, {.threads = options.threads}) {
    model_->fingerprint();
    model_->tokenizer_fingerprint();
  }

  Json answer(const Fields& line) {
    return line.has("save") == line.has("load")
               ? throw quire::Error(quire::ErrorCode::kInvalidArgument, "snapshot",
                                    "expected either save or load")
           : line.has("save") ? save(line)
                              : load(line);
  }

 private:
  Json save(const Fields& line) {
    quire::Request request;
    request.prompt = required(line, "prompt");
    const std::int64_t tokens = std::ssize(generator_.tokenize(request));
    const Clock::time_point start = Clock::now();
    const quire::Snapshot snapshot =
        generator_.prefill(request, cache_of(line, *model_, 2 * tokens));
    const double prefill = seconds_since(start);
    const Clock::time_point computed = Clock::now();
    snapshot.save(*line.text("save"));
    const double seconds = seconds_since(computed);
    return about(snapshot, *line.text("save"), seconds, *snapshot.text(),
                 {{"prefill_seconds", prefill}});
  }

  // With a question, the seconds are those to the first token of its answer.
  Json load(const Fields& line) {
    const Clock::time_point start = Clock::now();
    const auto verify = line.boolean("verify_on_use").value_or(false) ? quire::Verify::kOnUse
                                                                      : quire::Verify::kAtLoad;
    const quire::Snapshot snapshot =
        quire::Snapshot::load(*line.text("load"), *model_, {.verify = verify});
    if (!line.has("question")) {
      return about(snapshot, *line.text("load"), seconds_since(start), snapshot.text().value_or(""),
                   Json::object());
    }
    const double load_seconds = seconds_since(start);
    quire::Request request = request_of(line, *model_);
    request.prompt = required(line, "question");
    request.snapshot = snapshot;
    const quire::Result result = generator_.generate(request);
    Json more = result_json(result, request);
    more["load_seconds"] = load_seconds;
    more.erase("text");
    return about(snapshot, *line.text("load"), load_seconds + result.timings.ttft_ms / 1000,
                 result.text, std::move(more));
  }

  static Json about(const quire::Snapshot& snapshot, const std::string& path, double seconds,
                    const std::string& text, Json more) {
    Json out = {{"tokens", snapshot.ids().size()},
                {"bytes", std::filesystem::file_size(path)},
                {"seconds", seconds},
                {"text", text},
                {"kv", snapshot.kind()},
                {"kv_bytes", snapshot.bytes()}};
    for (const auto& [key, value] : more.items()) out[key] = value;
    return out;
  }

  std::shared_ptr<const quire::Model> model_;
  quire::Generator generator_;
};

Json line_of(const Arguments& a) {
  Json line = Json::object();
  put(line, "save", a.save);
  put(line, "load", a.load);
  put(line, "prompt", a.file ? std::optional(read_file(*a.file)) : a.prompt);
  put(line, "question", a.question);
  put(line, "kv", a.kv);
  put(line, "max_new_tokens", a.max_new_tokens);
  if (a.verify_on_use) line["verify_on_use"] = true;
  return line;
}

void print_for_people(const Arguments& a, const Json& result) {
  if (a.question) write(result.at("text").get<std::string>() + "\n");
  std::ostringstream about;
  about << result.at("tokens") << " tokens, " << result.at("bytes") << " bytes, "
        << result.at("seconds") << " s" << (a.question ? " to the first token\n" : "\n");
  a.question ? remark(a, about.str()) : write(about.str());
}

}  // namespace

void add_snapshot(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("snapshot", "Keep a computed prompt in a file, or use one");
  add_example(*command, "snapshot smollm2 --save rules.quire --prompt \"Answer in one sentence.\"");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  auto* save = command->add_option("--save", a->save, "Compute the prompt and write it here");
  auto* load = command->add_option("--load", a->load, "Go on from this file")->excludes(save);
  auto* prompt = command->add_option("-p,--prompt", a->prompt, "The text")->excludes(load);
  command->add_option("-f,--file", a->file, "A file with the text")
      ->check(CLI::ExistingFile)
      ->excludes(load)
      ->excludes(prompt);
  command->add_option("--question", a->question, "Continues the text, and is answered")
      ->needs(load);
  command->add_option("--max-new-tokens", a->max_new_tokens, "At most so many new tokens (20)");
  command->add_option("--kv", a->kv, "Keys and values: dynamic, static, quantized or sliding")
      ->excludes(load);
  command->add_flag("--verify-on-use", a->verify_on_use, "Check pages when they are needed");
  add_run_options(*command, *a);
  add_output_options(*command, *a);
  command->callback([a] {
    if (!a->jsonl && !a->load && (!a->save || (!a->prompt && !a->file))) {
      throw CLI::RequiredError("--load, or --save with --prompt or --file, or --jsonl");
    }
    Snapshots snapshots(*a);
    answer(
        *a, line_of(*a), [&](const Fields& line) { return snapshots.answer(line); },
        [&](const Json& result) { print_for_people(*a, result); });
  });
}

}  // namespace cli
