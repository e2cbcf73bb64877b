// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "cli/json.h"
#include "exchange.h"

namespace server {

// A reply as server-sent events, in the form that both APIs have: "data: JSON", with Anthropic's
// "event: NAME" before it.
class EventStream {
 public:
  explicit EventStream(const Emit& emit) : emit_(emit) {}

  // False: nobody listens any more.
  bool try_send(const cli::Json& data, std::string_view event = {});

  // Throws ClientGone then.
  void send(const cli::Json& data, std::string_view event = {});
  void send_done();  // OpenAI's last line

 private:
  const Emit& emit_;
};

// Runs `work` when the client reads. An error that it throws is the stream's last event. `place` is
// held until then.
Reply event_stream(bool anthropic, std::shared_ptr<void> place,
                   std::function<void(EventStream&)> work);

}  // namespace server
