// SPDX-License-Identifier: Apache-2.0
#include "generate/scheduler.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "kernels/thread_pool.h"

namespace quire {
namespace {

// How long a pass waits for callbacks: a share of the time the last pass took, within limits.
constexpr std::int64_t kGraceShare = 4;
constexpr std::chrono::microseconds kLeastGrace{100};
constexpr std::chrono::microseconds kMostGrace{5000};

}  // namespace

struct Scheduler::Member {
  enum class State {
    kReady,   // for the next pass
    kInPass,  // computed, or its logits taken by whoever makes the pass
    kTake,    // its own thread is to take the logits, or does
    kExpire,  // its own thread is to end it, or does
    kDone,
  };

  Run& run;
  const bool streams;
  State state = State::kReady;
  bool expired = false;
  bool slow = false;  // its callback outlasted the grace lately: nobody waits for it
  std::condition_variable wake = {};
  std::exception_ptr error = nullptr;

  // Of the pass.
  std::int64_t chunk = 0;
  std::int64_t rows = 0;
  float* first_row = nullptr;
  at::Tensor logits = {};

  bool takes_itself() const { return state == State::kTake || state == State::kExpire; }

  void give(const at::Tensor& all, std::int64_t row) noexcept {
    try {
      logits = all.cpu();
      first_row = logits.mutable_data_ptr<float>() + row * logits.size(1);
    } catch (...) {
      error = std::current_exception();
    }
  }

  void take() noexcept {
    try {
      state == State::kExpire ? run.expire() : run.take(first_row, logits.size(1));
    } catch (...) {
      error = std::current_exception();
    }
    logits.reset();
    first_row = nullptr;
  }

  State next_state() const { return error || run.done() ? State::kDone : State::kReady; }
};

// Among those that a pass is made for. REQUIRES the lock, from beginning to end.
class Scheduler::Membership {
 public:
  Membership(Scheduler& scheduler, Member& member) : scheduler_(scheduler), member_(member) {
    scheduler.members_.push_back(&member);
  }
  ~Membership() {
    std::erase(scheduler_.members_, &member_);
    scheduler_.wake_another(member_);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  Scheduler& scheduler_;
  Member& member_;
};

Scheduler::Scheduler(const Model& model, ThreadPool& threads, const Options& options)
    : model_(model), threads_(threads), options_(options) {}
Scheduler::~Scheduler() = default;

void Scheduler::drive(Run& run, bool streams) {
  using enum Member::State;
  if (run.done()) return;
  Member me{run, streams};
  Lock lock(mutex_);
  std::optional<Membership> membership(std::in_place, *this, me);
  while (me.state != kDone) {
    if (me.takes_itself()) {
      if (last_maker_ == &me) wake_another(me);
      const Clock::time_point due = grace_ends_;
      lock.unlock();
      me.take();
      lock.lock();
      me.slow = Clock::now() > due;
      me.state = me.next_state();
    } else if (!in_pass_ && may_start(Clock::now())) {
      make_pass(me, lock);
    } else if (!in_pass_) {
      me.wake.wait_until(lock, grace_ends_);
    } else {
      me.wake.wait(lock);
    }
  }
  membership.reset();
  lock.unlock();
  if (me.error) std::rethrow_exception(me.error);
}

bool Scheduler::may_start(Clock::time_point now) const {
  if (now >= grace_ends_) return true;
  return std::ranges::none_of(
      members_, [](const Member* member) { return member->takes_itself() && !member->slow; });
}

// Whoever stops looking after the passes sees to it that somebody else does: as long as a member is
// ready and no pass is made, one that is ready is awake, or waits for callbacks no longer than the
// grace. Members that take their logits look for themselves when they are ready again.
void Scheduler::wake_another(const Member& me) {
  using enum Member::State;
  if (in_pass_) return;
  for (Member* member : members_) {
    if (member == &me || member->state != kReady) continue;
    member->wake.notify_one();
    return;
  }
}

void Scheduler::make_pass(const Member& me, Lock& lock) {
  using enum Member::State;
  const Clock::time_point start = Clock::now();
  std::vector<Member*> pass;
  pass.reserve(members_.size());
  in_pass_ = true;
  last_maker_ = &me;
  bool decoding = false;
  for (Member* member : members_) {
    if (member->takes_itself()) {
      member->slow = true;
      decoding = true;
    } else if (member->state == kReady) {
      const bool over = member->run.is_over();
      member->state = over && !member->expired ? kExpire : kInPass;
      member->expired = over;
      if (member->state == kExpire) {
        member->wake.notify_one();
      } else {
        pass.push_back(member);
      }
    }
  }
  lock.unlock();
  compute(pass, decoding);
  lock.lock();
  in_pass_ = false;
  for (Member* member : pass) {
    const bool taken = member->first_row == nullptr;
    member->state = taken ? member->next_state() : kTake;
    if (member->state != kReady) member->wake.notify_one();
  }
  const Clock::time_point end = Clock::now();
  grace_ends_ =
      end + std::clamp<Clock::duration>((end - start) / kGraceShare, kLeastGrace, kMostGrace);
}

void Scheduler::compute(const std::vector<Member*>& pass, bool decoding) const {
  at::Tensor logits;
  try {
    share_chunk(pass, decoding);
    std::vector<Sequence> batch;
    for (Member* member : pass) plan(*member, true, batch);
    if (batch.empty()) return;
    logits = model_.forward(batch, &threads_);
  } catch (...) {
    // Whose fault it is shows when each is on its own.
    for (Member* member : pass) compute_alone(*member);
  }
  if (logits.defined()) {
    std::int64_t row = 0;
    for (Member* member : pass) {
      member->give(logits, row);
      row += member->rows;
    }
  }
  take_all(pass);
}

// A draft must not fail a run that would do without it, and another's failure must not cost it its
// draft.
void Scheduler::compute_alone(Member& member) const {
  for (const bool drafts : {true, false}) {
    try {
      std::vector<Sequence> batch;
      plan(member, drafts, batch);
      member.give(model_.forward(batch, &threads_), 0);
      return;
    } catch (...) {
      if (!drafts) member.error = std::current_exception();
    }
  }
}

void Scheduler::plan(Member& member, bool drafts, std::vector<Sequence>& batch) const {
  const std::size_t first = batch.size();
  member.run.plan(member.chunk, drafts, batch);
  member.rows = 0;
  for (std::size_t i = first; i < batch.size(); ++i) member.rows += batch[i].logits;
}

// The fair share of a prompt that has less to read goes to those that have more.
void Scheduler::share_chunk(const std::vector<Member*>& pass, bool decoding) const {
  std::vector<Member*> readers;
  for (Member* member : pass) {
    if (member->run.unread() > 0) readers.push_back(member);
  }
  std::ranges::stable_sort(readers, {}, [](const Member* member) { return member->run.unread(); });
  const bool shared = decoding || readers.size() < pass.size();
  std::int64_t left = shared ? std::min(options_.chunk, options_.shared_chunk) : options_.chunk;
  std::int64_t count = std::ssize(readers);
  for (Member* member : readers) {
    member->chunk = std::clamp<std::int64_t>(left / count, 1, member->run.unread());
    left = std::max<std::int64_t>(left - member->chunk, 0);
    --count;
  }
}

// Takes what nobody's callback is to hear of.
void Scheduler::take_all(const std::vector<Member*>& pass) const {
  std::atomic<std::size_t> next{0};
  const auto work = [&](int, int) {
    for (std::size_t i = next++; i < pass.size(); i = next++) {
      Member& member = *pass[i];
      if (member.error || (member.streams && member.rows > 0)) continue;
      member.take();
    }
  };
  run_on(pass.size() > 1 ? &threads_ : nullptr, work);
}

}  // namespace quire
