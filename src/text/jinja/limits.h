// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// What bounds a render, and how a render fails.
//
// A render runs on one thread from start to end, and everything it makes (texts, lists, scopes) is
// charged to the Budget installed on that thread. Values made outside a render (constants of a
// parsed template, the caller's context) are not charged.
namespace quire::jinja {

// Why a template failed, as the reference groups it.
enum class FailureKind : std::uint8_t {
  kRaised,     // the template called raise_exception
  kUndefined,  // an undefined value was used
  kType,
  kValue,
  kSecurity,  // the sandbox forbids it
  kRuntime,   // an unknown filter was reached, …
  kLimit,     // steps, depth, memory
  kSyntax,
};

// Leaves the interpreter only as quire::Error.
class Failure : public std::runtime_error {
 public:
  Failure(FailureKind k, const std::string& message) : std::runtime_error(message), kind(k) {}

  FailureKind kind;
  int line = 0;  // of the statement or token; 0: not known
};

[[noreturn]] void fail(FailureKind kind, const std::string& message);
[[noreturn]] void type_error(const std::string& message);
[[noreturn]] void value_error(const std::string& message);

// An object that can be part of a reference cycle (namespaces, scopes, loops). Those alive when a
// render ends are taken apart, so that nothing leaks.
class Cyclic {
 public:
  Cyclic();
  virtual ~Cyclic();
  Cyclic(const Cyclic&) = delete;
  Cyclic& operator=(const Cyclic&) = delete;

  virtual void break_cycles() = 0;
  virtual std::shared_ptr<void> keep_alive() = 0;

 private:
  friend class Budget;
  Cyclic* previous_ = nullptr;
  Cyclic* next_ = nullptr;
  class Budget* budget_ = nullptr;
};

// The resources of one render.
//
// Thread-safety: one thread. At most one Budget is installed on a thread; an inner one takes over
// until it is destroyed.
class Budget {
 public:
  explicit Budget(const TemplateLimits& limits);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // nullptr outside a render.
  static Budget* current();

  // Throw Failure kLimit.
  void step(std::int64_t count = 1) {
    if ((steps_left_ -= count) < 0) out_of_steps();
  }
  void allocate(std::size_t bytes);
  std::size_t available() const { return limits_.max_output_bytes - live_; }
  void release(std::size_t bytes) { live_ -= bytes; }

  // Takes every living Cyclic apart.
  void break_cycles();

  const TemplateLimits& limits() const { return limits_; }
  int calls = 0;  // macro calls and recursive loops in progress
  int nodes = 0;  // nodes being evaluated, nested in each other

 private:
  friend class Cyclic;
  [[noreturn]] void out_of_steps() const;

  TemplateLimits limits_;
  std::int64_t steps_left_;
  std::size_t live_ = 0;
  Cyclic* first_ = nullptr;
  Budget* outer_;
};

// Steps and memory of whatever budget is installed; nothing outside a render.
void charge_steps(std::int64_t count);

// Refuses what would be larger than the render may still hold, before it is made.
void check_size(std::size_t count, std::size_t bytes_each);

// Memory that lives as long as the object that holds it.
class Charge {
 public:
  explicit Charge(std::size_t bytes);
  ~Charge();
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

 private:
  Budget* budget_;
  std::size_t bytes_;
};

// One level of recursion: evaluation, printing, comparing of nested values. What takes much of the
// stack counts for several. Throws Failure kLimit.
class Nested {
 public:
  explicit Nested(int weight = 1);
  ~Nested();
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Budget* budget_;
  int weight_;
};

}  // namespace quire::jinja
