#include "daemon/simulated_gpu/stimulus_reader.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/simulated_gpu/json_members.h"

namespace gputrace::simulated_gpu {

namespace {

constexpr std::array<std::pair<std::string_view, Access>, 8> kAccesses = {{
    {"none", Access::kNone},
    {"stream", Access::kStream},
    {"resident", Access::kResident},
    {"random", Access::kRandom},
    {"chase", Access::kChase},
    {"texture", Access::kTexture},
    {"random_texture", Access::kRandomTexture},
    {"atomic", Access::kAtomic},
}};

constexpr std::array<std::pair<std::string_view, ReadFrom>, 7> kPaths = {{
    {"vector", ReadFrom::kVector},
    {"scalar", ReadFrom::kScalar},
    {"constant", ReadFrom::kVector},
    {"texel", ReadFrom::kVector},
    {"image", ReadFrom::kVector},
    {"sampled", ReadFrom::kSampled},
    {"local", ReadFrom::kLocal},
}};

/// Shares of 256 operations a clk and CU, the peak of dual-issued fp32, that code reaches. vkpeak:
/// its published figures of a 780M, at the boost clock of 2.7 GHz.
constexpr std::array<std::pair<std::string_view, double>, 13> kIssueShares = {{
    {"fp32", 0.588},          // [C] 4,700 GFLOPS at 2.6 GHz
    {"fp32_special", 0.05},   // [A] a quarter of 64 lanes, 0.8 of which is reached
    {"fp16", 0.4},            // [C] vkpeak fp16-scalar: 3,313 GFLOPS
    {"int16", 0.383},         // [C] vkpeak int16-scalar: 3,174 GIOPS
    {"int16_packed", 0.773},  // [C] vkpeak int16-vec4: 6,412 GIOPS
    {"int24", 0.2},           // [A] 64 lanes, 0.8 of which is reached
    {"int32_add", 0.2},       // [A] the same
    {"int64", 0.04},          // [A] five instructions
    {"fp16_packed", 0.75},    // [C] vkpeak fp16-vec4: 6,224 GFLOPS
    {"fp64", 1.0 / 64},       // [C] vkpeak fp64-scalar: 130 GFLOPS
    {"int32", 0.1},           // [C] vkpeak int32-scalar, multiply and add: 830 GIOPS
    {"int8_dot", 1.6},  // [A] 64 lanes of four multiply-adds, 0.8 of which vkpeak's fp32 reaches
    {"matrix", 1.8},    // [C] vkpeak fp16-matrix: 14,942 GFLOPS
}};

template <class Value, std::size_t N>
Value choose(JsonMembers& members, const char* key,
             const std::array<std::pair<std::string_view, Value>, N>& known) {
  const std::string name = members.text(key, std::string(known.front().first));
  const auto* const found = std::find_if(known.begin(), known.end(),
                                         [&](const auto& item) { return item.first == name; });
  if (found == known.end()) {
    std::string names;
    for (const auto& item : known) {
      names += (names.empty() ? "" : ", ") + std::string(item.first);
    }
    members.complain(key, "must be one of " + names);
    return known.front().second;
  }
  return found->second;
}

}  // namespace

Result<Stimulus> read_stimulus(const nlohmann::json& document) {
  JsonMembers members(document, "");
  constexpr NumberRange kBytes{0, 1e9};
  Stimulus stimulus;
  members.text("kernel", "");
  stimulus.pixels = members.boolean("pixels", false);
  stimulus.threads = members.number("threads", 0, {1, 1e12});
  if (members.find("threads") == nullptr) {
    members.complain("threads", "must be a number from 1 to 1e12");
  }
  stimulus.launches = members.integer("launches", 1, {1, 1e6});
  stimulus.group_threads = members.integer("group_threads", 0, {0, 1024});
  stimulus.waves_per_simd = members.integer("waves_per_simd", 0, {0, 64});
  stimulus.max_groups = members.integer("max_groups", 0, {0, 1e6});
  stimulus.steps = members.number("steps", 1, {0, 1e9});
  stimulus.issue_share = choose(members, "arithmetic", kIssueShares);
  stimulus.flops = members.number("flops", 0, {0, 1e12});
  stimulus.access = choose(members, "access", kAccesses);
  stimulus.read_bytes = members.number("read_bytes", 0, kBytes);
  stimulus.written_bytes = members.number("written_bytes", 0, kBytes);
  members.number("dram_bytes", 0, {0, 1e12});  // what the kernel states; the model finds its own
  stimulus.footprint_bytes = members.number("footprint_bytes", 0, {0, 1e13});
  stimulus.path = choose(members, "path", kPaths);
  stimulus.stride_bytes = members.number("stride_bytes", 0, {0, 1e13});
  stimulus.local_bytes = members.number("local_bytes", 0, kBytes);
  stimulus.group_local_bytes = members.number("group_local_bytes", 0, {0, 1e6});
  stimulus.sharers = members.number("sharers", 1, {1, 1e12});
  stimulus.code_bytes = members.number("code_bytes", 0, {0, 1e9});
  stimulus.fetches = members.number("fetches", 0, {0, 1e5});
  stimulus.bilinear = members.boolean("bilinear", false);
  stimulus.overdraw = members.number("overdraw", 1, {0, 1e6});
  if (stimulus.access != Access::kNone && stimulus.access != Access::kStream &&
      !(stimulus.footprint_bytes >= 1)) {
    members.complain("footprint_bytes", "must be at least 1 with this access");
  }
  if (auto finished = members.finish(); !finished) {
    return tl::unexpected(finished.error());
  }
  return stimulus;
}

}  // namespace gputrace::simulated_gpu
