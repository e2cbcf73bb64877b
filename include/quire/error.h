// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace quire {

// What went wrong, chosen by what the caller can do about it.
enum class ErrorCode {
  kNotFound,         // a file, model, tensor or key is not there
  kInvalidArgument,  // the caller's request or options make no sense; nothing was changed
  kUnsupported,      // well formed, but nothing here can handle it (architecture, block type, …)
  kCorrupt,          // a file contradicts itself, its format or its config
  kContextOverflow,  // prompt + new tokens would not fit the model's context or a fixed cache
  kEmptyPrompt,      // no token to start from, and the model has no BOS
  kOutOfPages,       // the page pool's byte budget is used up
  kOutOfMemory,      // the host refused an allocation
  kIo,               // the operating system failed a read, write or map
  kTemplate,         // a chat template raised an exception of its own, or hit a limit
  kOverloaded,       // more requests wait than may wait; try again later
  kBadNumber,        // NaN or infinity where a number was needed
};

// The stable spelling of a code: "NotFound", "InvalidArgument", …
QUIRE_EXPORT std::string_view to_string(ErrorCode code);

// The one exception type that leaves the library, but for std::bad_alloc where there is no memory
// even for small things. what() reads
//   <subject>: <problem>
// where the subject is the file (and tensor or key) it is about and the problem says what was
// expected and what was found.
//
// Thread-safety: immutable once made.
class QUIRE_EXPORT Error : public std::runtime_error {
 public:
  // Note: `subject` may be empty when the problem is about no file or key.
  Error(ErrorCode code, std::string_view subject, std::string_view problem);
  ~Error() override;

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace quire
