#include "kernels/bench/tests/icache/straight_code.h"

#include <bit>

#include "daemon/base/result.h"
#include "kernels/bench/tests/icache/spirv_module.h"

namespace gputrace::bench {
namespace {

using Part = SpirvModule::Part;

/// Enumerants of the specification: 3.31, 3.4, 3.5, 3.3, 3.6, 3.20, 3.7, 3.21, 3.24.
constexpr std::uint32_t kShader = 1;
constexpr std::uint32_t kLogical = 0;
constexpr std::uint32_t kGlsl450 = 1;
constexpr std::uint32_t kGlCompute = 5;
constexpr std::uint32_t kLocalSize = 17;
constexpr std::uint32_t kBlock = 2;
constexpr std::uint32_t kArrayStride = 6;
constexpr std::uint32_t kBuiltIn = 11;
constexpr std::uint32_t kBinding = 33;
constexpr std::uint32_t kDescriptorSet = 34;
constexpr std::uint32_t kOffset = 35;
constexpr std::uint32_t kNoContraction = 42;
constexpr std::uint32_t kLocalInvocationIndex = 29;
constexpr std::uint32_t kInput = 1;
constexpr std::uint32_t kPushConstant = 9;
constexpr std::uint32_t kStorageBuffer = 12;
constexpr std::uint32_t kFmaOfGlsl = 50;  // "Extended Instructions for GLSL"
constexpr std::uint32_t kBits = 32;
constexpr std::uint32_t kWordBytes = 4;

class StraightWriter {
 public:
  explicit StraightWriter(const StraightShape& shape) : shape_(shape) {}

  std::vector<std::uint32_t> run();

 private:
  void write_head();
  void write_types();
  void write_start();
  void write_loop();
  void write_operations();
  void write_results();
  [[nodiscard]] SpirvId operation(std::uint32_t number, SpirvId own, SpirvId other);
  [[nodiscard]] SpirvId constant(std::uint32_t value) {
    return module_.add_result(Part::kTypes, SpirvOp::kConstant, uint_, {value});
  }
  [[nodiscard]] SpirvId push_member(SpirvId type, SpirvId pointer, std::uint32_t member);
  void decorate(std::initializer_list<std::uint32_t> operands) {
    module_.add(Part::kDecorations, SpirvOp::kDecorate, operands);
  }

  const StraightShape& shape_;
  SpirvModule module_;
  SpirvId glsl_ = 0;
  SpirvId main_ = 0;
  SpirvId void_ = 0;
  SpirvId bool_ = 0;
  SpirvId uint_ = 0;
  SpirvId float_ = 0;
  SpirvId function_ = 0;
  SpirvId result_ = 0;
  SpirvId push_ = 0;
  SpirvId index_variable_ = 0;
  SpirvId pointer_to_result_ = 0;
  SpirvId pointer_to_push_uint_ = 0;
  SpirvId pointer_to_push_float_ = 0;
  SpirvId zero_ = 0;
  SpirvId one_ = 0;
  SpirvId index_ = 0;
  SpirvId trips_ = 0;
  SpirvId a_ = 0;
  SpirvId b_ = 0;
  SpirvId entry_ = 0;
  std::vector<SpirvId> start_;    ///< p and q of each chain
  std::vector<SpirvId> at_head_;  ///< as a trip begins
  std::vector<SpirvId> now_;
};

void StraightWriter::write_head() {
  glsl_ = module_.new_id();
  main_ = module_.new_id();
  index_variable_ = module_.new_id();
  module_.add(Part::kHead, SpirvOp::kCapability, {kShader});
  std::vector<std::uint32_t> import{glsl_};
  SpirvModule::append_string(import, "GLSL.std.450");
  module_.add(Part::kHead, SpirvOp::kExtInstImport, import);
  module_.add(Part::kHead, SpirvOp::kMemoryModel, {kLogical, kGlsl450});
  std::vector<std::uint32_t> entry{kGlCompute, main_};
  SpirvModule::append_string(entry, "main");
  entry.push_back(index_variable_);
  module_.add(Part::kHead, SpirvOp::kEntryPoint, entry);
  module_.add(Part::kHead, SpirvOp::kExecutionMode,
              {main_, kLocalSize, shape_.group_threads, 1, 1});
}

void StraightWriter::write_types() {
  const auto type = [&](SpirvOp op, std::initializer_list<std::uint32_t> operands) {
    const SpirvId id = module_.new_id();
    std::vector<std::uint32_t> all{id};
    all.insert(all.end(), operands);
    module_.add(Part::kTypes, op, all);
    return id;
  };
  const auto variable = [&](SpirvId pointer, std::uint32_t storage, SpirvId id) {
    module_.add(Part::kTypes, SpirvOp::kVariable, {pointer, id, storage});
    return id;
  };
  void_ = type(SpirvOp::kTypeVoid, {});
  bool_ = type(SpirvOp::kTypeBool, {});
  uint_ = type(SpirvOp::kTypeInt, {kBits, 0});
  float_ = type(SpirvOp::kTypeFloat, {kBits});
  function_ = type(SpirvOp::kTypeFunction, {void_});
  const SpirvId numbers = type(SpirvOp::kTypeRuntimeArray, {float_});
  const SpirvId results = type(SpirvOp::kTypeStruct, {numbers});
  const SpirvId pushed = type(SpirvOp::kTypeStruct, {uint_, float_, float_});
  result_ = variable(type(SpirvOp::kTypePointer, {kStorageBuffer, results}), kStorageBuffer,
                     module_.new_id());
  push_ = variable(type(SpirvOp::kTypePointer, {kPushConstant, pushed}), kPushConstant,
                   module_.new_id());
  variable(type(SpirvOp::kTypePointer, {kInput, uint_}), kInput, index_variable_);
  pointer_to_result_ = type(SpirvOp::kTypePointer, {kStorageBuffer, float_});
  pointer_to_push_uint_ = type(SpirvOp::kTypePointer, {kPushConstant, uint_});
  pointer_to_push_float_ = type(SpirvOp::kTypePointer, {kPushConstant, float_});
  zero_ = constant(0);
  one_ = constant(1);
  decorate({numbers, kArrayStride, kWordBytes});
  decorate({results, kBlock});
  module_.add(Part::kDecorations, SpirvOp::kMemberDecorate, {results, 0, kOffset, 0});
  decorate({pushed, kBlock});
  for (std::uint32_t member = 0; member < 3; ++member) {
    module_.add(Part::kDecorations, SpirvOp::kMemberDecorate,
                {pushed, member, kOffset, member * kWordBytes});
  }
  decorate({result_, kDescriptorSet, 0});
  decorate({result_, kBinding, 0});
  decorate({index_variable_, kBuiltIn, kLocalInvocationIndex});
}

SpirvId StraightWriter::push_member(SpirvId type, SpirvId pointer, std::uint32_t member) {
  const SpirvId at =
      module_.add_result(Part::kBegin, SpirvOp::kAccessChain, pointer, {push_, constant(member)});
  return module_.add_result(Part::kBegin, SpirvOp::kLoad, type, {at});
}

void StraightWriter::write_start() {
  constexpr std::uint32_t kNoControl = 0;
  module_.add(Part::kBegin, SpirvOp::kFunction, {void_, main_, kNoControl, function_});
  entry_ = module_.new_id();
  module_.add(Part::kBegin, SpirvOp::kLabel, {entry_});
  index_ = module_.add_result(Part::kBegin, SpirvOp::kLoad, uint_, {index_variable_});
  trips_ = push_member(uint_, pointer_to_push_uint_, 0);
  a_ = push_member(float_, pointer_to_push_float_, 1);
  b_ = push_member(float_, pointer_to_push_float_, 2);
  const SpirvId index = module_.add_result(Part::kBegin, SpirvOp::kConvertUToF, float_, {index_});
  for (std::uint32_t i = 0; i < 2 * shape_.chains; ++i) {
    const SpirvId offset =
        module_.add_result(Part::kTypes, SpirvOp::kConstant, float_,
                           {std::bit_cast<std::uint32_t>(static_cast<float>(i + 1))});
    start_.push_back(module_.add_result(Part::kBegin, SpirvOp::kFAdd, float_, {index, offset}));
  }
}

SpirvId StraightWriter::operation(std::uint32_t number, SpirvId own, SpirvId other) {
  const bool is_q = number % 2 != 0;
  if (shape_.operation == StraightOperation::kFma) {
    return module_.add_result(Part::kLoop, SpirvOp::kExtInst, float_,
                              {glsl_, kFmaOfGlsl, own, is_q ? b_ : a_, other});
  }
  const SpirvId sum =
      module_.add_result(Part::kLoop, is_q ? SpirvOp::kFAdd : SpirvOp::kFSub, float_, {own, other});
  decorate({sum, kNoContraction});
  return sum;
}

/// The chains in turn: p of each, then q of each.
void StraightWriter::write_operations() {
  now_ = at_head_;
  for (std::uint32_t i = 0; i < shape_.operations; ++i) {
    const std::uint32_t chain = i % shape_.chains;
    const std::uint32_t half = i / shape_.chains % 2;
    const std::size_t own = std::size_t{2} * chain + half;
    const std::size_t other = std::size_t{2} * chain + 1 - half;
    now_[own] = operation(half, now_[own], now_[other]);
  }
}

/// Phis name what the body makes: it is written before the head that it lies behind.
void StraightWriter::write_loop() {
  constexpr std::uint32_t kNoControl = 0;
  const SpirvId head = module_.new_id();
  const SpirvId body = module_.new_id();
  const SpirvId next = module_.new_id();
  const SpirvId end = module_.new_id();
  const SpirvId trip = module_.new_id();
  for (std::size_t i = 0; i < start_.size(); ++i) {
    at_head_.push_back(module_.new_id());
  }
  module_.add(Part::kLoop, SpirvOp::kLabel, {body});
  write_operations();
  module_.add(Part::kLoop, SpirvOp::kBranch, {next});
  module_.add(Part::kLoop, SpirvOp::kLabel, {next});
  const SpirvId next_trip = module_.add_result(Part::kLoop, SpirvOp::kIAdd, uint_, {trip, one_});
  module_.add(Part::kLoop, SpirvOp::kBranch, {head});

  module_.add(Part::kBegin, SpirvOp::kBranch, {head});
  module_.add(Part::kBegin, SpirvOp::kLabel, {head});
  for (std::size_t i = 0; i < start_.size(); ++i) {
    module_.add(Part::kBegin, SpirvOp::kPhi,
                {float_, at_head_[i], start_[i], entry_, now_[i], next});
  }
  module_.add(Part::kBegin, SpirvOp::kPhi, {uint_, trip, zero_, entry_, next_trip, next});
  const SpirvId goes_on =
      module_.add_result(Part::kBegin, SpirvOp::kULessThan, bool_, {trip, trips_});
  module_.add(Part::kBegin, SpirvOp::kLoopMerge, {end, next, kNoControl});
  module_.add(Part::kBegin, SpirvOp::kBranchConditional, {goes_on, body, end});
  module_.add(Part::kEnd, SpirvOp::kLabel, {end});
}

void StraightWriter::write_results() {
  const SpirvId first =
      module_.add_result(Part::kEnd, SpirvOp::kIMul, uint_, {index_, constant(2 * shape_.chains)});
  for (std::uint32_t i = 0; i < 2 * shape_.chains; ++i) {
    const SpirvId place =
        module_.add_result(Part::kEnd, SpirvOp::kIAdd, uint_, {first, constant(i)});
    const SpirvId at = module_.add_result(Part::kEnd, SpirvOp::kAccessChain, pointer_to_result_,
                                          {result_, zero_, place});
    module_.add(Part::kEnd, SpirvOp::kStore, {at, at_head_[i]});
  }
  module_.add(Part::kEnd, SpirvOp::kReturn, {});
  module_.add(Part::kEnd, SpirvOp::kFunctionEnd, {});
}

std::vector<std::uint32_t> StraightWriter::run() {
  write_head();
  write_types();
  write_start();
  write_loop();
  write_results();
  return module_.words();
}

}  // namespace

std::vector<std::uint32_t> straight_code(const StraightShape& shape) {
  GPUTRACE_CHECK(shape.chains > 0 && shape.operations % (2 * shape.chains) == 0);
  return StraightWriter(shape).run();
}

}  // namespace gputrace::bench
