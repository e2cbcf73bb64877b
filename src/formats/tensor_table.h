// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// The tensors of a checkpoint, found by name. Those of types that hold no weights (integers,
// booleans, complex numbers) are legal in files, where models keep counters and position ids: they
// are left out, but asking for one is an error that says so.
//
// Thread-safety: immutable once built.
class TensorTable {
 public:
  void add(TensorInfo tensor) { tensors_.push_back(std::move(tensor)); }
  void add_other(std::string name, std::string_view type) {
    others_.push_back({std::move(name), std::string(type)});
  }

  // Ends the adding. Throws Error kCorrupt, naming `subject`, when two tensors share a name.
  void finish(std::string_view subject);

  std::span<const TensorInfo> tensors() const { return tensors_; }  // in the order added

  // nullptr if there is none. Throws Error kUnsupported, naming `subject`, for one of another type.
  const TensorInfo* find(std::string_view name, std::string_view subject) const;

 private:
  struct Other {
    std::string name;
    std::string type;
  };

  std::vector<TensorInfo> tensors_;
  std::vector<std::uint32_t> by_name_;  // indices into tensors_
  std::vector<Other> others_;           // by name
};

}  // namespace quire
