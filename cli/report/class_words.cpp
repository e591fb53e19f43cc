#include "cli/report/class_words.h"

namespace gputrace::report {
namespace {

constexpr UnitNames kPipe{"GUI_ACTIVE", "gpu"};
constexpr UnitNames kShader{"SPI", ""};
constexpr UnitNames kAddress{"TA", ""};
constexpr UnitNames kTextureCache{"TCP", ""};
constexpr UnitNames kMemory{"EA", ""};
constexpr UnitNames kLevel2{"GL2CC", ""};
constexpr UnitNames kScan{"SC", ""};
constexpr UnitNames kDepth{"DB", ""};
constexpr UnitNames kColour{"CB", ""};
constexpr UnitNames kGeometryEngine{"GE", "VGT"};
constexpr UnitNames kPrimitives{"PA", ""};

constexpr std::array kMemoryUnits{kMemory, kAddress, kLevel2};
constexpr std::array kShaderUnits{kShader, kMemory, kAddress};
constexpr std::array kTextureUnits{kAddress, kTextureCache, kMemory};
constexpr std::array kRasterUnits{kScan, kDepth, kColour, kAddress};
constexpr std::array kGeometryUnits{kGeometryEngine, kPrimitives, kScan};
constexpr std::array<UnitNames, 1> kPipeUnits{kPipe};
constexpr std::array kAllUnits{kShader, kAddress, kMemory, kScan};

constexpr ClassWords kBandwidth{
    "memory bandwidth",
    "memory bandwidth",
    "Limited by memory bandwidth",
    "Memory bandwidth was the limit",
    "Lower the resolution or use upscaling; faster memory (on an APU: dual-channel).",
    "Smaller target formats, half-resolution passes, fused full-screen passes, fewer clears and "
    "copies; keep compression on.",
    kMemoryUnits};
constexpr ClassWords kLatency{
    "memory latency",
    "memory latency",
    "Limited by memory latency",
    "It waited for answers from memory although bandwidth was free",
    "Little to set: lower ray tracing or detail that reads scattered data.",
    "More waves in flight (fewer registers), independent loads, locality, larger pages.",
    kMemoryUnits};
constexpr ClassWords kUnwitnessed{
    "memory (bandwidth or latency, not separable here)",
    "memory (either way)",
    "Limited by memory (bandwidth or latency, not separable here)",
    "Memory was the limit, by its bandwidth or by its latency",
    "Lower the resolution or use upscaling, and record again: if nothing changes it is latency, "
    "and lower ray tracing may help.",
    "Fewer bytes (smaller formats, fused passes) against bandwidth; more waves and locality "
    "against latency.",
    kMemoryUnits};
constexpr ClassWords kCompute{"the shader cores",
                              "the shader cores",
                              "Limited by the shader cores",
                              "The shader cores were the limit",
                              "Lower shading effects.",
                              "Packed FP16, fewer instructions, variable rate shading.",
                              kShaderUnits};
constexpr ClassWords kTexture{"texture sampling",
                              "texture sampling",
                              "Limited by texture sampling",
                              "Texture sampling was the limit",
                              "Lower anisotropic filtering.",
                              "Fewer taps, a mip bias, block-compressed formats, cheaper filters.",
                              kTextureUnits};
constexpr ClassWords kRaster{"pixel output",
                             "pixel output",
                             "Limited by pixel output",
                             "Pixel output was the limit",
                             "Less anti-aliasing, fewer particles, lower shadow resolution.",
                             "Less overdraw and blending, depth first, narrower exports.",
                             kRasterUnits};
constexpr ClassWords kGeometry{"triangles",
                               "triangles",
                               "Limited by triangles",
                               "Triangles were the limit",
                               "Lower tessellation, foliage and draw distance.",
                               "Levels of detail, culling, reuse of indices.",
                               kGeometryUnits};
constexpr ClassWords kCpu{
    "the CPU or a frame limit",
    "the CPU or a frame limit",
    "The GPU waited for the CPU or a frame limit",
    "The GPU waited for the CPU or a frame limit",
    "If lifting the frame limit changes nothing: lower crowds and view distance. A higher "
    "resolution is nearly free.",
    "Profile the CPU; submit earlier. Imported frame times tell a frame limit from the CPU.",
    kPipeUnits};
constexpr ClassWords kMixed{"no single unit",
                            "no single unit",
                            "No single unit was the limit",
                            "No single unit was the limit for long",
                            "Several settings, each a little.",
                            "Look for gaps between passes; overlap them with async compute.",
                            kAllUnits};
constexpr ClassWords kIdle{"nothing to do",
                           "nothing to do",
                           "The GPU had nothing to do",
                           "The GPU had nothing to do",
                           "",
                           "",
                           kPipeUnits};
constexpr ClassWords kUnknown{
    "not known", "not judged", "Cannot tell what limited it", "What limited it cannot be told", "",
    "",          kAllUnits};

}  // namespace

const ClassWords& class_words(analysis::Bottleneck bottleneck) {
  switch (bottleneck) {
    case analysis::Bottleneck::kIdle:
      return kIdle;
    case analysis::Bottleneck::kCpu:
      return kCpu;
    case analysis::Bottleneck::kBandwidth:
      return kBandwidth;
    case analysis::Bottleneck::kLatency:
      return kLatency;
    case analysis::Bottleneck::kMemory:
      return kUnwitnessed;
    case analysis::Bottleneck::kCompute:
      return kCompute;
    case analysis::Bottleneck::kTexture:
      return kTexture;
    case analysis::Bottleneck::kRaster:
      return kRaster;
    case analysis::Bottleneck::kGeometry:
      return kGeometry;
    case analysis::Bottleneck::kMixed:
      return kMixed;
    case analysis::Bottleneck::kUnknown:
      return kUnknown;
  }
  return kUnknown;
}

}  // namespace gputrace::report
