#include "kernels/bench/tests/c2c/c2c_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kGroupThreads = 64;
/// A line of its own, however wide lines are.
constexpr std::uint64_t kWordBytes = 256;
constexpr std::uint64_t kControlBytes = 64;
/// Control words of one dispatch, before those of all.
constexpr std::size_t kGlobalWords = 3;
constexpr std::uint32_t kLocalTrips = 30000;
constexpr std::uint32_t kUsualWave = 64;

/// Two threads that depend on each other at each step.
Stimulus describe(const std::string& id, const Launch& launch, bool local) {
  constexpr double kBytesOfSwap = 4;
  Stimulus stimulus;
  stimulus.kernel = id;
  stimulus.threads = 2.0 * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.group_threads = 1;
  stimulus.steps = 2.0 * launch.trips;
  stimulus.access = Access::kAtomic;
  stimulus.path = local ? Path::kLocal : Path::kVector;
  stimulus.read_bytes = stimulus.steps * kBytesOfSwap;
  stimulus.written_bytes = stimulus.steps * kBytesOfSwap;
  stimulus.footprint_bytes = kBytesOfSwap;
  stimulus.sharers = 2;
  return stimulus;
}

void connect(KernelCase& kernel, bool local) {
  // How many tries a hand-over takes is decided when it runs: there is nothing to claim.
  kernel.in_loops = {local ? Operation::kSharedAtomic : Operation::kAtomic};
  kernel.check = [id = kernel.id](const Launch& launch, const Outputs& outputs) {
    return check_hand_overs(id, read_hand_overs(outputs), launch);
  };
  kernel.stimulus = [id = kernel.id, local](const Launch& launch) {
    return describe(id, launch, local);
  };
}

}  // namespace

double HandOvers::failed_tries_per_swap() const {
  const double done = double{1} * swaps[0] + swaps[1];
  const double tried = double{1} * tries[0] + tries[1];
  return done > 0 ? std::max(tried - done, 0.0) / done : 0;
}

HandOvers read_hand_overs(const Outputs& outputs) {
  // The word itself has the first buffer where it is not in local memory.
  const std::vector<std::byte>& control = outputs.buffers.back();
  const std::size_t first = outputs.buffers.size() > 1 ? kGlobalWords : 0;
  const auto word = [&](std::size_t index) {
    return read_at<std::uint32_t>(control, first + index);
  };
  return {.dispatches = word(0),
          .missed = word(1),
          .unfinished = word(2),
          .handed = word(3),
          .swaps = {word(4), word(5)},
          .tries = {word(6), word(7)}};
}

Status check_hand_overs(const std::string& id, const HandOvers& found, const Launch& launch) {
  if (found.missed > 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: in {} of {} dispatches one waited and its partner never came: the "
                            "two do not run at the same time here",
                            id, found.missed, launch.repeats));
  }
  if (found.unfinished > 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: {} of {} dispatches spent all their tries after {} and {} swaps "
                            "of {}: the two do not run side by side here",
                            id, found.unfinished, launch.repeats, found.swaps[0], found.swaps[1],
                            std::uint64_t{launch.trips} * launch.repeats));
  }
  const std::uint32_t wanted = launch.trips * launch.repeats;
  if (found.dispatches != launch.repeats || found.swaps[0] != wanted || found.swaps[1] != wanted ||
      found.handed != 2 * wanted) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} dispatches of {}, {} and {} swaps of {}, and the word changed "
                            "{} times",
                            id, found.dispatches, launch.repeats, found.swaps[0], found.swaps[1],
                            wanted, found.handed));
  }
  return {};
}

KernelCase c2c_global_case(const vulkan::DeviceFacts& facts, std::uint32_t first,
                           std::uint32_t second, const WaitBudget& budget) {
  GPUTRACE_CHECK(budget.looks + budget.trips <= kMaxTrips);
  KernelCase kernel;
  kernel.id = fmt::format("c2c.global.{}.{}", first, second);
  kernel.description = fmt::format("a word of memory between group {} and group {}", first, second);
  kernel.shader = "c2c_global.comp";
  kernel.group_threads = std::min(kGroupThreads, std::max(facts.max_group_threads, 1U));
  const std::uint32_t spoil = std::max<std::uint32_t>(facts.max_shared_bytes / 4, 1);
  kernel.constants = {kernel.group_threads, spoil};
  kernel.buffers = {{.binding = 0, .bytes = kWordBytes, .fill = nullptr},
                    {.binding = 1, .bytes = kControlBytes, .fill = nullptr}};
  kernel.push = [first, second, budget](const Launch& launch,
                                        std::span<const vulkan::Buffer* const> /*buffers*/) {
    vulkan::PushConstants push{};
    write_at(push, 0, launch.trips);
    write_at(push, 1, first);
    write_at(push, 2, second);
    write_at(push, 3, budget.looks);
    write_at(push, 4, budget.linger);
    write_at(push, 5, budget.trips);
    return push;
  };
  connect(kernel, false);
  return kernel;
}

KernelCase c2c_local_case(const vulkan::DeviceFacts& facts, bool two_lanes) {
  KernelCase kernel;
  kernel.id = two_lanes ? "c2c.local.lanes" : "c2c.local.waves";
  kernel.description = two_lanes ? "a word of local memory between two lanes of one wave"
                                 : "a word of local memory between two waves of one group";
  kernel.shader = "c2c_local.comp";
  const std::uint32_t wave = facts.subgroup_size != 0 ? facts.subgroup_size : kUsualWave;
  kernel.group_threads = two_lanes ? wave : 2 * wave;
  kernel.constants = {kernel.group_threads, two_lanes ? 1U : 0U};
  kernel.buffers = {{.binding = 0, .bytes = kControlBytes, .fill = nullptr}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const> /*buffers*/) {
    vulkan::PushConstants push{};
    write_at(push, 0, launch.trips);
    write_at(push, 1, kLocalTrips);
    return push;
  };
  connect(kernel, true);
  return kernel;
}

}  // namespace gputrace::bench
