// SPDX-License-Identifier: Apache-2.0
// server MODEL [PORT [EMBEDDER]]: the OpenAI and Anthropic shaped server around one model; both are
// paths. `quire serve` is the same with names for models and more options.
#include <quire/error.h>

#include <cstdlib>
#include <iostream>

#include "serving.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return 2;
  try {
    server::EngineOptions options{.model_id = argv[1]};
    std::shared_ptr<const quire::Embedder> embedder;
    if (argc > 3) {
      options.embedder_id = argv[3];
      embedder = quire::Embedder::load(argv[3]);
    }
    server::Engine engine(quire::Model::load(argv[1]), embedder, options);
    server::serve_until_signal(engine, {.port = argc > 2 ? std::atoi(argv[2]) : 8080});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
