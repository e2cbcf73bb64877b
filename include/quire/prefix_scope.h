// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>

#include <string>

namespace quire {

// Whose text it is. Pages are reused only where every field is equal: nothing ever crosses.
struct PrefixScope {
  std::string name_space = {};  // a tenant, an application
  std::string salt = {};        // anything else that must keep texts apart
  std::string adapter = {};     // of the weights, where there is one
};

// The model that pages belong to. Generators fill it in.
struct PrefixModel {
  std::string fingerprint = {};  // of the weights; equal ones compute equal pages
  KvSpec kv = {};
  std::string tokenizer = {};  // its fingerprint, where texts are kept beside their ids
};

}  // namespace quire
