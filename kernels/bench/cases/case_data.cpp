#include "kernels/bench/cases/case_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kGpuGroup = 256;
/// One vector of a processor with AVX2, as llvmpipe uses it.
constexpr std::uint32_t kCpuGroup = 8;
constexpr double kMostFlops = 32e9;
constexpr double kMostFlopsOfCpu = 0.5e9;

}  // namespace

void fill_with_words(std::span<std::byte> buffer) {
  for (std::uint64_t i = 0; i < buffer.size() / sizeof(std::uint32_t); ++i) {
    write_at(buffer, i, pattern_word(i));
  }
}

void fill_with_floats(std::span<std::byte> buffer) {
  for (std::uint64_t i = 0; i < buffer.size() / sizeof(float); ++i) {
    write_at(buffer, i, pattern_float(i));
  }
}

std::vector<std::uint64_t> sample_of(std::uint64_t count, std::uint64_t wanted) {
  std::vector<std::uint64_t> sample;
  const std::uint64_t taken = std::min(count, wanted);
  sample.reserve(taken);
  for (std::uint64_t i = 0; i < taken; ++i) {
    sample.push_back(taken == 1 ? 0 : i * (count - 1) / (taken - 1));
  }
  return sample;
}

std::uint32_t memory_group_threads(const vulkan::DeviceFacts& facts) {
  return facts.is_cpu ? kCpuGroup : std::min(kGpuGroup, facts.max_group_threads);
}

std::string group_suffix(const std::optional<std::uint32_t>& group_threads) {
  return group_threads ? fmt::format(".g{}", *group_threads) : std::string();
}

std::uint32_t stream_groups(const vulkan::DeviceFacts& facts, std::uint64_t most_bytes,
                            double bytes, double flops) {
  const double room = static_cast<double>(std::min(most_bytes, facts.max_storage_range)) / bytes;
  const double time = (facts.is_cpu ? kMostFlopsOfCpu : kMostFlops) / flops;
  const double most = std::max(1.0, static_cast<double>(facts.max_groups_x));
  return static_cast<std::uint32_t>(std::clamp(std::min(room, time), 1.0, most));
}

std::function<Stimulus(const Launch&)> stimulus_of(const KernelCase& kernel, Arithmetic arithmetic,
                                                   const MemoryUseOfKernel& memory) {
  Stimulus fixed;
  fixed.kernel = kernel.id;
  fixed.group_threads = kernel.group_threads;
  fixed.arithmetic = arithmetic;
  fixed.access = memory.access;
  fixed.footprint_bytes = memory.footprint_bytes;
  fixed.waves_per_simd = memory.waves_per_simd;
  struct Amount {
    double per_trip = 0;
    double once = 0;
    [[nodiscard]] double of(const Launch& launch) const { return per_trip * launch.trips + once; }
  };
  const Amount flops{kernel.flops_per_trip, kernel.flops_once};
  const Amount read{kernel.read_bytes_per_trip, kernel.read_bytes_once};
  const Amount written = memory.stores_stay_in_cache
                             ? Amount{}
                             : Amount{kernel.written_bytes_per_trip, kernel.written_bytes_once};
  return [fixed, flops, read, written, each_trip = memory.step_each_trip](const Launch& launch) {
    Stimulus stimulus = fixed;
    stimulus.launches = launch.repeats;
    stimulus.threads = static_cast<double>(launch.groups) * stimulus.group_threads * launch.repeats;
    stimulus.steps = each_trip ? launch.trips : 1;
    stimulus.flops = flops.of(launch);
    stimulus.read_bytes = read.of(launch);
    stimulus.written_bytes = written.of(launch);
    return stimulus;
  };
}

}  // namespace gputrace::bench
