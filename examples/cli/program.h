// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "json.h"

// What the commands share: options, the way in and out. Only results go to stdout; progress goes
// to stderr, and only when it is a terminal or --verbose is given.
namespace cli {

struct SharedOptions {
  std::string model;
  std::string dtype;  // empty: what the files hold, see quire::DType::kAuto
  std::string device = "cpu";
  int threads = 0;
  bool explain_across_namespaces = true;
  bool json = false;
  bool jsonl = false;
  bool verbose = false;
};

// The standard output is closed: nothing more to say, and nobody to say it to.
struct OutputClosed {};

// Shows a line to start from, such as "pull smollm2", at the end of a command's help.
void add_example(CLI::App& command, const std::string& line);

// Declare the options on a command; parts, because not every command has all.
void add_model_argument(CLI::App& command, SharedOptions& options, const std::string& help);
void add_output_options(CLI::App& command, SharedOptions& options);
void add_load_options(CLI::App& command, SharedOptions& options);  // --dtype, --device, --threads
void add_run_options(CLI::App& command, SharedOptions& options);   // and --explain-across-…

// Loads a model, with progress.
std::shared_ptr<const quire::Model> load_model(const SharedOptions& options);

// Whether progress and remarks are wanted.
bool talkative(const SharedOptions& options);
void remark(const SharedOptions& options, std::string_view text);

// Writes to stdout and flushes. Throws OutputClosed.
void write(std::string_view text);
void write_line(const Json& value);

// How a command answers one request.
using Handler = std::function<Json(const Fields& request)>;
// Writes a result for people.
using Printer = std::function<void(const Json& result)>;

// Without --jsonl: answers `arguments`, the request made from the command line, as JSON with --json
// and else by `print`. With --jsonl: answers each line of stdin with one line, an error too.
void answer(const SharedOptions& options, const Json& arguments, const Handler& handler,
            const Printer& print);

// {"error": {"code", "message"}} / "error: CODE: message", on one line.
Json error_json(std::string_view code, std::string_view message);
std::string error_line(std::string_view code, std::string_view message);

}  // namespace cli
