// Collects when each unit holds at least one request: unions of intervals, per unit.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "daemon/simulated_gpu/units.h"

namespace gputrace::simulated_gpu {

/// [first, second) in nanoseconds.
using BusyInterval = std::pair<double, double>;

class BusyRecorder {
 public:
  /// Idle gaps up to `hold_ns` close. Nothing is kept when not `recording` (clock solver).
  BusyRecorder(double hold_ns, bool recording) : hold_ns_(hold_ns), recording_(recording) {}

  void add(Unit unit, double begin_ns, double end_ns);
  [[nodiscard]] double hold_ns() const { return hold_ns_; }
  /// Sorted, disjoint and more than hold_ns apart. The recorder is empty of this unit afterwards.
  [[nodiscard]] std::vector<BusyInterval> take(Unit unit);

 private:
  double hold_ns_;
  bool recording_;
  std::array<std::vector<BusyInterval>, kUnitCount> intervals_;
};

}  // namespace gputrace::simulated_gpu
