// SPDX-License-Identifier: Apache-2.0
// quire generate MODEL: answers to prompts, ids or messages.
#include <quire/embedder.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/semantic_cache.h>
#include <quire/session.h>

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "commands.h"
#include "files.h"
#include "models.h"
#include "program.h"
#include "request.h"

namespace cli {
namespace {

using quire::Error;
using quire::ErrorCode;

struct Arguments : SharedOptions {
  std::optional<std::string> prompt, file, ids, messages, kv, draft, draft_ids;
  std::optional<std::int64_t> max_new_tokens, top_k, n, logprobs, nbits, window, max_length;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stop;
  bool ignore_eos = false;
  bool prompt_lookup = false;
  std::string embedder;
  double semantic_threshold = 0.95;
  std::string prefix_disk, redis;
};

// One process: the model, and the sessions that lines share.
class Server {
 public:
  explicit Server(const Arguments& options)
      : model_(load_model(options)),
        prefixes_({.explain_across_namespaces = options.explain_across_namespaces,
                   .disk_path = options.prefix_disk,
                   .redis_url = options.redis}),
        answers_(answers_of(options)),
        generator_(model_, {.threads = options.threads,
                            .prefix_cache = &prefixes_,
                            .semantic_cache = answers_.get()}) {}

  Json answer(const Fields& line) {
    quire::Request request = read(line);
    const auto session = line.text("session");
    return result_json(session ? in_session(*session, line, request) : alone(line, request),
                       request);
  }

  // For people: text as it comes. Returns what to say about it.
  quire::Result stream(const Fields& line) {
    quire::Request request = read(line);
    const auto cache = cache_for(line, request);
    request.cache = cache.get();
    if (request.n > 1) return generator_.generate(request);
    return generator_.generate(request, [](std::string_view chunk) {
      write(chunk);
      return quire::Stream::kContinue;
    });
  }

 private:
  static std::unique_ptr<quire::SemanticCache> answers_of(const Arguments& options) {
    if (options.embedder.empty()) return nullptr;
    return std::make_unique<quire::SemanticCache>(
        quire::Embedder::load(find_model(options.embedder), {.threads = options.threads}),
        quire::SemanticCacheOptions{.threshold = options.semantic_threshold});
  }

  quire::Request read(const Fields& line) const {
    quire::Request request = request_of(line, *model_);
    if (request.reuse && !answers_) {
      throw Error(ErrorCode::kInvalidArgument, "semantic", "expected --embedder with it");
    }
    return request;
  }

  std::unique_ptr<quire::KvCache> cache_for(const Fields& line, const quire::Request& request) {
    const std::int64_t prompt = std::ssize(generator_.tokenize(request));
    return cache_of(line, *model_, prompt + request.max_new_tokens);
  }

  quire::Result alone(const Fields& line, quire::Request& request) {
    const auto cache = cache_for(line, request);
    request.cache = cache.get();
    return generator_.generate(request);
  }

  quire::Result in_session(const std::string& name, const Fields& line, quire::Request& request) {
    if (request.messages.empty() || request.prompt || request.ids) {
      throw Error(ErrorCode::kInvalidArgument, "session", "expected messages with it");
    }
    auto session = sessions_.find(name);
    if (session == sessions_.end()) {
      quire::SessionOptions options;
      options.cache = cache_of(line, *model_, model_->config().context);
      session = sessions_.emplace(name, quire::Session(generator_, std::move(options))).first;
    }
    return session->second.answer(std::exchange(request.messages, {}), request);
  }

  std::shared_ptr<const quire::Model> model_;
  quire::PrefixCache prefixes_;
  std::unique_ptr<quire::SemanticCache> answers_;  // null: none
  quire::Generator generator_;
  std::map<std::string, quire::Session> sessions_;
};

Json line_of(const Arguments& a) {
  Json line = Json::object();
  put(line, "prompt", a.file ? std::optional(read_file(*a.file)) : a.prompt);
  if (a.ids) line["ids"] = parse_option("--ids", "[" + *a.ids + "]");
  if (a.messages) line["messages"] = parse_option("--messages", *a.messages);
  put(line, "max_new_tokens", a.max_new_tokens);
  put(line, "temperature", a.temperature);
  put(line, "top_k", a.top_k);
  put(line, "top_p", a.top_p);
  put(line, "min_p", a.min_p);
  put(line, "repetition_penalty", a.repetition_penalty);
  put(line, "seed", a.seed);
  put(line, "n", a.n);
  put(line, "logprobs", a.logprobs);
  put(line, "kv", a.kv);
  put(line, "nbits", a.nbits);
  put(line, "window", a.window);
  put(line, "max_length", a.max_length);
  put(line, "draft", a.draft);
  if (a.draft_ids) line["draft_ids"] = parse_option("--draft-ids", "[" + *a.draft_ids + "]");
  if (a.prompt_lookup) line["prompt_lookup"] = true;
  if (a.ignore_eos) line["ignore_eos"] = true;
  if (!a.stop.empty()) line["stop"] = a.stop;
  return line;
}

void add_source_options(CLI::App& command, Arguments& a) {
  auto* source = command.add_option_group("what to generate from");
  source->add_option("-p,--prompt", a.prompt, "A text to continue");
  source->add_option("-f,--file", a.file, "A file with the text")->check(CLI::ExistingFile);
  source->add_option("--ids", a.ids, "Token ids, separated by commas");
  source->add_option("--messages", a.messages, "A conversation, as a JSON array of messages");
  source->require_option(0, 1);
}

void add_request_options(CLI::App& command, Arguments& a) {
  command.add_option("--max-new-tokens", a.max_new_tokens, "At most so many new tokens (20)");
  command.add_flag("--ignore-eos", a.ignore_eos, "Go on past the end-of-text token");
  command.add_option("--temperature", a.temperature, "0: always the likeliest token");
  command.add_option("--top-k", a.top_k, "Draw among the k likeliest");
  command.add_option("--top-p", a.top_p, "Draw among the likeliest that make up this probability");
  command.add_option("--min-p", a.min_p, "Drop what is below this share of the likeliest");
  command.add_option("--repetition-penalty", a.repetition_penalty, "Above 1: repeat less");
  command.add_option("--seed", a.seed, "Equal seeds, equal draws");
  command.add_option("--stop", a.stop, "End before this text; may be given again")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--n", a.n, "So many answers from one prefill");
  command.add_option("--logprobs", a.logprobs, "Report the k likeliest tokens of each step");
  command.add_option("--draft", a.draft,
                     "A guess at the answer, for speed: the answer stays as is");
  command.add_option("--draft-ids", a.draft_ids, "The same as token ids, separated by commas");
  command.add_flag("--prompt-lookup", a.prompt_lookup, "Guess from repetitions in the text, too");
  command.add_option("--kv", a.kv, "Keys and values: dynamic, static, quantized or sliding");
  command.add_option("--nbits", a.nbits, "For a quantised cache: 8, 4 or 2");
  command.add_option("--window", a.window, "For a sliding cache: tokens kept");
  command.add_option("--embedder", a.embedder,
                     "A sentence encoder, for lines with \"semantic\": true");
  command
      .add_option("--semantic-threshold", a.semantic_threshold,
                  "Least cosine for an answer to be reused")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--max-length", a.max_length, "For a static cache: tokens it can hold");
}

void print_for_people(const Arguments& a, Server& server) {
  const quire::Result result = server.stream(Fields(line_of(a).dump()));
  for (const quire::Choice& choice : result.choices) write(choice.text + "\n\n");
  if (result.choices.empty()) write("\n");
  std::ostringstream about;
  about << "[" << result.usage.prompt_tokens << " + " << result.usage.completion_tokens
        << " tokens, " << to_string(result.finish_reason) << "; "
        << static_cast<int>(result.timings.ttft_ms) << " ms to the first, "
        << static_cast<int>(result.timings.decode_tokens_per_s) << " tokens/s]";
  remark(a, about.str());
}

}  // namespace

void add_generate(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("generate", "Answer a prompt, ids or messages");
  add_example(*command, "generate smollm2 --prompt \"The capital of France is\" --json");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  add_source_options(*command, *a);
  add_request_options(*command, *a);
  add_run_options(*command, *a);
  command->add_option(
      "--prefix-disk", a->prefix_disk,
      "A file that keeps computed prefixes beyond this run; processes may share it");
  command->add_option("--redis", a->redis,
                      "redis://host:port or unix:/socket: a Redis that machines share prefixes by");
  add_output_options(*command, *a);
  command->callback([a, command] {
    if (!a->jsonl && !a->prompt && !a->file && !a->ids && !a->messages) {
      throw CLI::RequiredError("--prompt, --file, --ids, --messages or --jsonl");
    }
    Server server(*a);
    if (!a->jsonl && !a->json) return print_for_people(*a, server);
    answer(*a, a->jsonl ? Json::object() : line_of(*a),
           [&](const Fields& line) { return server.answer(line); }, {});
  });
}

}  // namespace cli
