#include "kernels/bench/tests/copy/cpu_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

namespace gputrace::bench {

namespace {

/// A core is another kind when it is slower by this part; preferred cores of one kind differ less.
constexpr double kAsFast = 0.9;

std::optional<long> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  long number = 0;
  if (!(file >> number)) {
    return std::nullopt;
  }
  return number;
}

/// Absent ids are -1 or 65535 (Documentation/ABI/stable/sysfs-devices-system-cpu).
std::optional<long> read_id(const std::filesystem::path& path) {
  constexpr long kNone = 65'535;
  const std::optional<long> id = read_number(path);
  return id && *id >= 0 && *id != kNone ? id : std::nullopt;
}

/// x86 counts cores that share the second level as clusters: the third says who is near.
std::optional<long> last_level_of(const std::filesystem::path& core) {
  std::optional<long> highest;
  std::optional<long> id;
  for (int index = 0; index < 8; ++index) {
    const std::filesystem::path cache = core / "cache" / fmt::format("index{}", index);
    const std::optional<long> level = read_number(cache / "level");
    if (level && *level >= 3 && *level > highest.value_or(0)) {
      highest = level;
      id = read_id(cache / "id");
    }
  }
  return id;
}

/// One for each core, in the same terms; empty where sysfs does not tell that of all.
std::vector<double> speeds_of(std::span<const CpuCore> cores) {
  for (const auto field : {&CpuCore::capacity, &CpuCore::max_khz}) {
    if (std::ranges::all_of(cores,
                            [&](const CpuCore& core) { return (core.*field).has_value(); })) {
      std::vector<double> speeds;
      speeds.reserve(cores.size());
      for (const CpuCore& core : cores) {
        speeds.push_back(static_cast<double>((core.*field).value_or(0)));
      }
      const auto [least, most] = std::ranges::minmax(speeds);
      if (least > 0 && least < most) {
        return speeds;
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<unsigned>> allowed_cores() {
  // A kernel for more CPUs than a set has room for says EINVAL (sched_setaffinity(2)).
  constexpr std::size_t kMostSets = 64;
  for (std::size_t sets = 1; sets <= kMostSets; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    if (::sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0) {
      std::vector<unsigned> cores;
      for (unsigned cpu = 0; cpu < sets * CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET_S(cpu, sets * sizeof(cpu_set_t), mask.data())) {
          cores.push_back(cpu);
        }
      }
      return cores;
    }
    if (errno != EINVAL) {
      break;
    }
  }
  return fail_errno(errno, "cannot read which cores of the CPU may be used");
}

std::vector<CpuCore> read_cores(const std::filesystem::path& folder,
                                std::span<const unsigned> allowed) {
  std::vector<CpuCore> cores;
  cores.reserve(allowed.size());
  for (const unsigned cpu : allowed) {
    const std::filesystem::path core = folder / fmt::format("cpu{}", cpu);
    const std::optional<long> last_level = last_level_of(core);
    cores.push_back({.cpu = cpu,
                     .capacity = read_number(core / "cpu_capacity"),
                     .max_khz = read_number(core / "cpufreq/cpuinfo_max_freq"),
                     .package = read_id(core / "topology/physical_package_id"),
                     .cluster = last_level ? last_level : read_id(core / "topology/cluster_id")});
  }
  return cores;
}

std::vector<NamedCore> choose_cores(std::span<const CpuCore> cores) {
  if (cores.empty()) {
    return {};
  }
  const std::vector<double> speeds = speeds_of(cores);
  std::size_t fastest = 0;
  std::size_t slowest = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    fastest = speeds[i] > speeds[fastest] ? i : fastest;
    slowest = speeds[i] < speeds[slowest] ? i : slowest;
  }
  const auto as_fast = [&](std::size_t core) {
    return speeds.empty() || speeds[core] >= kAsFast * speeds[fastest];
  };
  std::vector<NamedCore> chosen;
  const bool kinds = !as_fast(slowest);
  chosen.push_back({.cpu = cores[fastest].cpu, .name = kinds ? "fastest core" : "any core"});
  if (kinds) {
    chosen.push_back({.cpu = cores[slowest].cpu, .name = "slowest core"});
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const bool elsewhere =
        cores[i].package != cores[fastest].package || cores[i].cluster != cores[fastest].cluster;
    if (elsewhere && as_fast(i)) {
      chosen.push_back({.cpu = cores[i].cpu, .name = "other cluster"});
      break;
    }
  }
  return chosen;
}

std::vector<NamedCore> cores_to_compare() {
  const auto allowed = allowed_cores();
  return allowed ? choose_cores(read_cores("/sys/devices/system/cpu", *allowed))
                 : std::vector<NamedCore>();
}

Result<PinnedThread> PinnedThread::to(unsigned cpu) {
  const Result<std::vector<unsigned>> allowed = allowed_cores();
  if (!allowed) {
    return tl::unexpected(allowed.error());
  }
  if (std::ranges::find(*allowed, cpu) == allowed->end()) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("core {} of the CPU is not for this process", cpu));
  }
  const std::size_t sets = std::max(cpu, allowed->back()) / CPU_SETSIZE + 1;
  const auto set_of = [&](std::span<const unsigned> cpus) {
    std::vector<cpu_set_t> mask(sets);
    CPU_ZERO_S(sets * sizeof(cpu_set_t), mask.data());
    for (const unsigned each : cpus) {
      CPU_SET_S(each, sets * sizeof(cpu_set_t), mask.data());
    }
    return mask;
  };
  const std::vector<cpu_set_t> one = set_of({&cpu, 1});
  if (::sched_setaffinity(0, sets * sizeof(cpu_set_t), one.data()) != 0) {
    return fail_errno(errno, fmt::format("cannot stay on core {} of the CPU", cpu));
  }
  return PinnedThread(set_of(*allowed));
}

PinnedThread::PinnedThread(PinnedThread&& other) noexcept
    : before_(std::exchange(other.before_, {})) {}

PinnedThread& PinnedThread::operator=(PinnedThread&& other) noexcept {
  std::swap(before_, other.before_);
  return *this;
}

PinnedThread::~PinnedThread() {
  if (!before_.empty()) {
    // Cores may have been taken away meanwhile; those that are left are then the thread's.
    static_cast<void>(::sched_setaffinity(0, before_.size() * sizeof(cpu_set_t), before_.data()));
  }
}

}  // namespace gputrace::bench
