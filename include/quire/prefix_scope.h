// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace quire {

// Whose text it is. Pages are reused only where every field is equal: nothing ever crosses.
struct PrefixScope {
  std::string name_space = {};  // a tenant, an application
  std::string salt = {};        // anything else that must keep texts apart
  std::string adapter = {};     // of the weights, where there is one
};

}  // namespace quire
