#include "kernels/bench/tests/host/host_cases.h"

#include <fmt/format.h>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/tests/host/host.h"

namespace gputrace::bench {

namespace {

Stimulus describe(const KernelCase& kernel, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = kernel.id;
  stimulus.threads = threads_of(kernel, launch) * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.group_threads = kernel.group_threads;
  stimulus.read_bytes = kernel.read_bytes_per_trip * launch.trips + kernel.read_bytes_once;
  stimulus.written_bytes = kernel.written_bytes_once;
  return stimulus;
}

KernelCase single_thread(std::string id, std::string description, std::string_view shader) {
  KernelCase kernel;
  kernel.id = std::move(id);
  kernel.description = std::move(description);
  kernel.shader = shader;
  kernel.group_threads = 1;
  return kernel;
}

Status check_touch(const std::string& id, std::uint32_t place, const Launch& launch,
                   const Outputs& outputs) {
  const auto seen = read_at<std::uint32_t>(outputs.buffers[1], kSeenWord);
  const auto count = read_at<std::uint32_t>(outputs.buffers[1], kCountWord);
  if (seen != pattern_word(place) || count != launch.repeats * launch.groups) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: word {} was seen as {:#x} in {} dispatches, and is {:#x}, in {}", id,
                    place, seen, count, pattern_word(place), launch.repeats * launch.groups));
  }
  return {};
}

/// Without a CPU that asks.
Status check_alone(const std::string& id, const Launch& launch, const Outputs& outputs) {
  const auto last = read_at<std::uint32_t>(outputs.buffers[0], kLastWord);
  const auto trips = read_at<std::uint32_t>(outputs.buffers[0], kTripsWord);
  if (last != 0 || trips != launch.trips) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: nothing was asked, and {} was answered after {} trips of {}", id,
                            last, trips, launch.trips));
  }
  return {};
}

}  // namespace

vulkan::PushConstants touch_push(std::uint32_t place) {
  vulkan::PushConstants push{};
  write_at(push, 0, place);
  return push;
}

vulkan::PushConstants swap_push(std::uint32_t wanted, std::uint32_t budget) {
  vulkan::PushConstants push{};
  write_at(push, 0, wanted);
  write_at(push, 1, budget);
  return push;
}

KernelCase touch_case(std::uint64_t bytes, std::uint32_t place) {
  KernelCase kernel = single_thread("host.touch", "one word of a buffer", "host_touch.comp");
  kernel.buffers = {{.binding = 0, .bytes = bytes, .fill = fill_with_words},
                    {.binding = 1, .bytes = kSeenBytes, .fill = {}}};
  kernel.push = [place](const Launch&, std::span<const vulkan::Buffer* const>) {
    return touch_push(place);
  };
  kernel.formula = {{.operation = Operation::kAtomic, .once = 1}};
  kernel.read_bytes_once = 4;
  kernel.written_bytes_once = 4;
  kernel.check = [id = kernel.id, place](const Launch& launch, const Outputs& outputs) {
    return check_touch(id, place, launch, outputs);
  };
  kernel.stimulus = [described = kernel](const Launch& launch) {
    return describe(described, launch);
  };
  return kernel;
}

KernelCase swap_case(std::uint32_t wanted) {
  KernelCase kernel = single_thread("host.swap", "answers what the CPU asks", "host_swap.comp");
  kernel.buffers = {{.binding = 0, .bytes = kSwapBytes, .fill = {}, .in_host_memory = true}};
  kernel.push = [wanted](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    return swap_push(wanted, launch.trips);
  };
  // How often it looks and answers is not known before: rounds are counted by both sides.
  kernel.in_loops = {Operation::kLoad4, Operation::kStore4};
  kernel.check = [id = kernel.id](const Launch& launch, const Outputs& outputs) {
    return check_alone(id, launch, outputs);
  };
  kernel.stimulus = [described = kernel](const Launch& launch) {
    return describe(described, launch);
  };
  return kernel;
}

std::vector<KernelCase> host_cases(const vulkan::DeviceFacts& /*facts*/) {
  constexpr std::uint64_t kBytes = 4096;
  return {touch_case(kBytes, kBytes / 4 - 1), swap_case(1)};
}

}  // namespace gputrace::bench
