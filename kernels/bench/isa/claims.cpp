#include "kernels/bench/isa/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace gputrace::bench::isa {
namespace {

/// Sums of counts that are whole numbers.
constexpr double kRounding = 1e-9;

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

bool is_equal(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(a, b);
}

const OperationCount* find(const KernelCase& kernel, Operation operation) {
  const auto found =
      std::find_if(kernel.formula.begin(), kernel.formula.end(),
                   [&](const OperationCount& count) { return count.operation == operation; });
  return found == kernel.formula.end() ? nullptr : &*found;
}

/// Never in a loop without the formula's naming it.
bool must_be_named(Operation operation) {
  constexpr double kOfMultiplyAdd = 2;
  const bool is_unit_of_its_own = operation == Operation::kDotI8 || operation == Operation::kMatrix;
  if (is_arithmetic(operation) && !is_unit_of_its_own) {
    return flops_of(operation) == kOfMultiplyAdd;
  }
  return operation != Operation::kScalarLoad;
}

/// Outside of the loop the driver has its own.
bool is_of_driver(Operation operation) {
  return operation == Operation::kScalarLoad || operation == Operation::kAddI32;
}

/// As if each unfused multiply-add were its two instructions.
Tally with_unfused_split(Tally tally) {
  const auto at = [&](Operation operation) -> OperationTally& {
    return tally.of.at(static_cast<std::size_t>(operation));
  };
  at(Operation::kFmaF32).operations -= tally.unfused_fmas;
  at(Operation::kFmaF32).instructions -= tally.unfused_fmas;
  for (const Operation half : {Operation::kMulF32, Operation::kAddF32}) {
    at(half).operations += tally.unfused_fmas;
    at(half).instructions += tally.unfused_fmas;
  }
  return tally;
}

Tallies with_unfused_split(Tallies tallies) {
  tallies.outside = with_unfused_split(tallies.outside);
  for (Tally& loop : tallies.loops) {
    loop = with_unfused_split(loop);
  }
  return tallies;
}

class Comparer {
 public:
  Comparer(const KernelCase& kernel, const Tallies& tallies, const ControlFlow& flow)
      : kernel_(kernel), tallies_(tallies), flow_(flow) {}

  Comparison run();

 private:
  void choose_loop();
  void compare(const OperationCount& claimed);
  void check_other_loops(const OperationCount& claimed);
  void check_unnamed();
  void check_in_loops();
  void check_flops();
  void check_bytes(std::string_view verb, std::span<const std::pair<Operation, double>> sizes,
                   double per_trip, double once);
  void explain_unrolling();
  void fail_with(std::string why) { result_.failures.push_back(std::move(why)); }

  const KernelCase& kernel_;
  const Tallies& tallies_;
  const ControlFlow& flow_;
  Comparison result_;
};

void Comparer::choose_loop() {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < tallies_.loops.size(); ++i) {
    std::uint64_t sum = 0;
    for (const OperationCount& claimed : kernel_.formula) {
      if (claimed.per_trip > 0) {
        sum += tallies_.loops[i].at(claimed.operation).operations;
      }
    }
    if (sum > most) {
      most = sum;
      result_.loop = i;
    }
  }
}

void Comparer::compare(const OperationCount& claimed) {
  const std::string name(name_of(claimed.operation));
  const OperationTally in_loop =
      result_.loop ? tallies_.loops[*result_.loop].at(claimed.operation) : OperationTally{};
  const double trip = number(in_loop.operations);
  if (claimed.per_trip > 0 || trip > 0) {
    result_.counts.push_back({kernel_.id, name, claimed.per_trip, trip});
  }
  const bool agrees =
      is_equal(claimed.per_trip, trip) || (claimed.at_least && trip > claimed.per_trip);
  if (!agrees) {
    fail_with(fmt::format("formula {}{:g} {} a trip, code has {:g}{}",
                          claimed.at_least ? "at least " : "", claimed.per_trip, name, trip,
                          result_.loop ? "" : " (it has no loop with them)"));
  }
  if (in_loop.conditional > 0) {
    fail_with(fmt::format("{} of {} {} a trip are not run by every thread", in_loop.conditional,
                          in_loop.operations, name));
  }
  if (is_of_driver(claimed.operation)) {
    return;
  }
  const double once = number(tallies_.outside.at(claimed.operation).operations);
  if (claimed.once > 0 || once > 0) {
    result_.counts.push_back({kernel_.id, name + " once", claimed.once, once});
  }
  if (!is_equal(claimed.once, once)) {
    fail_with(fmt::format("formula {:g} {} once, code has {:g}", claimed.once, name, once));
  }
}

void Comparer::check_other_loops(const OperationCount& claimed) {
  if (claimed.operation == Operation::kScalarLoad) {
    return;
  }
  for (std::size_t i = 0; i < tallies_.loops.size(); ++i) {
    const std::uint64_t elsewhere = tallies_.loops[i].at(claimed.operation).operations;
    if (i == result_.loop || elsewhere == 0) {
      continue;
    }
    const std::optional<std::size_t>& parent = flow_.loops[i].parent;
    const std::string inside =
        parent ? fmt::format(" inside {}", flow_.loops[*parent].name) : std::string();
    fail_with(fmt::format("code has {} {} in another loop ({}{}), whose trips are not known",
                          elsewhere, name_of(claimed.operation), flow_.loops[i].name, inside));
  }
}

void Comparer::check_unnamed() {
  if (!result_.loop) {
    return;
  }
  const Tally& loop = tallies_.loops[*result_.loop];
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const OperationTally& found = loop.at(operation);
    const std::uint64_t always = found.operations - found.conditional;
    if (always > 0 && must_be_named(operation) && find(kernel_, operation) == nullptr) {
      fail_with(fmt::format("formula 0 {} a trip, code has {}", name_of(operation), always));
    }
  }
  if (loop.other_transfers > 0) {
    fail_with(fmt::format("code has {} {} a trip, which no formula counts", loop.other_transfers,
                          loop.other_transfer_name));
  }
}

void Comparer::check_flops() {
  double per_trip = 0;
  double once = 0;
  for (const OperationCount& count : kernel_.formula) {
    const std::optional<double> flops = flops_of(count.operation);
    if (!flops) {
      return;
    }
    per_trip += *flops * count.per_trip;
    once += *flops * count.once;
  }
  if (kernel_.flops_per_trip > 0 && !is_equal(kernel_.flops_per_trip, per_trip)) {
    fail_with(fmt::format("{:g} FLOPs a trip are claimed, the formula's operations make {:g}",
                          kernel_.flops_per_trip, per_trip));
  }
  if (kernel_.flops_once > 0 && !is_equal(kernel_.flops_once, once)) {
    fail_with(
        fmt::format("{:g} FLOPs outside of the loop are claimed, the formula's operations "
                    "make {:g}",
                    kernel_.flops_once, once));
  }
}

void Comparer::check_bytes(std::string_view verb,
                           std::span<const std::pair<Operation, double>> sizes, double per_trip,
                           double once) {
  double formula_per_trip = 0;
  double formula_once = 0;
  for (const auto& [operation, bytes] : sizes) {
    if (const OperationCount* const count = find(kernel_, operation)) {
      formula_per_trip += bytes * count->per_trip;
      formula_once += bytes * count->once;
    }
  }
  const auto check = [&](std::string_view when, double claimed, double formula) {
    if (claimed > 0 && !is_equal(claimed, formula)) {
      fail_with(fmt::format("{:g} bytes {} {} are claimed, the formula's operations make {:g}",
                            claimed, verb, when, formula));
    }
  };
  check("a trip", per_trip, formula_per_trip);
  check("once", once, formula_once);
}

/// A driver that unrolls a loop leaves every count a multiple.
void Comparer::explain_unrolling() {
  std::optional<double> factor;
  for (const OperationCount& claimed : kernel_.formula) {
    if (claimed.per_trip <= 0 || claimed.at_least || !result_.loop) {
      continue;
    }
    const double trip = number(tallies_.loops[*result_.loop].at(claimed.operation).operations);
    const double ratio = trip / claimed.per_trip;
    if (factor.value_or(ratio) != ratio) {
      return;
    }
    factor = ratio;
  }
  if (factor && *factor >= 2 && std::floor(*factor) == *factor) {
    fail_with(fmt::format("the driver seems to have unrolled the loop by {:g}", *factor));
  }
}

void Comparer::check_in_loops() {
  for (const Operation wanted : kernel_.in_loops) {
    const bool found =
        std::any_of(tallies_.loops.begin(), tallies_.loops.end(),
                    [&](const Tally& loop) { return loop.at(wanted).operations > 0; });
    if (!found) {
      fail_with(fmt::format("no loop of the code has a {}", name_of(wanted)));
    }
  }
}

Comparison Comparer::run() {
  if (kernel_.formula.empty()) {
    check_in_loops();
    return std::move(result_);
  }
  choose_loop();
  for (const OperationCount& claimed : kernel_.formula) {
    compare(claimed);
  }
  explain_unrolling();
  for (const OperationCount& claimed : kernel_.formula) {
    check_other_loops(claimed);
  }
  check_unnamed();
  check_flops();
  const auto has = [&](Operation operation) { return find(kernel_, operation) != nullptr; };
  const bool is_plain = !has(Operation::kSample) && !has(Operation::kAtomic) &&
                        !has(Operation::kSharedLoad) && !has(Operation::kSharedStore) &&
                        !has(Operation::kSharedAtomic) && !has(Operation::kScalarLoad) &&
                        !has(Operation::kExport);
  if (is_plain) {
    constexpr auto kLoads = std::to_array<std::pair<Operation, double>>({{Operation::kLoad16, 16},
                                                                         {Operation::kLoad8, 8},
                                                                         {Operation::kLoad4, 4},
                                                                         {Operation::kLoad2, 2}});
    constexpr auto kStores = std::to_array<std::pair<Operation, double>>(
        {{Operation::kStore16, 16}, {Operation::kStore4, 4}, {Operation::kStore2, 2}});
    check_bytes("read", kLoads, kernel_.read_bytes_per_trip, kernel_.read_bytes_once);
    check_bytes("written", kStores, kernel_.written_bytes_per_trip, kernel_.written_bytes_once);
  }
  return std::move(result_);
}

}  // namespace

Comparison compare_claims(const KernelCase& kernel, const Tallies& tallies,
                          const ControlFlow& flow) {
  const auto names = [&](Operation operation) { return find(kernel, operation) != nullptr; };
  if (names(Operation::kMulF32) && names(Operation::kAddF32) && !names(Operation::kFmaF32)) {
    const Tallies split = with_unfused_split(tallies);
    return Comparer(kernel, split, flow).run();
  }
  return Comparer(kernel, tallies, flow).run();
}

}  // namespace gputrace::bench::isa
