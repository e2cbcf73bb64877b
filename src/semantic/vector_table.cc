// SPDX-License-Identifier: Apache-2.0
#include "semantic/vector_table.h"

#include <Eigen/Core>
#include <algorithm>

namespace quire {

std::span<const float> VectorTable::row(std::size_t row) const {
  return std::span(values_).subspan(row * dimension_, dimension_);
}

void VectorTable::add(std::span<const float> unit) {
  // Grows by an eighth: the spare rows count as bytes.
  if (values_.size() + dimension_ > values_.capacity()) {
    values_.reserve((rows_ + rows_ / 8 + 4) * dimension_);
  }
  values_.insert(values_.end(), unit.begin(), unit.end());
  ++rows_;
}

void VectorTable::replace(std::size_t row, std::span<const float> unit) {
  std::ranges::copy(unit, values_.begin() + static_cast<std::ptrdiff_t>(row * dimension_));
}

void VectorTable::remove(std::size_t row) {
  --rows_;
  if (row != rows_) {
    const auto last = values_.begin() + static_cast<std::ptrdiff_t>(rows_ * dimension_);
    std::copy(last, last + static_cast<std::ptrdiff_t>(dimension_),
              values_.begin() + static_cast<std::ptrdiff_t>(row * dimension_));
  }
  values_.resize(rows_ * dimension_);
  if (values_.size() * 2 < values_.capacity()) values_.shrink_to_fit();
}

std::vector<Near> VectorTable::nearest(std::span<const float> unit, std::size_t count) const {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(rows_);
  const auto columns = static_cast<Eigen::Index>(dimension_);
  Eigen::VectorXf scores(rows);
  scores.noalias() = Eigen::Map<const Matrix>(values_.data(), rows, columns) *
                     Eigen::Map<const Eigen::VectorXf>(unit.data(), columns);
  std::vector<Near> best;
  const auto closer = [](const Near& a, const Near& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  };
  for (std::size_t row = 0; row < rows_; ++row) {
    const Near next{row, static_cast<double>(scores[static_cast<Eigen::Index>(row)])};
    if (best.size() == count && !closer(next, best.back())) continue;
    if (best.size() == count) best.pop_back();
    best.insert(std::ranges::upper_bound(best, next, closer), next);
  }
  return best;
}

}  // namespace quire
