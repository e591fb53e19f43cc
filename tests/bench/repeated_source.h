// A recording again and again: a day of it needs no more memory than the recording.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cli/analysis/busy_grid.h"

namespace gputrace::bench {

class RepeatedSource : public analysis::GridSource {
 public:
  RepeatedSource(const analysis::GridSource& part, std::size_t times)
      : part_(part), times_(times) {}
  [[nodiscard]] const std::vector<analysis::UnitKey>& units() const override {
    return part_.units();
  }
  [[nodiscard]] double start_s() const override { return 0; }
  [[nodiscard]] double cell_s() const override { return part_.cell_s(); }
  [[nodiscard]] std::size_t cells() const override { return part_.cells() * times_; }
  [[nodiscard]] Result<analysis::BusyGrid> read(std::size_t first,
                                                std::size_t count) const override {
    Result<analysis::BusyGrid> all = part_.read(0, 0);
    while (all && count > 0) {
      const std::size_t at = first % part_.cells();
      const std::size_t size = std::min(count, part_.cells() - at);
      const auto next = part_.read(at, size);
      GPUTRACE_CHECK(next.has_value());
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      for (std::size_t u = 0; u < all->units.size(); ++u) {
        append(all->units[u].cells, next->units[u].cells);
      }
      append(all->asleep, next->asleep);
      append(all->unknown, next->unknown);
      first += size;
      count -= size;
    }
    return all;
  }
  [[nodiscard]] Result<std::vector<analysis::Tick>> ticks(double from_s,
                                                          double to_s) const override {
    const double length_s = static_cast<double>(part_.cells()) * part_.cell_s();
    const double offset_s = std::floor(std::max(0.0, from_s) / length_s) * length_s;
    auto found = part_.ticks(from_s - offset_s, to_s - offset_s);
    if (found) {
      for (analysis::Tick& tick : *found) {
        tick.at_s += offset_s;
      }
    }
    return found;
  }

 private:
  const analysis::GridSource& part_;
  std::size_t times_;
};

}  // namespace gputrace::bench
