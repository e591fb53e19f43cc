#include "daemon/simulated_gpu/busy_recorder.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

void BusyRecorder::add(Unit unit, double begin_ns, double end_ns) {
  if (!recording_ || end_ns <= begin_ns) {
    return;
  }
  // Requests come nearly in order of time: joining one of the latest intervals keeps the list
  // short; take() joins the rest.
  constexpr std::size_t kLatest = 8;
  auto& intervals = intervals_[index_of(unit)];
  const std::size_t size = intervals.size();
  for (std::size_t back = 1; back <= std::min(kLatest, size); ++back) {
    BusyInterval& interval = intervals[size - back];
    if (begin_ns <= interval.second + hold_ns_ && end_ns + hold_ns_ >= interval.first) {
      interval.first = std::min(interval.first, begin_ns);
      interval.second = std::max(interval.second, end_ns);
      return;
    }
  }
  intervals.emplace_back(begin_ns, end_ns);
}

std::vector<BusyInterval> BusyRecorder::take(Unit unit) {
  std::vector<BusyInterval> sorted = std::exchange(intervals_[index_of(unit)], {});
  std::sort(sorted.begin(), sorted.end());
  std::vector<BusyInterval> joined;
  for (const BusyInterval& next : sorted) {
    if (!joined.empty() && next.first <= joined.back().second + hold_ns_) {
      joined.back().second = std::max(joined.back().second, next.second);
    } else {
      joined.push_back(next);
    }
  }
  return joined;
}

}  // namespace gputrace::simulated_gpu
