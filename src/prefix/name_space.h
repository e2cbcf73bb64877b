// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>
#include <quire/prefix_cache.h>
#include <quire/prefix_index.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// Everything besides the text that a page of keys and values depends on, or that must keep texts
// apart. Two namespaces are one exactly when all their fields are equal; every tier and every file
// uses this one function of them.
struct NameSpace {
  struct Field {
    std::string_view name;
    std::string value;
    bool operator==(const Field&) const = default;
  };
  std::vector<Field> fields;

  // XXH3-128 over the fields, each as name and value with their lengths before them, so that no
  // two lists of fields read the same.
  BlockKey digest() const;

  // The name of the first field that differs; empty if none does.
  std::string_view difference(const NameSpace& other) const;

  std::int64_t bytes() const;

  bool operator==(const NameSpace&) const = default;
};

NameSpace make_name_space(const PrefixModel& model, std::int64_t block_size,
                          const PrefixScope& scope);

}  // namespace quire
