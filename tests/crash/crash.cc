// SPDX-License-Identifier: Apache-2.0
// quire_crash KILLS [SEED]: lets a process generate with the disk tier and an answer file, and save
// snapshots, kills it at a random moment, looks at what is left, and lets the next one go on there.
// Ends with an error if anything that was reported stored is lost, any answer differs from that of
// a generator without caches, or any file is refused.
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "tests/crash/inspector.h"
#include "tests/crash/writer.h"
#include "tests/io/temporary_folder.h"

namespace quire::crash {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

constexpr Number kStride = 10000;  // questions of a writer, far more than it gets to
constexpr Microseconds kWorking{80000};

void kill_many(int kills, unsigned seed, Inspector& inspector, const fs::path& folder) {
  std::mt19937 random(seed);
  const auto wait = [&](Microseconds most) {
    std::this_thread::sleep_for(Microseconds(random() % static_cast<unsigned>(most.count())));
  };
  Microseconds opening{0};  // takes so long
  for (int round = 0; round < kills; ++round) {
    const Number first = static_cast<Number>(round) * kStride;
    const auto start = Clock::now();
    Writer writer(folder, first);
    if (round % 4 == 3) {  // while it loads, opens, repairs and begins
      wait(opening + kWorking / 4);
    } else {
      writer.wait_until_open();
      opening = std::chrono::duration_cast<Microseconds>(Clock::now() - start);
      wait(kWorking);
    }
    inspector.inspect(first, writer.kill());
  }
  inspector.inspect_all();
}

bool run(int kills, unsigned seed) {
  const test::TemporaryFolder folder;
  Inspector inspector(folder.path(), load_model());
  kill_many(kills, seed, inspector, folder.path());
  const Counts& counts = inspector.counts();
  std::cout << "crash: " << kills << " kills, " << counts.reported() << " entries reported stored ("
            << counts.answers << " answers, " << counts.pages << " texts, " << counts.snapshots
            << " snapshots), " << counts.lost << " lost, " << counts.wrong << " wrong, "
            << counts.refused << " files refused, " << counts.unfinished
            << " unfinished files left\n";
  return counts.good();
}

}  // namespace
}  // namespace quire::crash

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::string_view(argv[1]) == "--write") {
      quire::crash::write_until_killed(argv[2],
                                       static_cast<quire::crash::Number>(std::stoul(argv[3])));
    }
    if (argc != 2 && argc != 3) {
      std::cerr << "usage: quire_crash KILLS [SEED]\n";
      return 2;
    }
    const unsigned seed = argc == 3 ? static_cast<unsigned>(std::stoul(argv[2])) : 1;
    return quire::crash::run(std::stoi(argv[1]), seed) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "crash: " << error.what() << '\n';
    return 1;
  }
}
