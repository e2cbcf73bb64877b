// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

namespace quire {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kUnsupported:
      return "Unsupported";
    case ErrorCode::kCorrupt:
      return "Corrupt";
    case ErrorCode::kContextOverflow:
      return "ContextOverflow";
    case ErrorCode::kEmptyPrompt:
      return "EmptyPrompt";
    case ErrorCode::kOutOfPages:
      return "OutOfPages";
    case ErrorCode::kOutOfMemory:
      return "OutOfMemory";
    case ErrorCode::kIo:
      return "Io";
    case ErrorCode::kTemplate:
      return "Template";
    case ErrorCode::kOverloaded:
      return "Overloaded";
    case ErrorCode::kBadNumber:
      return "BadNumber";
  }
  return "Unknown";
}

namespace {

std::string join(std::string_view subject, std::string_view problem) {
  std::string text(subject);
  if (!text.empty()) text += ": ";
  text += problem;
  return text;
}

}  // namespace

Error::Error(ErrorCode code, std::string_view subject, std::string_view problem)
    : std::runtime_error(join(subject, problem)), code_(code) {}

Error::~Error() = default;

}  // namespace quire
