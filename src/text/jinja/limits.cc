// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/limits.h"

namespace quire::jinja {
namespace {

thread_local Budget* installed = nullptr;

// Nodes (statements, expressions, values within values) that may be nested for each level of
// TemplateLimits::max_depth: a macro call takes about eight.
constexpr int kNodesPerLevel = 16;

}  // namespace

void fail(FailureKind kind, const std::string& message) { throw Failure(kind, message); }
void type_error(const std::string& message) { fail(FailureKind::kType, message); }
void value_error(const std::string& message) { fail(FailureKind::kValue, message); }

Cyclic::Cyclic() : budget_(Budget::current()) {
  if (budget_ == nullptr) return;
  next_ = budget_->first_;
  if (next_ != nullptr) next_->previous_ = this;
  budget_->first_ = this;
}

Cyclic::~Cyclic() {
  if (budget_ == nullptr) return;
  if (previous_ != nullptr) {
    previous_->next_ = next_;
  } else {
    budget_->first_ = next_;
  }
  if (next_ != nullptr) next_->previous_ = previous_;
}

Budget::Budget(const TemplateLimits& limits)
    : limits_(limits), steps_left_(limits.max_steps), outer_(installed) {
  installed = this;
}

Budget::~Budget() { installed = outer_; }

Budget* Budget::current() { return installed; }

void Budget::out_of_steps() const {
  fail(FailureKind::kLimit,
       "the template runs for more than " + std::to_string(limits_.max_steps) + " steps");
}

void Budget::allocate(std::size_t bytes) {
  if (bytes > available()) {
    fail(FailureKind::kLimit, "the template needs more than " +
                                  std::to_string(limits_.max_output_bytes) +
                                  " bytes for its text and values");
  }
  live_ += bytes;
}

void Budget::break_cycles() {
  std::vector<std::shared_ptr<void>> kept;  // so that the list does not change under our feet
  for (Cyclic* c = first_; c != nullptr; c = c->next_) kept.push_back(c->keep_alive());
  for (Cyclic* c = first_; c != nullptr; c = c->next_) c->break_cycles();
}

void charge_steps(std::int64_t count) {
  if (installed != nullptr) installed->step(count);
}

void check_size(std::size_t count, std::size_t bytes_each) {
  if (installed == nullptr) return;
  const std::size_t limit = installed->available();
  if (bytes_each != 0 && count > limit / bytes_each) {
    fail(FailureKind::kLimit, "a value of " + std::to_string(count) +
                                  " elements would need more than the " + std::to_string(limit) +
                                  " bytes that are left");
  }
}

Charge::Charge(std::size_t bytes) : budget_(installed), bytes_(bytes) {
  if (budget_ != nullptr) budget_->allocate(bytes);
}

Charge::~Charge() {
  if (budget_ != nullptr) budget_->release(bytes_);
}

Nested::Nested(int weight) : budget_(installed), weight_(weight) {
  if (budget_ == nullptr) return;
  if (budget_->nodes >= budget_->limits().max_depth * kNodesPerLevel) {
    fail(FailureKind::kLimit, "recursion is deeper than the limit of " +
                                  std::to_string(budget_->limits().max_depth) + " levels");
  }
  budget_->nodes += weight_;
}

Nested::~Nested() {
  if (budget_ != nullptr) budget_->nodes -= weight_;
}

}  // namespace quire::jinja
