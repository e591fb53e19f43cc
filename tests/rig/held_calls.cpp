#include "tests/rig/held_calls.h"

#include <algorithm>
#include <utility>

namespace gputrace::rig {

void HeldCalls::hold_while(const RigControl::Switch& is_on, fuse_req_t request,
                           std::function<void()> answer) {
  add({request, &is_on, 0, std::move(answer)});
  ::sem_post(&control_->read_is_held);
}

void HeldCalls::delay_until(std::int64_t due_ns, fuse_req_t request, std::function<void()> answer) {
  add({request, nullptr, due_ns, std::move(answer)});
}

void HeldCalls::add(Call call) {
  calls_.push_back(std::move(call));
  control_->held = calls_.size();
}

void HeldCalls::release(std::int64_t now_ns) {
  const auto is_due = [&](const Call& call) {
    return call.is_on != nullptr ? *call.is_on == 0 : call.due_ns <= now_ns;
  };
  const auto first_due = std::stable_partition(calls_.begin(), calls_.end(),
                                               [&](const Call& call) { return !is_due(call); });
  if (first_due == calls_.end()) {
    return;
  }
  std::vector<Call> due(std::make_move_iterator(first_due), std::make_move_iterator(calls_.end()));
  calls_.erase(first_due, calls_.end());
  for (const Call& call : due) {
    call.answer();
  }
  control_->held = calls_.size();
}

std::optional<std::int64_t> HeldCalls::next_due_ns() const {
  std::optional<std::int64_t> next;
  for (const Call& call : calls_) {
    if (call.is_on == nullptr) {
      next = std::min(next.value_or(call.due_ns), call.due_ns);
    }
  }
  return next;
}

void HeldCalls::refuse_all(int error_number) {
  for (const Call& call : std::exchange(calls_, {})) {
    fuse_reply_err(call.request, error_number);
  }
  control_->held = 0;
}

}  // namespace gputrace::rig
