// SPDX-License-Identifier: Apache-2.0
#include <quire/result.h>

namespace quire {

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEos:
      return "eos";
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kDeadline:
      return "deadline";
  }
  return "unknown";
}

std::string_view to_string(AnswerSource source) {
  switch (source) {
    case AnswerSource::kModel:
      return "model";
    case AnswerSource::kExact:
      return "exact";
    case AnswerSource::kNormalized:
      return "normalized";
    case AnswerSource::kSemantic:
      return "semantic";
  }
  return "unknown";
}

}  // namespace quire
