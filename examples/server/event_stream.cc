// SPDX-License-Identifier: Apache-2.0
#include "event_stream.h"

#include <string>
#include <utility>

#include "api_error.h"

namespace server {

bool EventStream::try_send(const cli::Json& data, std::string_view event) {
  std::string text;
  if (!event.empty()) text = "event: " + std::string(event) + "\n";
  return emit_(text + "data: " + to_text(data) + "\n\n");
}

void EventStream::send(const cli::Json& data, std::string_view event) {
  if (!try_send(data, event)) throw ClientGone();
}

void EventStream::send_done() {
  if (!emit_("data: [DONE]\n\n")) throw ClientGone();
}

Reply event_stream(bool anthropic, std::shared_ptr<void> place,
                   std::function<void(EventStream&)> work) {
  Reply reply{.type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}}};
  reply.stream = [anthropic, place = std::move(place), work = std::move(work)](const Emit& emit) {
    EventStream events(emit);
    try {
      work(events);
    } catch (const ClientGone&) {
    } catch (...) {
      events.try_send(error_json(current_error(), anthropic), anthropic ? "error" : "");
    }
  };
  return reply;
}

}  // namespace server
