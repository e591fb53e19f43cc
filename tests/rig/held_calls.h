// Requests whose answer waits: until a switch is off again, or for some time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/rig/control.h"
#include "tests/rig/fuse_lowlevel.h"

namespace gputrace::rig {

class HeldCalls {
 public:
  explicit HeldCalls(std::shared_ptr<RigControl> control) : control_(std::move(control)) {}

  void hold_while(const RigControl::Switch& is_on, fuse_req_t request,
                  std::function<void()> answer);
  void delay_until(std::int64_t due_ns, fuse_req_t request, std::function<void()> answer);
  /// Answers those whose time has come.
  void release(std::int64_t now_ns);
  /// When release() has the next to answer; absent when none waits for a time.
  [[nodiscard]] std::optional<std::int64_t> next_due_ns() const;
  void refuse_all(int error_number);

 private:
  struct Call {
    fuse_req_t request = nullptr;
    const RigControl::Switch* is_on = nullptr;  ///< null: due_ns counts
    std::int64_t due_ns = 0;
    std::function<void()> answer;
  };
  void add(Call call);

  std::shared_ptr<RigControl> control_;
  std::vector<Call> calls_;
};

}  // namespace gputrace::rig
