// SPDX-License-Identifier: Apache-2.0
// quire convert IN OUT: a .gguf file as a Hugging Face directory.
#include <quire/convert.h>

#include <chrono>
#include <memory>
#include <sstream>

#include "commands.h"
#include "models.h"
#include "program.h"
#include "progress.h"
#include "terminal.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::string out;
};

quire::DType dtype_of(const std::string& name) {
  if (name == "f32") return quire::DType::kF32;
  if (name == "bf16") return quire::DType::kBF16;
  return quire::DType::kAuto;
}

Json convert(const Arguments& a) {
  // Ctrl-C ends it from within, so that nothing half written stays.
  InterruptFlag interrupted;
  quire::ConvertOptions options;
  options.dtype = dtype_of(a.dtype);
  options.progress = [&, progress = Progress(a, "converting " + a.model)](double fraction) mutable {
    if (interrupted.take()) {
      throw quire::Error(quire::ErrorCode::kIo, a.out, "interrupted; nothing was written");
    }
    progress(fraction);
  };
  const auto start = std::chrono::steady_clock::now();
  const quire::Converted made = quire::convert(find_model(a.model), a.out, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {{"path", made.path.string()},
          {"tensors", made.tensors},
          {"bytes", made.bytes},
          {"seconds", took.count()}};
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  out.precision(1);
  out << std::fixed << result.at("path").get<std::string>() << ": "
      << result.at("tensors").get<std::int64_t>() << " tensors, "
      << result.at("bytes").get<double>() / 1e6 << " MB in " << result.at("seconds").get<double>()
      << " s\n";
  write(out.str());
}

}  // namespace

void add_convert(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("convert", "A .gguf file as a directory that transformers loads");
  add_example(*command, "convert smollm2 smollm2-directory --dtype bf16");
  command->add_option("in", a->model, "A .gguf file or a packaged model's name")
      ->required()
      ->type_name("IN");
  command->add_option("out", a->out, "The folder to make; it may be there if it is empty")
      ->required()
      ->type_name("OUT");
  command
      ->add_option("--dtype", a->dtype,
                   "Of the weights (default: f32 if the file's matrices are, else bf16)")
      ->check(CLI::IsMember({"f32", "bf16"}));
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("-v,--verbose", a->verbose, "Progress on stderr");
  command->callback([a] {
    answer(
        *a, Json::object(), [&](const Fields&) { return convert(*a); }, print_for_people);
  });
}

}  // namespace cli
