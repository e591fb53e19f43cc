#include "kernels/bench/tests/atomics/atomics_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "kernels/bench/tests/atomics/atomics_expected.h"

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kLineBytes = 64;
/// Places in the table: a line for each fits any second-level cache.
constexpr std::uint32_t kMaxPlaces = 16384;
constexpr std::uint32_t kGpuGroups = 512;
constexpr std::uint32_t kCpuGroups = 16;

struct AtomicPush {
  std::uint32_t trips = 0;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
  std::uint32_t known_place = 0;
};

std::string_view word_of(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::kAdd:
      return "add";
    case AtomicOperation::kAddWithResult:
      return "add with result";
    case AtomicOperation::kCompareSwap:
      return "cmpxchg";
    case AtomicOperation::kXor:
      break;
  }
  return "xor";
}

std::string_view word_of(AtomicPattern pattern) {
  switch (pattern) {
    case AtomicPattern::kOneWord:
      return "one word";
    case AtomicPattern::kWordALane:
      return "word a lane";
    case AtomicPattern::kLineALane:
      return "line a lane";
    case AtomicPattern::kWordAGroup:
      return "word a group";
    case AtomicPattern::kOneKnownWord:
      break;
  }
  return "one known word";
}

std::string_view shader_of(AtomicPlace place) {
  switch (place) {
    case AtomicPlace::kGlobal:
      return "atomics_global.comp";
    case AtomicPlace::kLocal:
      return "atomics_local.comp";
    case AtomicPlace::kGlobalFloat:
      return "atomics_global_float.comp";
    case AtomicPlace::kLocalFloat:
      return "atomics_local_float.comp";
    case AtomicPlace::kGlobal64:
      break;
  }
  return "atomics_global64.comp";
}

std::uint32_t constant_of(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::kAdd:
      return 0;
    case AtomicOperation::kAddWithResult:
      return 1;
    case AtomicOperation::kCompareSwap:
      return 2;
    case AtomicOperation::kXor:
      break;
  }
  return 3;
}

/// The word that a thread of the launch uses, by its place in the table.
std::uint32_t word_for(const AtomicShape& shape, std::uint32_t thread, std::uint32_t word_bytes) {
  const std::uint32_t line_words = kLineBytes / word_bytes;
  const bool local = is_local(shape.place);
  const std::uint32_t lane = local ? thread % kAtomicGroupThreads : thread;
  switch (shape.pattern) {
    case AtomicPattern::kWordALane:
      return lane;
    case AtomicPattern::kLineALane:
      return lane * line_words;
    case AtomicPattern::kWordAGroup:
      return thread / kAtomicGroupThreads * line_words;
    case AtomicPattern::kOneWord:
    case AtomicPattern::kOneKnownWord:
      break;
  }
  return 0;
}

std::string id_of(const AtomicShape& shape) {
  std::string id = fmt::format("{}.{}.{}", test_id(shape.place), word_of(shape.operation),
                               word_of(shape.pattern));
  std::replace(id.begin(), id.end(), ' ', '_');
  return id;
}

std::uint32_t table_size(std::uint32_t groups) {
  std::uint32_t size = kAtomicGroupThreads;
  while (size * 2 <= std::min(kMaxPlaces, groups * kAtomicGroupThreads)) {
    size *= 2;
  }
  return size;
}

/// The words of a group in local memory, or of all.
struct WordsInUse {
  double words = 0;       ///< that are used
  double span_bytes = 0;  ///< from the first to the last
};

Stimulus describe(const std::string& id, AtomicPlace place, const WordsInUse& used,
                  std::uint32_t word_bytes, const Launch& launch) {
  const double threads = static_cast<double>(launch.groups) * kAtomicGroupThreads;
  Stimulus stimulus;
  stimulus.kernel = id;
  stimulus.threads = threads * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.group_threads = kAtomicGroupThreads;
  stimulus.steps = static_cast<double>(kAtomicsPerTrip) * launch.trips;
  stimulus.access = Access::kAtomic;
  stimulus.read_bytes = stimulus.steps * word_bytes;
  stimulus.written_bytes = stimulus.steps * word_bytes;
  const double those_that_meet = is_local(place) ? double{kAtomicGroupThreads} : threads;
  stimulus.sharers = std::max(those_that_meet / used.words, 1.0);
  stimulus.footprint_bytes = used.span_bytes;
  // Those of local memory never leave the compute unit.
  if (is_local(place)) {
    stimulus.path = Path::kLocal;
    stimulus.group_local_bytes = double{kLocalWords} * word_bytes;
  }
  return stimulus;
}

}  // namespace

std::string name_of(const AtomicShape& shape) {
  return fmt::format("{}, {}", word_of(shape.operation), word_of(shape.pattern));
}

std::string_view test_id(AtomicPlace place) {
  switch (place) {
    case AtomicPlace::kGlobal:
      return "atomics.global";
    case AtomicPlace::kLocal:
      return "atomics.local";
    case AtomicPlace::kGlobalFloat:
      return "atomics.global_float";
    case AtomicPlace::kLocalFloat:
      return "atomics.local_float";
    case AtomicPlace::kGlobal64:
      break;
  }
  return "atomics.global64";
}

bool is_local(AtomicPlace place) {
  return place == AtomicPlace::kLocal || place == AtomicPlace::kLocalFloat;
}

bool is_float(AtomicPlace place) {
  return place == AtomicPlace::kGlobalFloat || place == AtomicPlace::kLocalFloat;
}

std::uint32_t atomic_groups(const vulkan::DeviceFacts& facts) {
  return facts.is_cpu ? kCpuGroups : kGpuGroups;
}

double atomics_of(const Launch& launch) {
  return static_cast<double>(launch.groups) * kAtomicGroupThreads * kAtomicsPerTrip *
         static_cast<double>(launch.trips) * launch.repeats;
}

KernelCase atomic_case(const AtomicShape& shape, const vulkan::DeviceFacts& facts) {
  const bool local = is_local(shape.place);
  const std::uint32_t word_bytes = shape.place == AtomicPlace::kGlobal64 ? 8 : 4;
  const std::uint32_t groups = atomic_groups(facts);
  const std::uint32_t threads = groups * kAtomicGroupThreads;
  const std::uint32_t places = table_size(groups);
  const bool known = shape.pattern == AtomicPattern::kOneKnownWord;

  KernelCase kernel;
  kernel.id = id_of(shape);
  kernel.description = fmt::format(
      "{} of {} in {} memory", name_of(shape),
      is_float(shape.place) ? "fp32 numbers" : fmt::format("{}-bit words", word_bytes * 8),
      local ? "local" : "global");
  kernel.shader = shader_of(shape.place);
  kernel.constants = {kAtomicGroupThreads, constant_of(shape.operation), known ? 1U : 0U};
  kernel.group_threads = kAtomicGroupThreads;
  if (shape.place == AtomicPlace::kGlobal64) {
    kernel.needs = {Requirement::kInt64};
  } else if (shape.place == AtomicPlace::kGlobalFloat) {
    kernel.needs = {Requirement::kFloatAtomics};
  } else if (shape.place == AtomicPlace::kLocalFloat) {
    kernel.needs = {Requirement::kSharedFloatAtomics};
  }

  std::vector<std::uint32_t> table(places);
  for (std::uint32_t i = 0; i < places; ++i) {
    table[i] = word_for(shape, i, word_bytes);
  }
  const std::uint64_t words = std::uint64_t{*std::max_element(table.begin(), table.end())} + 1;
  AtomicRun run{.id = kernel.id,
                .local = local,
                .is_float = is_float(shape.place),
                .operation = shape.operation,
                .word_bytes = word_bytes,
                .words = local ? kLocalWords : words,
                .table = table};
  kernel.buffers = {{.binding = 0, .bytes = words * word_bytes, .fill = nullptr},
                    {.binding = 1, .bytes = std::uint64_t{threads} * word_bytes, .fill = nullptr},
                    {.binding = 2,
                     .bytes = std::uint64_t{places} * 4,
                     .fill = [table](std::span<std::byte> memory) {
                       std::memcpy(memory.data(), table.data(), table.size() * sizeof(table[0]));
                     }}};
  if (local) {
    kernel.buffers.push_back(
        {.binding = 3, .bytes = std::uint64_t{threads} * word_bytes, .fill = nullptr});
  }
  kernel.push = [mask = places - 1](const Launch& launch,
                                    std::span<const vulkan::Buffer* const> /*buffers*/) {
    const AtomicPush push{
        .trips = launch.trips, .mask = mask, .value = kAtomicValue, .known_place = 0};
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &push, sizeof(push));
    return bytes;
  };
  // Of a known word there is nothing to claim: how many instructions that makes is the driver's.
  if (!known) {
    kernel.formula = {{.operation = local ? Operation::kSharedAtomic : Operation::kAtomic,
                       .per_trip = kAtomicsPerTrip,
                       .once = 0}};
  } else {
    kernel.in_loops = {local ? Operation::kSharedAtomic : Operation::kAtomic};
    kernel.max_code_bytes = std::nullopt;
  }
  if (!local) {
    kernel.read_bytes_per_trip = static_cast<double>(kAtomicsPerTrip) * word_bytes;
    kernel.written_bytes_per_trip = kernel.read_bytes_per_trip;
  }
  const std::set<std::uint32_t> distinct(table.begin(), table.end());
  const WordsInUse used{.words = static_cast<double>(distinct.size()),
                        .span_bytes = static_cast<double>(words * word_bytes)};
  kernel.stimulus = [id = kernel.id, place = shape.place, word_bytes, used](const Launch& launch) {
    return describe(id, place, used, word_bytes, launch);
  };
  kernel.check = [run = std::move(run)](const Launch& launch, const Outputs& outputs) {
    return check_atomics(run, launch, outputs);
  };
  return kernel;
}

}  // namespace gputrace::bench
