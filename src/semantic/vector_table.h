// SPDX-License-Identifier: Apache-2.0
// Unit vectors in rows, scanned whole. A row's number changes only when another one is removed: the
// last row then takes its place.
//
// Thread-safety: const methods may run concurrently.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quire {

struct Near {
  std::size_t row = 0;
  double score = 0;  // cosine
};

class VectorTable {
 public:
  explicit VectorTable(std::size_t dimension) : dimension_(dimension) {}

  std::size_t rows() const { return rows_; }
  std::size_t bytes() const { return values_.capacity() * sizeof(float); }
  std::span<const float> row(std::size_t row) const;

  // REQUIRES: unit.size() is the dimension.
  void add(std::span<const float> unit);
  void replace(std::size_t row, std::span<const float> unit);
  // The last row moves to `row`.
  void remove(std::size_t row);

  // The `count` rows of the greatest cosines, nearest first; equal ones by row.
  std::vector<Near> nearest(std::span<const float> unit, std::size_t count) const;

 private:
  std::size_t dimension_;
  std::size_t rows_ = 0;
  std::vector<float> values_;
};

}  // namespace quire
