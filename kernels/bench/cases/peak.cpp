#include "kernels/bench/cases/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/peak_matrix.h"
#include "kernels/bench/cases/turning_pairs.h"

namespace gputrace::bench {
namespace {

/// Whatever the number of compute units, the last groups to run leave few of them idle.
constexpr std::uint32_t kGpuGroups = 8192;
constexpr std::uint32_t kGpuGroup = 256;
/// A software rasteriser has a few cores, runs groups one after the other, and loads and stores
/// lane by lane: with many groups a short run is spent on that.
constexpr std::uint32_t kCpuGroups = 32;
constexpr std::uint32_t kCpuGroup = 64;
/// Groups store to a few places in turn, all the same values: so results stay in a cache and take
/// no part of the time.
constexpr std::uint32_t kResultGroups = 64;
constexpr std::uint64_t kCheckedThreads = 64;
/// Rounds that a check calculates at most; a long launch is checked in fewer threads.
constexpr std::uint64_t kCheckedRounds = 4'000'000;

/// What one shader's body is made of.
struct Kind {
  Arithmetic arithmetic = Arithmetic::kFp32;
  std::string_view name;
  std::string_view shader;
  Operation operation = Operation::kFmaF32;
  std::optional<Requirement> need;
  std::uint32_t pairs = 8;
  std::uint32_t rounds = 8;      ///< a trip
  std::uint32_t word_bytes = 4;  ///< of one accumulator
  double operations = 1;         ///< that a multiply-add counts for
  double flops = 2;              ///< of a multiply-add
  double min_share = 0.9;        ///< of arithmetic among the loop's vector instructions
  std::optional<double> min_dual_issued;
};

constexpr std::array<Kind, 5> kKinds{{
    {.arithmetic = Arithmetic::kFp32,
     .name = "fp32",
     .shader = "peak_fp32.comp",
     .operation = Operation::kFmaF32,
     .need = std::nullopt,
     .min_share = 0.95,
     .min_dual_issued = 0.9},
    {.arithmetic = Arithmetic::kFp16Packed,
     .name = "fp16",
     .shader = "peak_fp16.comp",
     .operation = Operation::kFmaF16,
     .need = Requirement::kFp16,
     .pairs = 4,
     .rounds = 32,
     .operations = 2,
     .flops = 4,
     .min_dual_issued = std::nullopt},
    {.arithmetic = Arithmetic::kFp64,
     .name = "fp64",
     .shader = "peak_fp64.comp",
     .operation = Operation::kFmaF64,
     .need = Requirement::kFp64,
     .word_bytes = 8,
     .min_share = 0.85,
     .min_dual_issued = std::nullopt},
    // AMD has no such instruction: a multiplication and an addition each.
    {.arithmetic = Arithmetic::kInt32,
     .name = "int32",
     .shader = "peak_int32.comp",
     .operation = Operation::kMulAddI32,
     .need = std::nullopt,
     .min_share = 0.45,
     .min_dual_issued = std::nullopt},
    {.arithmetic = Arithmetic::kInt8Dot,
     .name = "int8",
     .shader = "peak_int8.comp",
     .operation = Operation::kDotI8,
     .need = Requirement::kInt8Dot,
     .flops = 8,
     .min_dual_issued = std::nullopt},
}};

const Kind& kind_of(Arithmetic arithmetic) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const Kind& kind) { return kind.arithmetic == arithmetic; });
  GPUTRACE_CHECK(found != kKinds.end());
  return *found;
}

/// Numbers of each type as the shader finds them in memory. `index` counts numbers: a word of fp16
/// holds two.
struct Fp32 {
  using Value = float;
  static constexpr std::uint32_t kInWord = 1;
  static constexpr std::optional<double> kRoundingUnit = 0x1p-24;
  static constexpr auto kWays = fp32_multiply_adds;
  static Value start(std::uint64_t index) { return pattern_float(index); }
  static Value x() { return static_cast<float>(kTurnX); }
  static Value y() { return static_cast<float>(kTurnY); }
  static Value read(std::span<const std::byte> from, std::uint64_t index) {
    return read_at<float>(from, index);
  }
  static void write(std::span<std::byte> to, std::uint64_t index, Value value) {
    write_at(to, index, value);
  }
};

struct Fp64 {
  using Value = double;
  static constexpr std::uint32_t kInWord = 1;
  static constexpr std::optional<double> kRoundingUnit = 0x1p-53;
  static constexpr auto kWays = fp64_multiply_adds;
  static Value start(std::uint64_t index) {
    return 0.5 + static_cast<double>(pattern_word(index)) * (0x1p-32 + 0x1p-53);
  }
  static Value x() { return kTurnX; }
  static Value y() { return kTurnY; }
  static Value read(std::span<const std::byte> from, std::uint64_t index) {
    return read_at<double>(from, index);
  }
  static void write(std::span<std::byte> to, std::uint64_t index, Value value) {
    write_at(to, index, value);
  }
};

struct Fp16 {
  using Value = float;
  static constexpr std::uint32_t kInWord = 2;
  /// The error of 64 steps in a trip is as large as the values: only exact results tell anything.
  static constexpr std::optional<double> kRoundingUnit = std::nullopt;
  static constexpr auto kWays = fp16_multiply_adds;
  static Value start(std::uint64_t index) { return round_to_half(pattern_float(index)); }
  static Value x() { return round_to_half(kTurnX); }
  static Value y() { return round_to_half(kTurnY); }
  static Value read(std::span<const std::byte> from, std::uint64_t index) {
    return half_from_bits(read_at<std::uint16_t>(from, index));
  }
  static void write(std::span<std::byte> to, std::uint64_t index, Value value) {
    write_at(to, index, half_bits(value));
  }
};

struct Int32 {
  using Value = std::uint32_t;
  static constexpr std::uint32_t kInWord = 1;
  static constexpr std::optional<double> kRoundingUnit = std::nullopt;
  static constexpr auto kWays = int32_multiply_adds;
  static Value start(std::uint64_t index) { return pattern_word(index); }
  static Value x() { return pattern_word(5); }
  static Value y() { return pattern_word(7); }
  static Value read(std::span<const std::byte> from, std::uint64_t index) {
    return read_at<std::uint32_t>(from, index);
  }
  static void write(std::span<std::byte> to, std::uint64_t index, Value value) {
    write_at(to, index, value);
  }
};

struct Int8Dot : Int32 {
  static constexpr auto kWays = int8_dot_multiply_adds;
};

template <class Type>
Status check(const std::string& id, const Kind& kind, std::uint32_t group_threads,
             const Launch& launch, const Outputs& outputs) {
  using Value = typename Type::Value;
  const Turning<Value> turning{.x = Type::x(),
                               .y = Type::y(),
                               .rounds = static_cast<std::uint64_t>(launch.trips) * kind.rounds,
                               .rounds_of_a_trip = kind.rounds,
                               .rounding_unit = Type::kRoundingUnit};
  const std::span<const std::byte> result = outputs.buffers.at(1);
  const std::uint64_t half = static_cast<std::uint64_t>(kind.pairs) * Type::kInWord;
  const std::uint64_t threads =
      static_cast<std::uint64_t>(std::min(launch.groups, kResultGroups)) * group_threads;
  const std::uint64_t affordable =
      kCheckedRounds / (std::max<std::uint64_t>(turning.rounds, 1) * half);
  std::vector<TurnedPair<Value>> pairs;
  for (const std::uint64_t thread :
       sample_of(threads, std::clamp<std::uint64_t>(affordable, 2, kCheckedThreads))) {
    for (std::uint64_t pair = 0; pair < half; ++pair) {
      const std::uint64_t begun = thread % group_threads * 2 * half + pair;
      const std::uint64_t ended = thread * 2 * half + pair;
      pairs.push_back({.name = fmt::format("thread {}, pair {}", thread, pair),
                       .p = Type::start(begun),
                       .q = Type::start(begun + half),
                       .got_p = Type::read(result, ended),
                       .got_q = Type::read(result, ended + half)});
    }
  }
  return check_turned<Value>(id, turning, Type::kWays(), pairs);
}

template <class Type>
void connect(KernelCase& kernel, const Kind& kind) {
  const std::uint64_t thread_bytes = std::uint64_t{2} * kind.pairs * kind.word_bytes;
  kernel.buffers.push_back({.binding = 0,
                            .bytes = thread_bytes * kernel.group_threads,
                            .fill = [](std::span<std::byte> buffer) {
                              constexpr std::size_t kBytes =
                                  sizeof(typename Type::Value) / Type::kInWord;
                              for (std::uint64_t i = 0; i < buffer.size() / kBytes; ++i) {
                                Type::write(buffer, i, Type::start(i));
                              }
                            }});
  kernel.buffers.push_back(
      {.binding = 1, .bytes = thread_bytes * kernel.group_threads * kResultGroups, .fill = {}});
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    // peak.glsl: x at byte 8, y at byte 16; both halves of a word of fp16 are the same.
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    constexpr std::size_t kNumber = sizeof(typename Type::Value) / Type::kInWord;
    for (std::uint32_t i = 0; i < Type::kInWord; ++i) {
      Type::write(push, 8 / kNumber + i, Type::x());
      Type::write(push, 16 / kNumber + i, Type::y());
    }
    return push;
  };
  kernel.check = [id = kernel.id, &kind, group_threads = kernel.group_threads](
                     const Launch& launch, const Outputs& outputs) {
    return check<Type>(id, kind, group_threads, launch, outputs);
  };
}

void connect(KernelCase& kernel, const Kind& kind) {
  switch (kind.arithmetic) {
    case Arithmetic::kFp32:
      return connect<Fp32>(kernel, kind);
    case Arithmetic::kFp64:
      return connect<Fp64>(kernel, kind);
    case Arithmetic::kFp16Packed:
      return connect<Fp16>(kernel, kind);
    case Arithmetic::kInt32:
      return connect<Int32>(kernel, kind);
    case Arithmetic::kInt8Dot:
      return connect<Int8Dot>(kernel, kind);
    case Arithmetic::kMatrix:
      break;  // of a shape of its own
  }
}

bool has(const vulkan::DeviceFacts& facts, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kFp16Packed:
      return facts.fp16;
    case Arithmetic::kFp64:
      return facts.fp64;
    case Arithmetic::kInt8Dot:
      return facts.int8_dot;
    default:
      return true;
  }
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kMatrix ? "matrix" : kind_of(arithmetic).name;
}

SizedCase peak_case(const vulkan::DeviceFacts& facts, Arithmetic arithmetic,
                    std::optional<std::uint32_t> subgroup_size) {
  if (arithmetic == Arithmetic::kMatrix) {
    return matrix_peak_case(facts, subgroup_size);
  }
  const Kind& kind = kind_of(arithmetic);
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = fmt::format("peak.{}", kind.name);
  if (subgroup_size) {
    kernel.id += fmt::format(".wave{}", *subgroup_size);
  }
  kernel.description = fmt::format("multiply-adds of {} in registers", kind.name);
  kernel.shader = kind.shader;
  kernel.group_threads = facts.is_cpu ? kCpuGroup : std::min(kGpuGroup, facts.max_group_threads);
  kernel.constants = {kernel.group_threads};
  kernel.subgroup_size = subgroup_size;
  if (kind.need) {
    kernel.needs.push_back(*kind.need);
  }
  const double multiply_adds = 2.0 * kind.pairs * kind.rounds;
  const double thread_bytes = 2.0 * kind.pairs * kind.word_bytes;
  kernel.formula = {{.operation = kind.operation, .per_trip = multiply_adds * kind.operations},
                    {.operation = Operation::kLoad16, .once = thread_bytes / 16},
                    {.operation = Operation::kStore16, .once = thread_bytes / 16}};
  kernel.flops_per_trip = multiply_adds * kind.flops;
  kernel.read_bytes_once = thread_bytes;
  kernel.written_bytes_once = thread_bytes;
  kernel.min_arithmetic_share = kind.min_share;
  kernel.min_dual_issued_share = kind.min_dual_issued;
  connect(kernel, kind);
  kernel.stimulus = stimulus_of(kernel, arithmetic,
                                {.access = Access::kResident,
                                 .footprint_bytes = thread_bytes * kernel.group_threads,
                                 .stores_stay_in_cache = true});
  sized.launch.groups = facts.is_cpu ? kCpuGroups : std::min(kGpuGroups, facts.max_groups_x);
  sized.scale_trips = true;
  return sized;
}

std::vector<SizedCase> peak_cases(const vulkan::DeviceFacts& facts) {
  std::vector<std::optional<std::uint32_t>> sizes(facts.subgroup_sizes.begin(),
                                                  facts.subgroup_sizes.end());
  if (sizes.empty()) {
    sizes.emplace_back(std::nullopt);
  }
  std::vector<SizedCase> cases;
  for (const Kind& kind : kKinds) {
    if (has(facts, kind.arithmetic)) {
      for (const auto& size : sizes) {
        cases.push_back(peak_case(facts, kind.arithmetic, size));
      }
    }
  }
  if (has_matrix_peak(facts)) {
    for (const auto& size : sizes) {
      cases.push_back(matrix_peak_case(facts, size));
    }
  }
  return cases;
}

}  // namespace gputrace::bench
