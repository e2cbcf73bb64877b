// SPDX-License-Identifier: Apache-2.0
// quire chat MODEL: a conversation in the terminal. Ctrl-C ends the answer, not the program.
#include <quire/generator.h>
#include <quire/session.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "program.h"
#include "terminal.h"

namespace cli {
namespace {

constexpr std::string_view kHelp =
    "/reset   start again\n"
    "/fork    keep a copy of the conversation as it is here\n"
    "/back    return to the copy kept last\n"
    "/save F  keep the conversation and its cache in the file F\n"
    "/load F  go on from such a file\n"
    "/stats   what the last answer took\n"
    "/help    this list\n"
    "/exit    leave, as the end of input does\n"
    "Ctrl-C ends an answer.\n";

struct Arguments : SharedOptions {
  std::string system;
  std::int64_t max_new_tokens = 512;
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> seed;
};

class Conversation {
 public:
  Conversation(const Arguments& a, quire::Generator& generator)
      : options_(a), session_(generator, start(a)) {
    request_.max_new_tokens = a.max_new_tokens;
    quire::Sampling sampling = generator.model()->generation_defaults().sampling;
    sampling.temperature = a.temperature.value_or(sampling.temperature);
    sampling.top_p = a.top_p.value_or(sampling.top_p);
    sampling.seed = a.seed.value_or(sampling.seed);
    request_.sampling = sampling;
  }

  // Until /exit or the end of input.
  void run() {
    const bool terminal = isatty(STDIN_FILENO) != 0;
    while (true) {
      if (terminal) write("> ");
      const std::optional<std::string> line = lines_.next();
      if (!line || *line == "/exit") break;
      if (interrupt_.take() && terminal) write("\n");
      if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
      line->front() == '/' ? obey(*line) : reply(*line);
    }
    if (terminal) write("\n");
  }

 private:
  static quire::SessionOptions start(const Arguments& a) {
    quire::SessionOptions options;
    if (!a.system.empty()) options.messages = {{"system", a.system}};
    return options;
  }

  void reply(const std::string& text) {
    try {
      last_ = session_.say(text, request_, [&](std::string_view chunk) {
        write(chunk);
        return interrupt_.take() ? quire::Stream::kStop : quire::Stream::kContinue;
      });
      write("\n");
    } catch (const quire::Error& e) {
      std::cerr << error_line(to_string(e.code()), e.what());
    }
  }

  void obey(const std::string& command) {
    const std::string name = command.substr(0, command.find(' '));
    if (name == "/reset") {
      session_.reset();
      last_.reset();
    } else if (name == "/fork") {
      kept_.push_back(session_.fork());
      remark(options_, "kept; /back returns here");
    } else if (name == "/back") {
      back();
    } else if (name == "/stats") {
      write(stats());
    } else if (name == "/help") {
      write(kHelp);
    } else if (name == "/save" || name == "/load") {
      use_file(name, command);
    } else {
      std::cerr << error_line("InvalidArgument", name + ": unknown; see /help");
    }
  }

  void use_file(const std::string& name, const std::string& command) {
    const std::size_t begin = command.find_first_not_of(" \t", name.size());
    if (begin == std::string::npos) {
      std::cerr << error_line("InvalidArgument", name + ": expected a file");
      return;
    }
    const std::string path = command.substr(begin, command.find_last_not_of(" \t\r") + 1 - begin);
    try {
      name == "/save" ? session_.save(path) : session_.load(path);
      if (name == "/load") last_.reset();
      remark(options_, name == "/save" ? "saved" : "loaded");
    } catch (const quire::Error& e) {
      std::cerr << error_line(to_string(e.code()), e.what());
    }
  }

  void back() {
    if (kept_.empty()) {
      std::cerr << error_line("InvalidArgument", "/back: expected a /fork before it");
      return;
    }
    session_ = std::move(kept_.back());
    kept_.pop_back();
    last_.reset();
  }

  std::string stats() const {
    std::ostringstream out;
    out << session_.messages().size() << " messages, " << session_.cache().length()
        << " tokens in the cache, " << session_.cache().bytes() << " bytes\n";
    if (!last_) return out.str();
    const quire::Usage& usage = last_->usage;
    out << "last answer: " << usage.cached_tokens << " of " << usage.prompt_tokens
        << " prompt tokens from the cache, " << usage.completion_tokens << " new, "
        << to_string(last_->finish_reason) << "; "
        << static_cast<std::int64_t>(last_->timings.ttft_ms) << " ms to the first, "
        << static_cast<std::int64_t>(last_->timings.decode_tokens_per_s) << " tokens/s\n";
    return out.str();
  }

  const SharedOptions& options_;
  InterruptFlag interrupt_;
  LineReader lines_;
  quire::Session session_;
  std::vector<quire::Session> kept_;
  quire::Request request_;
  std::optional<quire::Result> last_;
};

}  // namespace

void add_chat(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("chat", "A conversation in the terminal");
  add_example(*command, "chat smollm2 --system \"Answer in one sentence.\"");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  command->add_option("--system", a->system, "A system message");
  command->add_option("--max-new-tokens", a->max_new_tokens, "The longest answer")
      ->capture_default_str();
  command->add_option("--temperature", a->temperature, "0: always the likeliest token");
  command->add_option("--top-p", a->top_p,
                      "Draw among the likeliest that make up this probability");
  command->add_option("--seed", a->seed, "Equal seeds, equal draws");
  add_run_options(*command, *a);
  command->add_flag("-v,--verbose", a->verbose, "Progress and remarks on stderr");
  command->callback([a] {
    quire::Generator generator(load_model(*a), {.threads = a->threads});
    if (isatty(STDIN_FILENO) != 0) remark(*a, "/help lists what else there is");
    Conversation(*a, generator).run();
  });
}

}  // namespace cli
