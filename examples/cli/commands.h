// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// Each declares one command; it runs when the command line is parsed.
namespace cli {

void add_generate(CLI::App& app);
void add_chat(CLI::App& app);
void add_logits(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_detokenize(CLI::App& app);
void add_render(CLI::App& app);
void add_embed(CLI::App& app);
void add_inspect(CLI::App& app);
void add_convert(CLI::App& app);
void add_pull(CLI::App& app);
void add_replay(CLI::App& app);
void add_semantic(CLI::App& app);
void add_pairs(CLI::App& app);
void add_snapshot(CLI::App& app);
void add_divergence(CLI::App& app);
void add_serve(CLI::App& app);
void add_bench(CLI::App& app);

}  // namespace cli
