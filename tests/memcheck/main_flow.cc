// SPDX-License-Identifier: Apache-2.0
// quire_main_flow: what an application does with a model, small enough for valgrind. Ends with an
// error if a cache changes an answer.
#include <quire/cpu.h>
#include <quire/dynamic_cache.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/snapshot.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/io/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

using quire::Generator;
using quire::Request;

const std::string kText = "The pages of a quire are folded once, and then sewn through the fold.";
const std::string kMore = " How many leaves are there?";

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("not so: ") + what);
}

Request request_for(std::string prompt, const quire::Sampling& sampling) {
  Request request;
  request.prompt = std::move(prompt);
  request.sampling = sampling;
  request.max_new_tokens = 8;
  request.ignore_eos = true;
  return request;
}

void reuse_prefix(Generator& generator, Generator& plain, const quire::Sampling& sampling) {
  const Request request = request_for(kText + kMore, sampling);
  generator.generate(request_for(kText, sampling));
  const quire::Result warm = generator.generate(request);
  require(warm.cache.reused.total() >= 32, "a known prefix is reused");
  require(warm.ids == plain.generate(request).ids, "a prefix cache changes nothing");
}

void reuse_snapshot(Generator& generator, Generator& plain, const quire::Sampling& sampling) {
  const quire::test::TemporaryFolder folder;
  generator.prefill(request_for(kText, sampling)).save(folder.path() / "snapshot");
  Request request = request_for(kMore, sampling);
  request.snapshot = quire::Snapshot::load(folder.path() / "snapshot", *generator.model());
  const quire::Result warm = plain.generate(request);
  require(warm.cache.reused.snapshot > 0, "a snapshot is reused");
  require(warm.ids == plain.generate(request_for(kText + kMore, sampling)).ids,
          "a snapshot changes nothing");
}

void fork_cache(Generator& generator, Generator& plain, const quire::Sampling& sampling) {
  quire::DynamicCache cache(generator.model()->kv_spec());
  Request request = request_for(kText, sampling);
  request.max_new_tokens = 1;
  request.cache = &cache;
  generator.generate(request);
  const auto fork = cache.fork();
  const auto expected = plain.generate(request_for(kText + kMore, sampling)).ids;
  for (quire::KvCache* branch : {static_cast<quire::KvCache*>(&cache), fork.get()}) {
    request = request_for(kMore, sampling);
    request.cache = branch;
    request.cache_ids = generator.tokenize(request_for(kText, sampling));
    require(generator.generate(request).ids == expected, "a fork changes nothing");
  }
}

void run(const std::shared_ptr<const quire::Model>& model) {
  Generator generator(model, {.threads = 2});
  Generator plain(model, {.threads = 2, .prefix_cache_bytes = 0});
  const quire::Sampling greedy;
  const quire::Sampling drawn = {.temperature = 0.9,
                                 .top_k = 40,
                                 .top_p = 0.95,
                                 .min_p = 0.01,
                                 .repetition_penalty = 1.1,
                                 .seed = 5};
  for (const quire::Sampling& sampling : {greedy, drawn}) {
    reuse_prefix(generator, plain, sampling);
    reuse_snapshot(generator, plain, sampling);
    fork_cache(generator, plain, sampling);
  }
}

}  // namespace

int main() {
  try {
    for (const quire::Isa isa : {quire::Isa::kPortable, quire::detected_isa()}) {
      quire::set_isa_limit(isa);
      run(quire::Model::load(QUIRE_TEST_DATA "/chat", {.dtype = quire::DType::kF32, .threads = 2}));
      std::cout << "main flow: " << quire::isa_name(isa) << " kernels\n";
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "main flow: " << error.what() << '\n';
    return 1;
  }
}
