#include "kernels/bench/cases/alu_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/bench/cases/alu_expected.h"
#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {
namespace {

/// The last groups to run leave few compute units idle. More would only load and store more.
constexpr std::uint32_t kGroupsOfCore = 64;
constexpr std::uint32_t kGpuGroups = 8192;  // where nothing tells how many units there are
constexpr std::uint32_t kGpuGroup = 256;
/// A software rasteriser has a few cores, runs groups one after the other, and loads and stores
/// lane by lane: with many groups a short run is spent on that.
constexpr std::uint32_t kCpuGroups = 32;
constexpr std::uint32_t kCpuGroup = 64;

using Op = AluOperation;

/// As kernels/shaders/CMakeLists.txt names them: in the order of AluOperation.
constexpr auto kDefines =
    std::to_array<std::string_view>({"ADD", "MUL", "MULHI", "FMA", "MAD", "PRECISE_MAD", "DIV",
                                     "RCP", "SQRT", "RSQRT", "EXP2", "LOG2", "SIN", "POW"});

/// "alu_fp32.comp:FMA", of which a kernel holds a view.
std::string_view shader_of(AluType type, Op operation) {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const AluType each : alu_types()) {
      for (const std::string_view define : kDefines) {
        all.push_back(fmt::format("alu_{}.comp:{}", name_of(each), define));
      }
    }
    return all;
  }();
  return kNames.at(static_cast<std::size_t>(type) * kDefines.size() +
                   static_cast<std::size_t>(operation));
}

std::optional<Requirement> need_of(AluType type) {
  switch (type) {
    case AluType::kFp16:
    case AluType::kFp16Packed:
      return Requirement::kFp16;
    case AluType::kFp64:
      return Requirement::kFp64;
    case AluType::kInt8Dot:
      return Requirement::kInt8Dot;
    case AluType::kInt16:
    case AluType::kInt16Packed:
      return Requirement::kInt16;
    case AluType::kInt64:
      return Requirement::kInt64;
    default:
      return std::nullopt;
  }
}

/// Of a type of floats: its additions, products and multiply-adds in the code.
struct FloatClasses {
  Operation add;
  Operation mul;
  Operation fma;
};

std::optional<FloatClasses> float_classes(AluType type) {
  switch (type) {
    case AluType::kFp16:
    case AluType::kFp16Packed:
      return FloatClasses{Operation::kAddF16, Operation::kMulF16, Operation::kFmaF16};
    case AluType::kFp32:
      return FloatClasses{Operation::kAddF32, Operation::kMulF32, Operation::kFmaF32};
    case AluType::kFp64:
      return FloatClasses{Operation::kAddF64, Operation::kMulF64, Operation::kFmaF64};
    default:
      return std::nullopt;
  }
}

/// What the function is in the code of a GPU with a unit for it.
Operation function_class(Op operation) {
  switch (operation) {
    case Op::kSqrt:
      return Operation::kSquareRoot;
    case Op::kRsqrt:
      return Operation::kReciprocalRoot;
    case Op::kExp2:
    case Op::kPow:
      return Operation::kExponential;
    case Op::kLog2:
      return Operation::kLogarithm;
    case Op::kSin:
      return Operation::kSine;
    default:
      return Operation::kReciprocal;
  }
}

std::vector<OperationCount> float_formula(AluType type, const FloatClasses& classes, Op operation,
                                          double operations) {
  switch (operation) {
    case Op::kAdd:
      return {{.operation = classes.add, .per_trip = operations}};
    case Op::kMul:
      return {{.operation = classes.mul, .per_trip = operations}};
    case Op::kFma:
    case Op::kMad:
      return {{.operation = classes.fma, .per_trip = operations}};
    case Op::kPreciseMad:
      return {{.operation = classes.mul, .per_trip = operations},
              {.operation = classes.add, .per_trip = operations}};
    default:
      break;
  }
  if (type == AluType::kFp64) {
    // An estimate of few bits, which FMAs make exact; a root begins with a reciprocal one.
    const Operation estimate =
        operation == Op::kSqrt ? Operation::kReciprocalRoot : function_class(operation);
    return {{.operation = estimate, .per_trip = operations},
            {.operation = Operation::kFmaF64, .per_trip = operations, .at_least = true}};
  }
  std::vector<OperationCount> formula{
      {.operation = function_class(operation), .per_trip = operations}};
  if (operation == Op::kPow) {
    formula.push_back({.operation = Operation::kLogarithm, .per_trip = operations});
  }
  return formula;
}

std::vector<OperationCount> integer_formula(AluType type, Op operation, double operations) {
  // The lower half of a product of 64 bits has three products of 32 in it.
  constexpr double kProductsOf64 = 3;
  const bool adds = operation == Op::kAdd;
  switch (type) {
    case AluType::kInt8Dot:
      return {{.operation = Operation::kDotI8, .per_trip = operations}};
    case AluType::kInt16:
    case AluType::kInt16Packed:
      return {
          {.operation = adds ? Operation::kAddI16 : Operation::kMulI16, .per_trip = operations}};
    case AluType::kInt64:
      if (adds) {
        return {{.operation = Operation::kAddI32, .per_trip = 2 * operations}};
      }
      return {{.operation = Operation::kMulAddI32,
               .per_trip = kProductsOf64 * operations,
               .at_least = true}};
    default:
      return {{.operation = adds ? Operation::kAddI32 : Operation::kMulAddI32,
               .per_trip = operations,
               .at_least = operation == Op::kMulHi}};
  }
}

Arithmetic stimulus_arithmetic(const AluShape& shape) {
  switch (shape.type) {
    case AluType::kFp16:
      return is_function(shape.operation) ? Arithmetic::kFp32Special : Arithmetic::kFp16;
    case AluType::kFp16Packed:
      return Arithmetic::kFp16Packed;
    case AluType::kFp32:
      return is_function(shape.operation) ? Arithmetic::kFp32Special : Arithmetic::kFp32;
    case AluType::kFp64:
      return Arithmetic::kFp64;
    case AluType::kInt8Dot:
      return Arithmetic::kInt8Dot;
    case AluType::kInt16:
      return Arithmetic::kInt16;
    case AluType::kInt16Packed:
      return Arithmetic::kInt16Packed;
    case AluType::kInt24:
      return Arithmetic::kInt24;
    case AluType::kInt32:
      return shape.operation == Op::kAdd ? Arithmetic::kInt32Add : Arithmetic::kInt32;
    case AluType::kInt64:
      break;
  }
  return Arithmetic::kInt64;
}

/// Operations of one in a stimulus. Units issue an addition in the place of a multiply-add, which
/// is counted as two.
double issued_of_one(const AluShape& shape) {
  switch (stimulus_arithmetic(shape)) {
    case Arithmetic::kFp32:
    case Arithmetic::kFp16:
    case Arithmetic::kFp16Packed:
    case Arithmetic::kInt16:
    case Arithmetic::kInt16Packed:
    case Arithmetic::kInt32:
      return shape.operation == Op::kPreciseMad ? 4 : 2;
    case Arithmetic::kFp64:
      // Thirty instructions make a quotient or a root.
      return is_function(shape.operation) ? 60 : 2;
    case Arithmetic::kInt8Dot:
      return flops_of_one(shape);
    default:
      return 1;
  }
}

std::string id_of(const AluShape& shape) {
  std::string_view operation = name_of(shape.type, shape.operation);
  if (shape.operation == Op::kMad && operation != "dot") {
    operation = "mad";
  } else if (shape.operation == Op::kPreciseMad) {
    operation = "precise_mad";
  }
  const std::string id = fmt::format("alu.{}.{}", name_of(shape.type), operation);
  return shape.subgroup_size ? fmt::format("{}.wave{}", id, *shape.subgroup_size) : id;
}

}  // namespace

double alu_operations_per_trip(const AluShape& shape) {
  const AluLayout layout = layout_of(shape);
  return 2.0 * layout.pairs * layout.rounds * layout.halves;
}

double flops_of_one(const AluShape& shape) {
  constexpr double kOfDot = 8;
  switch (shape.operation) {
    case Op::kFma:
    case Op::kPreciseMad:
      return 2;
    case Op::kMad:
      return shape.type == AluType::kInt8Dot ? kOfDot : 2;
    default:
      return 1;
  }
}

AluCase alu_case(const vulkan::DeviceFacts& facts, const AluShape& shape, std::string id) {
  AluCase made;
  KernelCase& kernel = made.sized.kernel;
  kernel.id = id.empty() ? id_of(shape) : std::move(id);
  kernel.description = fmt::format("{} of {} in registers", name_of(shape.type, shape.operation),
                                   name_of(shape.type));
  kernel.shader = shader_of(shape.type, shape.operation);
  kernel.group_threads = shape.group_threads.value_or(
      facts.is_cpu ? kCpuGroup : std::min(kGpuGroup, facts.max_group_threads));
  kernel.constants = {kernel.group_threads};
  kernel.subgroup_size = shape.subgroup_size;
  if (const auto need = need_of(shape.type)) {
    kernel.needs.push_back(*need);
  }
  AluLayout layout = layout_of(shape);
  layout.group_threads = kernel.group_threads;
  const auto thread_bytes = static_cast<double>(layout.thread_bytes());
  const double operations = alu_operations_per_trip(shape);
  const auto floats = float_classes(shape.type);
  kernel.formula = floats ? float_formula(shape.type, *floats, shape.operation, operations)
                          : integer_formula(shape.type, shape.operation, operations);
  kernel.formula.push_back({.operation = Operation::kLoad16, .once = thread_bytes / 16});
  kernel.formula.push_back({.operation = Operation::kStore16, .once = thread_bytes / 16});
  kernel.flops_per_trip = operations * flops_of_one(shape);
  kernel.read_bytes_once = thread_bytes;
  kernel.written_bytes_once = thread_bytes;
  kernel.buffers = {{.binding = 0,
                     .bytes = layout.thread_bytes() * kernel.group_threads,
                     .fill = alu_start(shape, layout)},
                    {.binding = 1,
                     .bytes = layout.thread_bytes() * kernel.group_threads * kAluResultGroups,
                     .fill = {}}};
  kernel.push = [shape](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    write_alu_constants(shape, push);
    return push;
  };
  const auto rounding = std::make_shared<std::string>();
  made.rounding = rounding;
  kernel.check = [id = kernel.id, shape, layout, rounding](const Launch& launch,
                                                           const Outputs& outputs) {
    return check_alu(id, shape, layout, launch, outputs, *rounding);
  };
  const auto stimulus = stimulus_of(kernel, stimulus_arithmetic(shape),
                                    {.access = Access::kResident,
                                     .footprint_bytes = thread_bytes * kernel.group_threads,
                                     .stores_stay_in_cache = true});
  kernel.stimulus = [stimulus, issued = operations * issued_of_one(shape)](const Launch& launch) {
    Stimulus described = stimulus(launch);
    described.flops = issued * launch.trips;
    return described;
  };
  const std::uint64_t groups =
      facts.cores ? std::uint64_t{*facts.cores} * kGroupsOfCore : kGpuGroups;
  made.sized.launch.groups =
      facts.is_cpu
          ? kCpuGroups
          : static_cast<std::uint32_t>(std::min<std::uint64_t>(groups, facts.max_groups_x));
  made.sized.scale_trips = true;
  return made;
}

}  // namespace gputrace::bench
