// SPDX-License-Identifier: Apache-2.0
#include "api_error.h"

#include <quire/error.h>

#include <new>
#include <string_view>

namespace server {
namespace {

using cli::Json;
using quire::ErrorCode;

ApiError from_library(const quire::Error& error) {
  const std::string_view what = error.what();
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return {400, error.what(), {}, std::string(what.substr(0, what.find(": ")))};
    case ErrorCode::kContextOverflow:
      return {400, error.what(), "context_length_exceeded"};
    case ErrorCode::kEmptyPrompt:
    case ErrorCode::kTemplate:
    case ErrorCode::kUnsupported:
      return {400, error.what()};
    case ErrorCode::kOverloaded:
      return {429, error.what(), "rate_limit_exceeded"};
    case ErrorCode::kOutOfPages:
    case ErrorCode::kOutOfMemory:
      return {503, error.what()};
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kBadNumber:
      break;
  }
  return {500, error.what()};
}

std::string_view openai_type(int status) {
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

ApiError current_error() {
  try {
    throw;
  } catch (const ApiError& error) {
    return error;
  } catch (const quire::Error& error) {
    return from_library(error);
  } catch (const std::bad_alloc&) {
    return {503, "the host refused an allocation"};
  } catch (const std::exception& error) {
    return {500, error.what()};
  }
}

Json error_json(const ApiError& error, bool anthropic) {
  if (anthropic) {
    return {{"type", "error"},
            {"error", {{"type", anthropic_type(error.status)}, {"message", error.what()}}}};
  }
  return {{"error",
           {{"message", error.what()},
            {"type", openai_type(error.status)},
            {"param", or_null(error.param)},
            {"code", or_null(error.code)}}}};
}

Reply error_reply(const ApiError& error, bool anthropic) {
  Reply reply = json_reply(error_json(error, anthropic), error.status);
  if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.status == 429) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Reply json_reply(const Json& body, int status) { return {.status = status, .body = to_text(body)}; }

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace server
