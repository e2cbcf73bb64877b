// SPDX-License-Identifier: Apache-2.0
// Files of pages and snapshots name their model by its fingerprint: it must stay what it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::StartsWith;

// XXH3-128 of "NAME/TYPE/BYTES/" and the data of each tensor, in the order of the decoder.
TEST(ModelFingerprint, IsOfEveryTensor) {
  EXPECT_THAT(load(kModels / "llama")->fingerprint(),
              StartsWith("e5720b6013c3c74a807ab3ef454db642/"));
}

// Of a tensor that holds all experts of a layer, each expert has its own rows read, once: reading
// all of it for each would take hours with many experts.
TEST(ModelFingerprint, ReadsFusedExpertsOnce) {
  EXPECT_THAT(load(kModels / "gguf-mixtral.gguf")->fingerprint(),
              StartsWith("568284ce478ca73cf07fb74e310b3f99/"));
  EXPECT_THAT(load(kModels / "gguf-qwen3moe.gguf")->fingerprint(),
              StartsWith("62c6362355d4b454bafdbb6217c71a06/"));
}

}  // namespace
}  // namespace quire
