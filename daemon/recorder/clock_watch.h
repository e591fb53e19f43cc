// Tells suspends and clock steps from anchors: BOOTTIME - MONOTONIC grows by the time suspended,
// REALTIME - BOOTTIME jumps when somebody sets the wall clock.
#pragma once

#include <vector>

#include "daemon/base/time.h"
#include "daemon/store/session.h"

namespace gputrace::recorder {

class ClockWatch {
 public:
  explicit ClockWatch(const TimeAnchor& first) : last_(first) {}

  /// What happened since the last call; `anchor` is the new reference.
  [[nodiscard]] std::vector<store::Event> compare(const TimeAnchor& anchor);
  /// True when compare() would report something. The three clocks of an anchor are not read at one
  /// instant: a reader that was preempted between them sees a jump that a second reading denies.
  [[nodiscard]] bool sees_jump(const TimeAnchor& anchor) const;

 private:
  TimeAnchor last_;
};

}  // namespace gputrace::recorder
