// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "cli/json.h"
#include "exchange.h"

namespace server {

// Why a request got no answer: an HTTP status, and what both APIs' clients read beside it.
class ApiError : public std::runtime_error {
 public:
  ApiError(int http_status, const std::string& message, std::string name = {},
           std::string field = {})
      : std::runtime_error(message),
        status(http_status),
        code(std::move(name)),
        param(std::move(field)) {}

  int status;
  std::string code;   // "context_length_exceeded", …; may be empty
  std::string param;  // the field it is about; may be empty
};

// The client went away: nothing to say, and nobody to say it to.
struct ClientGone {};

// What is being handled, as a client may see it: errors of the library by what the client can do
// about them, anything unexpected as 500. REQUIRES: called while an exception is handled, which is
// not ClientGone.
ApiError current_error();

// {"error": {"message", "type", "param", "code"}} / {"type": "error", "error": {"type", "message"}}
cli::Json error_json(const ApiError& error, bool anthropic);

Reply error_reply(const ApiError& error, bool anthropic);
Reply json_reply(const cli::Json& body, int status = 200);

// Text of any bytes, as JSON must have it: what is not UTF-8 becomes U+FFFD.
std::string to_text(const cli::Json& json);

}  // namespace server
