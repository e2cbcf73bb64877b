// SPDX-License-Identifier: Apache-2.0
// The quire program, over the public headers only. `quire COMMAND --help` tells the rest.
#include <quire/cpu.h>
#include <quire/error.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

#include "commands.h"
#include "program.h"

namespace {

// QUIRE_CPU=portable|avx2|avx512 keeps the kernels to that instruction set.
void limit_instruction_set() {
  const char* wanted = std::getenv("QUIRE_CPU");
  if (!wanted || !*wanted) return;
  for (const quire::Isa isa : {quire::Isa::kPortable, quire::Isa::kAvx2, quire::Isa::kAvx512}) {
    if (std::string_view(wanted) == quire::isa_name(isa)) return quire::set_isa_limit(isa);
  }
  throw quire::Error(quire::ErrorCode::kInvalidArgument, "QUIRE_CPU",
                     "expected portable, avx2 or avx512, found " + std::string(wanted));
}

int run(int argc, char** argv) {
  CLI::App app("Decoder language models with exact, explained caches", "quire");
  app.require_subcommand(1);
  app.footer(
      "Start with `quire pull smollm2` and `quire chat smollm2`; `quire COMMAND --help` has an "
      "example of each.");
  app.set_version_flag("--version", "quire " QUIRE_VERSION);
  cli::add_generate(app);
  cli::add_chat(app);
  cli::add_logits(app);
  cli::add_tokenize(app);
  cli::add_detokenize(app);
  cli::add_render(app);
  cli::add_embed(app);
  cli::add_inspect(app);
  cli::add_convert(app);
  cli::add_pull(app);
  cli::add_replay(app);
  cli::add_semantic(app);
  cli::add_pairs(app);
  cli::add_snapshot(app);
  cli::add_divergence(app);
  cli::add_serve(app);
  cli::add_bench(app);
  try {
    limit_instruction_set();
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away shows as a failed write, which ends the program quietly.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const cli::OutputClosed&) {
  } catch (const quire::Error& e) {
    std::cerr << cli::error_line(to_string(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    std::cerr << cli::error_line("OutOfMemory", "the host refused an allocation");
  } catch (const std::exception& e) {
    std::cerr << cli::error_line("Internal", e.what());
  }
  return 1;
}
