// SPDX-License-Identifier: Apache-2.0
#include "generate/admission.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

namespace quire {

Admission::Seat::Seat(Admission& admission, std::int64_t places, const Deadline& deadline)
    : admission_(admission) {
  Waiting me{std::min(places, admission.all_)};
  std::unique_lock lock(admission.mutex_);
  const auto place = admission.queue_.insert(admission.queue_.end(), &me);
  admission.admit();
  if (!me.admitted && std::ssize(admission.queue_) > admission.most_) {
    admission.queue_.erase(place);
    throw Error(ErrorCode::kOverloaded, "generate",
                "expected at most " + std::to_string(admission.most_) +
                    " requests to wait, found one more");
  }
  while (!me.admitted) {
    if (!deadline) {
      me.wake.wait(lock);
    } else if (me.wake.wait_until(lock, *deadline) == std::cv_status::timeout && !me.admitted) {
      admission.queue_.erase(place);
      admission.admit();  // it may have been in the way of somebody who needs fewer places
      return;
    }
  }
  held_ = me.places;
}

Admission::Seat::~Seat() {
  if (held_ == 0) return;
  const std::lock_guard lock(admission_.mutex_);
  admission_.free_ += held_;
  admission_.admit();
}

void Admission::admit() {
  while (!queue_.empty() && queue_.front()->places <= free_) {
    Waiting& first = *queue_.front();
    queue_.pop_front();
    free_ -= first.places;
    first.admitted = true;
    first.wake.notify_one();
  }
}

}  // namespace quire
