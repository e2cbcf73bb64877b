// SPDX-License-Identifier: Apache-2.0
// Runs tests of kernels with every instruction set that the machine has.
#pragma once

#include <quire/cpu.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace quire {

inline std::vector<Isa> machine_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= detected_isa()) isas.push_back(isa);
  }
  return isas;
}

inline std::string isa_test_name(const testing::TestParamInfo<Isa>& info) {
  return isa_name(info.param);
}

// A fixture whose tests run with the parameter as the limit.
class IsaTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    set_isa_limit(GetParam());
    ASSERT_EQ(active_isa(), GetParam());
  }
  void TearDown() override { set_isa_limit(Isa::kAvx512); }
};

}  // namespace quire
