// What the simulated GPU does in the course of time: its scenario, and kernels that are played over
// it. Grows while other threads read it: they take no lock and allocate nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/load_course.h"
#include "daemon/simulated_gpu/published.h"
#include "daemon/simulated_gpu/simulation.h"

namespace gputrace::simulated_gpu {

/// A kernel again and again, with the host's pauses between.
struct PlayedKernel {
  std::uint64_t key = 0;  ///< of the model, GPU, work and options
  SteadySignal signal;
  Load load;
};

/// Times are nanoseconds since the scenario's begin.
class Playback {
 public:
  explicit Playback(std::shared_ptr<const Simulation> simulation);

  [[nodiscard]] const Simulation& simulation() const { return *simulation_; }

  /// The tape of a stimulus (stimulus.h); that of the last ones is kept. From one thread at a time.
  [[nodiscard]] Result<std::shared_ptr<const PlayedKernel>> prepare(std::string_view stimulus);
  /// From `time_ns` on the GPU runs the kernel, or its scenario where `kernel` is null. A time
  /// before that of the last call counts as that one. From one thread at a time.
  void begin(std::shared_ptr<const PlayedKernel> kernel, std::int64_t time_ns);

  // From any thread. Exact back to the begin of the last 32 plays; sums of a time before that are
  // those of that begin.
  [[nodiscard]] UnitMask state_at(std::int64_t time_ns) const;
  [[nodiscard]] std::int64_t busy_ns(Unit unit, std::int64_t begin_ns, std::int64_t end_ns) const;
  [[nodiscard]] Load load_at(std::int64_t time_ns) const;
  [[nodiscard]] LoadTotals totals_at(std::int64_t time_ns) const;
  [[nodiscard]] PowerState power_at(std::int64_t time_ns) const;

 private:
  struct Play {
    std::int64_t begin_ns = 0;
    std::shared_ptr<const PlayedKernel> kernel;  ///< null = the scenario
    std::uint64_t order = 0;                     ///< of the signal's variants
    PowerState power;                            ///< at the begin
    LoadTotals before;
    std::array<std::int64_t, kUnitCount> busy_before_ns{};
  };
  using Plays = std::vector<std::shared_ptr<const Play>>;

  [[nodiscard]] static std::int64_t known_time(const Plays& plays, std::int64_t time_ns);
  [[nodiscard]] static const Play* play_at(const Plays& plays, std::int64_t time_ns);
  [[nodiscard]] std::int64_t busy_until(const Plays& plays, Unit unit, std::int64_t time_ns) const;
  [[nodiscard]] LoadTotals totals_until(const Plays& plays, std::int64_t time_ns) const;
  [[nodiscard]] PowerState power_of(const Plays& plays, std::int64_t time_ns) const;

  std::shared_ptr<const Simulation> simulation_;
  LoadCourse course_;
  std::vector<std::shared_ptr<const PlayedKernel>> prepared_;  ///< the last one used is the last
  std::uint64_t begun_ = 0;
  Published<Plays> plays_;
};

}  // namespace gputrace::simulated_gpu
