// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>
#include <utility>

#include "models.h"
#include "progress.h"

namespace cli {
namespace {

using quire::DType;
using quire::Error;
using quire::ErrorCode;

constexpr std::pair<std::string_view, std::string_view> kLineEnds[] = {
    {"\u0085", "\\u0085"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}};

DType dtype_of(const std::string& name) {
  if (name == "f32") return DType::kF32;
  if (name == "bf16") return DType::kBF16;
  if (name == "f16") return DType::kF16;
  if (name == "native") return DType::kNative;
  return DType::kAuto;
}

// Runs the handler and turns what it throws into an error object.
Json answer_line(const std::string& line, const Handler& handler) {
  try {
    return handler(Fields(line));
  } catch (const Error& e) {
    return error_json(to_string(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return error_json(to_string(ErrorCode::kOutOfMemory), "the host refused an allocation");
  } catch (const std::exception& e) {
    return error_json("Internal", e.what());
  }
}

}  // namespace

void add_example(CLI::App& command, const std::string& line) {
  command.footer("Example:\n  quire " + line);
}

void add_model_argument(CLI::App& command, SharedOptions& options, const std::string& help) {
  command.add_option("model", options.model, help)->required()->type_name("MODEL");
}

void add_output_options(CLI::App& command, SharedOptions& options) {
  auto* json = command.add_flag("--json", options.json, "Print one JSON object");
  command
      .add_flag("--jsonl", options.jsonl,
                "Read one JSON object a line from stdin, write one a line to stdout")
      ->excludes(json);
  command.add_flag("-v,--verbose", options.verbose, "Progress and remarks on stderr");
}

void add_load_options(CLI::App& command, SharedOptions& options) {
  command
      .add_option("--dtype", options.dtype,
                  "Weights in memory; native keeps quantised blocks "
                  "(default: native for files that have some, else f32 or bf16, as they are)")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "native"}));
  command.add_option("--device", options.device, "Where to compute")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void add_run_options(CLI::App& command, SharedOptions& options) {
  add_load_options(command, options);
  command.add_flag("--explain-across-namespaces,!--no-explain-across-namespaces",
                   options.explain_across_namespaces,
                   "Say when another namespace holds a text (default: on)");
}

std::shared_ptr<const quire::Model> load_model(const SharedOptions& options) {
  quire::ModelOptions model;
  model.dtype = dtype_of(options.dtype);
  model.device = options.device == "cuda" ? quire::Device::kCuda : quire::Device::kCpu;
  model.threads = options.threads;
  if (talkative(options)) model.progress = Progress(options, "loading " + options.model);
  return quire::Model::load(find_model(options.model), model);
}

bool talkative(const SharedOptions& options) {
  return options.verbose || isatty(STDERR_FILENO) != 0;
}

void remark(const SharedOptions& options, std::string_view text) {
  if (talkative(options)) std::cerr << text << std::endl;
}

void write(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw OutputClosed();
}

// The characters that some readers take for the end of a line are escaped.
void write_line(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const auto* escape = std::find_if(std::begin(kLineEnds), std::end(kLineEnds),
                                      [&](const auto& e) { return rest.starts_with(e.first); });
    if (escape == std::end(kLineEnds)) {
      line += text[i++];
    } else {
      line += escape->second;
      i += escape->first.size();
    }
  }
  write(line + "\n");
}

void answer(const SharedOptions& options, const Json& arguments, const Handler& handler,
            const Printer& print) {
  if (!options.jsonl) {
    const Json result = handler(Fields(arguments.dump()));
    options.json ? write_line(result) : print(result);
    return;
  }
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    write_line(answer_line(line, handler));
  }
}

Json error_json(std::string_view code, std::string_view message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

std::string error_line(std::string_view code, std::string_view message) {
  std::string line = "error: " + std::string(code) + ": " + std::string(message);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line + "\n";
}

}  // namespace cli
