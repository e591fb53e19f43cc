#include "kernels/bench/tests/atomics/atomics_expected.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>

namespace gputrace::bench {

namespace {

constexpr std::uint64_t kBothHalves = 0x1'0000'0001;
constexpr std::uint32_t kTripFactor = 0x9e3779b9;

/// Words of 4 or 8 bytes; sums wrap as the device's do.
class Words {
 public:
  Words(std::span<const std::byte> bytes, std::uint32_t width) : bytes_(bytes), width_(width) {}
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[index * width_], width_);
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint32_t width_;
};

std::uint64_t widen(const AtomicRun& run, std::uint32_t value) {
  return run.word_bytes == 8 ? value * kBothHalves : value;
}

/// As the word holds it.
std::uint64_t wrap(const AtomicRun& run, std::uint64_t value) {
  if (run.is_float) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  return run.word_bytes == 8 ? value : static_cast<std::uint32_t>(value);
}

/// What one lane's additions of one dispatch sum up to.
std::uint64_t added_by_lane(const AtomicRun& run, const Launch& launch) {
  if (run.is_float) {
    return std::uint64_t{launch.trips} * kAtomicsPerTrip;
  }
  constexpr std::uint64_t kSumOfSteps = kAtomicsPerTrip * (kAtomicsPerTrip - 1) / 2;
  return launch.trips * (kAtomicsPerTrip * widen(run, kAtomicValue) + kSumOfSteps);
}

/// What one lane's operations of one dispatch flip.
std::uint64_t flipped_by_lane(const AtomicRun& run, const Launch& launch, std::uint32_t thread) {
  const std::uint64_t own = widen(run, kAtomicValue + thread * 2);
  std::uint64_t of_trip = 0;
  for (std::uint64_t k = 1; k < kAtomicsPerTrip; ++k) {
    of_trip ^= wrap(run, own + k);
  }
  std::uint64_t all = 0;
  for (std::uint32_t trip = 0; trip < launch.trips; ++trip) {
    all ^= of_trip ^ own ^ widen(run, trip * kTripFactor);
  }
  return all;
}

/// Of the words that this lane uses, what one dispatch does to them; a lane's swaps add
/// kAtomicValue as often as they succeeded.
void apply(const AtomicRun& run, const Launch& launch, std::uint32_t thread, const Words& results,
           std::uint64_t& word) {
  switch (run.operation) {
    case AtomicOperation::kAdd:
    case AtomicOperation::kAddWithResult:
      word += added_by_lane(run, launch);
      break;
    case AtomicOperation::kCompareSwap:
      word += results[thread] * widen(run, kAtomicValue);
      break;
    case AtomicOperation::kXor:
      word ^= flipped_by_lane(run, launch, thread);
      break;
  }
}

tl::unexpected<Error> differs(const AtomicRun& run, std::string_view place, std::uint64_t index,
                              std::uint64_t found, std::uint64_t expected) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("{}: {} {} holds {:#x}, and all operations give {:#x}", run.id, place,
                          index, found, expected));
}

Status check_global(const AtomicRun& run, const Launch& launch, const Outputs& outputs) {
  const Words found(outputs.buffers[0], run.word_bytes);
  const Words results(outputs.buffers[1], run.word_bytes);
  std::vector<std::uint64_t> expected(run.words, 0);
  const std::uint32_t threads = launch.groups * kAtomicGroupThreads;
  for (std::uint32_t repeat = 0; repeat < launch.repeats; ++repeat) {
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      apply(run, launch, thread, results, expected[run.table[thread % run.table.size()]]);
    }
  }
  for (std::uint64_t i = 0; i < run.words; ++i) {
    if (found[i] != wrap(run, expected[i])) {
      return differs(run, "word", i, found[i], wrap(run, expected[i]));
    }
  }
  return {};
}

/// Each lane of a group has summed up (or folded) the words i, i + 256, i + 512, ...
Status check_local(const AtomicRun& run, const Launch& launch, const Outputs& outputs) {
  const Words results(outputs.buffers[1], run.word_bytes);
  const Words sums(outputs.buffers[3], run.word_bytes);
  const bool flips = run.operation == AtomicOperation::kXor;
  for (std::uint32_t group = 0; group < launch.groups; ++group) {
    const std::uint32_t first = group * kAtomicGroupThreads;
    std::vector<std::uint64_t> words(run.words, 0);
    for (std::uint32_t thread = first; thread < first + kAtomicGroupThreads; ++thread) {
      apply(run, launch, thread, results, words[run.table[thread % run.table.size()]]);
    }
    for (std::uint32_t lane = 0; lane < kAtomicGroupThreads; ++lane) {
      std::uint64_t expected = 0;
      for (std::uint64_t i = lane; i < run.words; i += kAtomicGroupThreads) {
        expected = flips ? expected ^ words[i] : expected + words[i];
      }
      if (sums[first + lane] != wrap(run, expected)) {
        return differs(run, "the sum of lane", first + lane, sums[first + lane],
                       wrap(run, expected));
      }
    }
  }
  return {};
}

/// The swaps of a word cannot all fail: whoever comes first after a change finds what it expects,
/// or the value that it expects next.
Status check_swaps(const AtomicRun& run, const Launch& launch, const Outputs& outputs) {
  const Words results(outputs.buffers[1], run.word_bytes);
  std::vector<std::uint64_t> swaps(run.words, 0);
  const std::uint32_t threads = launch.groups * kAtomicGroupThreads;
  const std::uint64_t most = std::uint64_t{launch.trips} * kAtomicsPerTrip;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    if (results[thread] > most) {
      return differs(run, "the count of lane", thread, results[thread], most);
    }
    swaps[run.table[thread % run.table.size()]] += results[thread];
  }
  for (const std::uint32_t word : run.table) {
    if (swaps[word] == 0) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: not one swap of word {} succeeded", run.id, word));
    }
  }
  return {};
}

}  // namespace

Status check_atomics(const AtomicRun& run, const Launch& launch, const Outputs& outputs) {
  if (run.operation == AtomicOperation::kCompareSwap) {
    // Results are those of the last dispatch, and only the first begins at zero.
    if (launch.repeats != 1) {
      return fail(ErrorCode::kInvalidArgument, run.id + ": swaps are checked for one dispatch");
    }
    if (const Status swaps = check_swaps(run, launch, outputs); !swaps) {
      return swaps;
    }
  }
  return run.local ? check_local(run, launch, outputs) : check_global(run, launch, outputs);
}

}  // namespace gputrace::bench
