// Which cores of the CPU are worth comparing, and staying on one of them.
#pragma once

#include <sched.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::bench {

/// As sysfs tells; what it does not is absent.
struct CpuCore {
  unsigned cpu = 0;
  std::optional<long> capacity = std::nullopt;  ///< against the fastest one's 1024 (Arm)
  std::optional<long> max_khz = std::nullopt;
  std::optional<long> package = std::nullopt;
  /// Of those that share a last-level cache, else a cluster.
  std::optional<long> cluster = std::nullopt;
};

struct NamedCore {
  unsigned cpu = 0;
  std::string name;
};

/// Cores that this thread may run on, cgroups heeded.
[[nodiscard]] Result<std::vector<unsigned>> allowed_cores();

/// `folder`: /sys/devices/system/cpu.
[[nodiscard]] std::vector<CpuCore> read_cores(const std::filesystem::path& folder,
                                              std::span<const unsigned> allowed);

/// "fastest core", "slowest core" where it is slower by a tenth, "other cluster" for a fast core
/// that is farther from the first. Where all are alike there is "any core"; of none, none.
[[nodiscard]] std::vector<NamedCore> choose_cores(std::span<const CpuCore> cores);

/// Those of this machine; none where the system does not tell.
[[nodiscard]] std::vector<NamedCore> cores_to_compare();

/// While it lives the calling thread stays on one core; then it may run where it could before.
/// Move-only.
class PinnedThread {
 public:
  [[nodiscard]] static Result<PinnedThread> to(unsigned cpu);

  PinnedThread(PinnedThread&& other) noexcept;
  PinnedThread& operator=(PinnedThread&& other) noexcept;
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread();

 private:
  explicit PinnedThread(std::vector<cpu_set_t> before) : before_(std::move(before)) {}

  std::vector<cpu_set_t> before_;
};

}  // namespace gputrace::bench
