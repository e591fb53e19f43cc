#include "cli/commands/bench/stimulus_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace gputrace::commands {

namespace {

std::string_view name_of(bench::Access access) {
  switch (access) {
    case bench::Access::kNone:
      return "none";
    case bench::Access::kStream:
      return "stream";
    case bench::Access::kResident:
      return "resident";
    case bench::Access::kRandom:
      return "random";
    case bench::Access::kChase:
      return "chase";
    case bench::Access::kTexture:
      return "texture";
    case bench::Access::kRandomTexture:
      return "random_texture";
    case bench::Access::kAtomic:
      return "atomic";
  }
  return "";
}

std::string_view name_of(bench::Arithmetic arithmetic) {
  switch (arithmetic) {
    case bench::Arithmetic::kFp32:
      return "fp32";
    case bench::Arithmetic::kFp32Special:
      return "fp32_special";
    case bench::Arithmetic::kFp16:
      return "fp16";
    case bench::Arithmetic::kFp16Packed:
      return "fp16_packed";
    case bench::Arithmetic::kFp64:
      return "fp64";
    case bench::Arithmetic::kInt16:
      return "int16";
    case bench::Arithmetic::kInt16Packed:
      return "int16_packed";
    case bench::Arithmetic::kInt24:
      return "int24";
    case bench::Arithmetic::kInt32:
      return "int32";
    case bench::Arithmetic::kInt32Add:
      return "int32_add";
    case bench::Arithmetic::kInt64:
      return "int64";
    case bench::Arithmetic::kInt8Dot:
      return "int8_dot";
    case bench::Arithmetic::kMatrix:
      return "matrix";
  }
  return "";
}

std::string_view name_of(bench::Path path) {
  switch (path) {
    case bench::Path::kVector:
      return "vector";
    case bench::Path::kScalar:
      return "scalar";
    case bench::Path::kConstant:
      return "constant";
    case bench::Path::kTexel:
      return "texel";
    case bench::Path::kImage:
      return "image";
    case bench::Path::kSampled:
      return "sampled";
    case bench::Path::kLocal:
      return "local";
  }
  return "";
}

}  // namespace

std::string stimulus_json(const bench::Stimulus& stimulus) {
  nlohmann::ordered_json object = {
      {"kernel", stimulus.kernel},
      {"pixels", stimulus.pixels},
      {"threads", stimulus.threads},
      {"launches", stimulus.launches},
      {"group_threads", stimulus.group_threads},
      {"waves_per_simd", stimulus.waves_per_simd},
      {"max_groups", stimulus.max_groups},
      {"steps", stimulus.steps},
      {"arithmetic", name_of(stimulus.arithmetic)},
      {"flops", stimulus.flops},
      {"access", name_of(stimulus.access)},
      {"path", name_of(stimulus.path)},
      {"read_bytes", stimulus.read_bytes},
      {"written_bytes", stimulus.written_bytes},
      {"footprint_bytes", stimulus.footprint_bytes},
      {"stride_bytes", stimulus.stride_bytes},
      {"local_bytes", stimulus.local_bytes},
      {"group_local_bytes", stimulus.group_local_bytes},
      {"sharers", stimulus.sharers},
      {"code_bytes", stimulus.code_bytes},
      {"fetches", stimulus.fetches},
      {"bilinear", stimulus.bilinear},
      {"overdraw", stimulus.overdraw},
  };
  if (stimulus.dram_bytes) {
    object["dram_bytes"] = *stimulus.dram_bytes;
  }
  // A name that is not UTF-8 must not throw.
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gputrace::commands
