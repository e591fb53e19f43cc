#include "kernels/bench/cases/alu_expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/bench/cases/alu_steps.h"
#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"
#include "kernels/bench/cases/turning_pairs.h"

namespace gputrace::bench {
namespace {

constexpr std::uint64_t kCheckedThreads = 64;
/// Rounds that a check calculates at most; a long launch is checked in fewer threads.
constexpr std::uint64_t kCheckedRounds = 4'000'000;

bool is_half(AluType type) {
  return type == AluType::kFp16 || type == AluType::kFp16Packed;
}

double rounded(AluType type, double value) {
  if (is_half(type)) {
    return static_cast<double>(round_to_half(value));
  }
  return type == AluType::kFp64 ? value : static_cast<double>(static_cast<float>(value));
}

/// Where the numbers begin: around a place of rest, near enough to it to stay.
std::pair<double, double> start_range(AluOperation operation) {
  switch (operation) {
    case AluOperation::kSqrt:
      return {0.2, 0.3};
    case AluOperation::kRsqrt:
      return {0.4, 0.6};
    case AluOperation::kExp2:
      return {0.85, 1.15};
    case AluOperation::kLog2:
      return {0.92, 1.08};
    case AluOperation::kSin:
      return {-1, 1};
    case AluOperation::kPow:
      return {0.137, 0.217};
    default:
      return {0.5, 1.5};
  }
}

double start_number(const AluShape& shape, std::uint64_t index) {
  const auto [from, to] = start_range(shape.operation);
  const double place = static_cast<double>(pattern_word(index)) * (0x1p-32 + 0x1p-53);
  return rounded(shape.type, from + (to - from) * place);
}

/// Of p and of q.
std::pair<double, double> float_constants(const AluShape& shape) {
  const auto of = [&](double p, double q) {
    return std::pair(rounded(shape.type, p), rounded(shape.type, q));
  };
  switch (shape.operation) {
    case AluOperation::kMul:
      // Two thirds, a little less: products change sign and lose a hundred thousandth in two
      // rounds. Halves cannot lose so little, and stay.
      return of(-1.5, is_half(shape.type) ? 0.6665 : 0.66666);
    case AluOperation::kDiv:
      return of(1.1, 0.9);
    case AluOperation::kRsqrt:
      return of(-0.4142, -0.4142);
    case AluOperation::kPow:
      return of(0.6, 0.6);
    default:
      return of(kTurnX, kTurnY);
  }
}

unsigned bits_of(AluType type) {
  switch (type) {
    case AluType::kInt16:
    case AluType::kInt16Packed:
      return 16;
    case AluType::kInt64:
      return 64;
    default:
      return 32;
  }
}

std::uint64_t mask_of(AluType type) {
  return ~std::uint64_t{0} >> (64U - bits_of(type));
}

std::uint64_t wide_word(std::uint64_t index) {
  return std::uint64_t{pattern_word(index)} << 32U | pattern_word(3 * index + 1);
}

std::uint64_t start_integer(const AluShape& shape, std::uint64_t index) {
  std::uint64_t word =
      shape.type == AluType::kInt64 ? wide_word(index) : std::uint64_t{pattern_word(index)};
  if (shape.operation == AluOperation::kMul) {
    word |= 1U;  // products of odd numbers never come to nothing
  } else if (shape.operation == AluOperation::kMulHi) {
    word |= 0x80000000U;
  }
  return word & mask_of(shape.type);
}

std::pair<std::uint64_t, std::uint64_t> integer_constants(const AluShape& shape) {
  if (shape.operation == AluOperation::kMulHi) {
    return {0xfffffff1, 0xffffffeb};  // the upper half loses about fifteen
  }
  const auto word = [&](std::uint64_t index) {
    return (shape.type == AluType::kInt64 ? wide_word(index) : pattern_word(index)) &
           mask_of(shape.type);
  };
  return {word(5), word(7)};
}

double read_number(const AluShape& shape, const AluLayout& layout, std::span<const std::byte> from,
                   std::uint64_t index) {
  if (is_half(shape.type)) {
    const std::uint64_t stride = layout.word_bytes / layout.halves / sizeof(std::uint16_t);
    return static_cast<double>(half_from_bits(read_at<std::uint16_t>(from, index * stride)));
  }
  return shape.type == AluType::kFp64 ? read_at<double>(from, index)
                                      : static_cast<double>(read_at<float>(from, index));
}

void write_number(const AluShape& shape, const AluLayout& layout, std::span<std::byte> to,
                  std::uint64_t index, double value) {
  if (is_half(shape.type)) {
    const std::uint64_t stride = layout.word_bytes / layout.halves / sizeof(std::uint16_t);
    write_at(to, index * stride, half_bits(static_cast<float>(value)));
  } else if (shape.type == AluType::kFp64) {
    write_at(to, index, value);
  } else {
    write_at(to, index, static_cast<float>(value));
  }
}

std::uint64_t read_integer(const AluShape& shape, std::span<const std::byte> from,
                           std::uint64_t index) {
  if (shape.type == AluType::kInt16Packed) {
    return read_at<std::uint16_t>(from, index);
  }
  return shape.type == AluType::kInt64 ? read_at<std::uint64_t>(from, index)
                                       : std::uint64_t{read_at<std::uint32_t>(from, index)};
}

void write_integer(const AluShape& shape, std::span<std::byte> to, std::uint64_t index,
                   std::uint64_t value) {
  if (shape.type == AluType::kInt64) {
    write_at(to, index, value);
  } else if (shape.type == AluType::kInt16Packed) {
    write_at(to, index, static_cast<std::uint16_t>(value));
  } else {
    write_at(to, index, static_cast<std::uint32_t>(value));
  }
}

/// Pairs of a sample of threads: TurnedPair as in the other recurrences.
template <class Value, class Start, class Read>
std::vector<TurnedPair<Value>> sampled_pairs(const AluLayout& layout, const Launch& launch,
                                             const Start& start, const Read& read) {
  const std::uint64_t half = std::uint64_t{layout.pairs} * layout.halves;
  const std::uint64_t threads =
      std::uint64_t{std::min(launch.groups, kAluResultGroups)} * layout.group_threads;
  const std::uint64_t rounds =
      std::max<std::uint64_t>(std::uint64_t{launch.trips} * layout.rounds, 1);
  const std::uint64_t affordable = kCheckedRounds / (rounds * half);
  std::vector<TurnedPair<Value>> pairs;
  for (const std::uint64_t thread :
       sample_of(threads, std::clamp<std::uint64_t>(affordable, 2, kCheckedThreads))) {
    for (std::uint64_t pair = 0; pair < half; ++pair) {
      const std::uint64_t begun = thread % layout.group_threads * 2 * half + pair;
      const std::uint64_t ended = thread * 2 * half + pair;
      pairs.push_back({.name = fmt::format("thread {}, pair {}", thread, pair),
                       .p = start(begun),
                       .q = start(begun + half),
                       .got_p = read(ended),
                       .got_q = read(ended + half)});
    }
  }
  return pairs;
}

/// Names the first pair that is farther than `bound` from where `rounds` lead. `step`: of a number,
/// the other, the constants, whether it is q.
template <class Value, class Step, class Store>
std::optional<std::string> mismatch(const std::vector<TurnedPair<Value>>& pairs,
                                    std::pair<Value, Value> constants, std::uint64_t rounds,
                                    double bound, const Step& step, const Store& store) {
  const auto [x, y] = constants;
  const auto is_off = [&](Value got, Value wanted) {
    if constexpr (std::is_floating_point_v<Value>) {
      return !(std::abs(got - wanted) <= bound);
    } else {
      return got != wanted;
    }
  };
  for (const TurnedPair<Value>& pair : pairs) {
    Value p = pair.p;
    Value q = pair.q;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const bool is_odd = round % 2 != 0;
      p = step(p, q, StepConstants<Value>{x, is_odd ? y : x}, false);
      q = step(q, p, StepConstants<Value>{y, is_odd ? x : y}, true);
    }
    p = store(p);
    q = store(q);
    if (is_off(pair.got_p, p) || is_off(pair.got_q, q)) {
      return fmt::format("{} is ({}, {}), the CPU has ({}, {})", pair.name, pair.got_p, pair.got_q,
                         p, q);
    }
  }
  return std::nullopt;
}

Status check_integers(const std::string& id, const AluShape& shape, const AluLayout& layout,
                      const Launch& launch, std::span<const std::byte> result) {
  const auto pairs = sampled_pairs<std::uint64_t>(
      layout, launch, [&](std::uint64_t index) { return start_integer(shape, index); },
      [&](std::uint64_t index) { return read_integer(shape, result, index); });
  const auto off = mismatch<std::uint64_t>(
      pairs, integer_constants(shape), std::uint64_t{launch.trips} * layout.rounds, 0,
      [&](std::uint64_t own, std::uint64_t other, const StepConstants<std::uint64_t>& constants,
          bool /*is_q*/) {
        return integer_step(shape.type, shape.operation, own, other, constants) &
               mask_of(shape.type);
      },
      [](std::uint64_t value) { return value; });
  return off ? fail(ErrorCode::kCorrupt, fmt::format("{}: {}", id, *off)) : Status();
}

class FloatCheck {
 public:
  FloatCheck(const std::string& id, const AluShape& shape, const AluLayout& layout,
             const Launch& launch, std::span<const std::byte> result)
      : id_(id),
        shape_(shape),
        rounds_of_a_trip_(layout.rounds),
        rounds_(std::uint64_t{launch.trips} * layout.rounds),
        pairs_(sampled_pairs<double>(
            layout, launch, [&](std::uint64_t index) { return start_number(shape, index); },
            [&](std::uint64_t index) { return read_number(shape, layout, result, index); })) {}

  Status run(std::string& rounding) const {
    std::string first;
    for (const FloatRounding& way : roundings_of(shape_.type, shape_.operation)) {
      const auto off = off_from(way, rounds_, 0);
      if (!off) {
        rounding = way.name;
        return {};
      }
      first = first.empty() ? *off : first;
    }
    const bool is_function = first.empty();
    if (is_half(shape_.type) && !is_function) {
      // The error of a trip is as large as the values: only exact results tell anything.
      return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", id_, first));
    }
    return run_bounded();
  }

 private:
  [[nodiscard]] std::optional<std::string> off_from(const FloatRounding& way, std::uint64_t rounds,
                                                    double bound) const {
    return mismatch<double>(
        pairs_, float_constants(shape_), rounds, bound,
        [&](double own, double other, const StepConstants<double>& constants, bool is_q) {
          return float_step(shape_.operation, way, own, other, constants, is_q);
        },
        [&](double value) { return way.store != nullptr ? way.store(value) : value; });
  }

  [[nodiscard]] Status run_bounded() const {
    const double bound =
        static_cast<double>(rounds_) * step_error(shape_.operation) * rounding_unit(shape_.type);
    if (const auto off = off_from(unrounded(), rounds_, bound)) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: {} (+- {:.2g})", id_, *off, bound));
    }
    if (is_half(shape_.type)) {
      return {};  // too coarse to tell trips apart: the function alone is proved
    }
    const bool fits_fewer =
        rounds_ >= rounds_of_a_trip_ && !off_from(unrounded(), rounds_ - rounds_of_a_trip_, bound);
    if (fits_fewer || !off_from(unrounded(), rounds_ + rounds_of_a_trip_, bound)) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("{}: rounded in no known way, and after {} rounds the bound of rounding, "
                      "{:.2g}, does not tell a trip more or less",
                      id_, rounds_, bound));
    }
    return {};
  }

  const std::string& id_;
  const AluShape& shape_;
  std::uint64_t rounds_of_a_trip_;
  std::uint64_t rounds_;
  std::vector<TurnedPair<double>> pairs_;
};

}  // namespace

AluLayout layout_of(const AluShape& shape) {
  AluLayout layout;
  switch (shape.type) {
    case AluType::kFp16Packed:
    case AluType::kInt16Packed:
      layout.pairs = 4;
      layout.rounds = 34;
      layout.halves = 2;
      break;
    case AluType::kFp64:
      layout.pairs = 4;
      layout.word_bytes = 8;
      layout.rounds = is_function(shape.operation) ? 2 : layout.rounds;
      break;
    case AluType::kInt64:
      layout.pairs = 4;
      layout.word_bytes = 8;
      break;
    default:
      break;
  }
  return layout;
}

std::function<void(std::span<std::byte>)> alu_start(const AluShape& shape,
                                                    const AluLayout& layout) {
  return [shape, layout](std::span<std::byte> buffer) {
    const std::uint64_t numbers = buffer.size() / layout.word_bytes * layout.halves;
    for (std::uint64_t i = 0; i < numbers; ++i) {
      if (is_float(shape.type)) {
        write_number(shape, layout, buffer, i, start_number(shape, i));
      } else {
        write_integer(shape, buffer, i, start_integer(shape, i));
      }
    }
  };
}

void write_alu_constants(const AluShape& shape, vulkan::PushConstants& push) {
  constexpr std::size_t kAt = 8;
  const AluLayout layout = layout_of(shape);
  for (std::uint32_t i = 0; i < layout.halves; ++i) {
    const std::span<std::byte> p = std::span(push).subspan(kAt, kAt);
    const std::span<std::byte> q = std::span(push).subspan(2 * kAt, kAt);
    if (is_float(shape.type)) {
      const auto [x, y] = float_constants(shape);
      write_number(shape, layout, p, i, x);
      write_number(shape, layout, q, i, y);
    } else {
      const auto [x, y] = integer_constants(shape);
      write_integer(shape, p, i, x);
      write_integer(shape, q, i, y);
    }
  }
}

Status check_alu(const std::string& id, const AluShape& shape, const AluLayout& layout,
                 const Launch& launch, const Outputs& outputs, std::string& rounding) {
  const std::span<const std::byte> result = outputs.buffers.at(1);
  if (!is_float(shape.type)) {
    return check_integers(id, shape, layout, launch, result);
  }
  return FloatCheck(id, shape, layout, launch, result).run(rounding);
}

}  // namespace gputrace::bench
