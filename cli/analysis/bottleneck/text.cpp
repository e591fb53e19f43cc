#include "cli/analysis/bottleneck/text.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

namespace gputrace::analysis {
namespace {

/// Below this a share of unreadable or slept samples says nothing worth a sentence.
constexpr double kWorthTelling = 0.05;

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

/// "EA_BUSY 93 % (±1)".
std::string with_interval(const RoleReading& reading) {
  std::string text = fmt::format("{} {}", reading.name, percent(reading.busy));
  if (reading.ci95) {
    const double points = 50 * (reading.ci95->upper - reading.ci95->lower);
    text += points < 0.5 ? " (±<1)" : fmt::format(" (±{:.0f})", points);
  }
  return text;
}

/// "EA_BUSY 93 % (±1), GL2CC_BUSY 95 %": those that were read, the first with its interval.
std::string list(const Signature& signature, std::initializer_list<Role> roles) {
  std::string text;
  for (const Role role : roles) {
    if (const auto& reading = signature.at(role)) {
      text += text.empty() ? with_interval(*reading)
                           : fmt::format(", {} {}", reading->name, percent(reading->busy));
    }
  }
  return text;
}

void add(std::vector<std::string>& sentences, std::string_view meaning, const std::string& units) {
  if (!units.empty()) {
    sentences.push_back(fmt::format("{}: {}.", meaning, units));
  }
}

std::string dram_sentence(const MemoryWitness& witness) {
  std::string covers = witness.source;
  if (!witness.covers.empty()) {
    covers += "; " + witness.covers;
  }
  if (!witness.ceiling_source.empty() && witness.ceiling_gbps) {
    covers += "; ceiling: " + witness.ceiling_source;
  }
  if (witness.gbps && witness.ceiling_gbps) {
    return fmt::format("DRAM moved {:.0f} of {:.0f} GB/s ({}).", *witness.gbps,
                       *witness.ceiling_gbps, covers);
  }
  if (witness.activity) {
    return fmt::format("Memory was at {} of its theoretical peak ({}).", percent(*witness.activity),
                       covers);
  }
  return witness.gbps ? fmt::format("DRAM moved {:.1f} GB/s ({}); what it can do was not measured.",
                                    *witness.gbps, covers)
                      : std::string();
}

/// What the class rests on.
void add_reason(std::vector<std::string>& out, const StretchFacts& facts,
                const Signature& signature, const Judgement& judgement) {
  const auto memory = list(signature, {Role::kMemory, Role::kL2, Role::kArrayCache});
  switch (judgement.decision.ground) {
    case Ground::kNothingToDo:
      add(out, "The GPU had nothing to do", list(signature, {Role::kActive}));
      return;
    case Ground::kWaitsForCpu:
      add(out, "The GPU was out of work part of the time", list(signature, {Role::kActive}));
      return;
    case Ground::kNoActive:
      out.emplace_back("Cannot tell: GUI_ACTIVE was not read, and no unit was busy all the time.");
      return;
    case Ground::kImpossible:
      out.emplace_back(
          "Cannot tell: some units were busier than all units that could give them work.");
      add(out, "Memory path", memory);
      add(out, "Before it", list(signature, {Role::kTexture, Role::kColour, Role::kShader}));
      return;
    case Ground::kNothingWorks:
      out.emplace_back(
          "Cannot tell: the GPU was active, but no unit that was read was busy half of the time.");
      add(out, "Active", list(signature, {Role::kActive, Role::kShader}));
      return;
    case Ground::kMemoryFull:
      add(out, "Requests to memory were under way", memory);
      break;
    case Ground::kFewRequests:
      add(out, "Shaders waited all the time for requests of which part went to DRAM",
          list(signature, {Role::kTexture, Role::kVectorCache, Role::kMemory}));
      break;
    case Ground::kTextureOrMemory:
      add(out, "The texture path was full", list(signature, {Role::kTexture, Role::kVectorCache}));
      out.emplace_back("No unit behind it was read: textures and memory cannot be told apart.");
      break;
    case Ground::kOutputNotMemory:
      add(out, "Memory was full of writes, which nobody waits for", memory);
      add(out, "Those who write were busy",
          list(signature, {Role::kColour, Role::kRaster, Role::kShader, Role::kExport}));
      break;
    case Ground::kStageFull:
    case Ground::kNoneFull:
      break;
  }
  switch (judgement.decision.bottleneck) {
    case Bottleneck::kTexture:
      add(out, "The texture path was full", list(signature, {Role::kTexture, Role::kVectorCache}));
      break;
    case Bottleneck::kRaster:
      add(out, "Pixel output was full",
          list(signature, {Role::kRaster, Role::kDepth, Role::kColour}));
      add(out, "Textures were not", list(signature, {Role::kTexture}));
      break;
    case Bottleneck::kGeometry:
      add(out, "Geometry was full and pixels were not",
          list(signature, {Role::kGeometry, Role::kPrimitives, Role::kRaster}));
      break;
    case Bottleneck::kCompute:
      add(out, "Shaders ran, and nothing that they ask was full",
          list(signature, {Role::kShader, Role::kTexture, Role::kVectorCache}));
      break;
    case Bottleneck::kMixed:
      add(out, "No unit was full for long",
          list(signature, {Role::kRaster, Role::kTexture, Role::kColour, Role::kShader}));
      break;
    default:
      return;
  }
  if (judgement.decision.ground != Ground::kOutputNotMemory) {
    add(out, "Memory", memory);
  }
  (void)facts;
}

/// What makes the class less sure.
void add_limits(std::vector<std::string>& out, const StretchFacts& facts,
                const Signature& signature, const Judgement& judgement,
                const std::optional<DramUse>& dram) {
  const Bottleneck bottleneck = judgement.decision.bottleneck;
  const Ground ground = judgement.decision.ground;
  if (facts.asleep_share >= kWorthTelling) {
    out.push_back(fmt::format("The GPU slept {} of the time.", percent(facts.asleep_share)));
  }
  if (facts.unknown_share >= kWorthTelling) {
    out.push_back(
        fmt::format("{} of the samples could not be read.", percent(facts.unknown_share)));
  }
  if (bottleneck == Bottleneck::kIdle || bottleneck == Bottleneck::kCpu) {
    return;
  }
  if (bottleneck == Bottleneck::kMemory && ground != Ground::kTextureOrMemory) {
    out.emplace_back(dram ? "That is neither all that memory can do nor clearly less."
                          : "Nothing here tells bandwidth from latency, and shaders that always "
                            "have a request under way look the same.");
  }
  if (bottleneck == Bottleneck::kLatency && dram && dram->share >= kFewRequestsShare) {
    out.emplace_back("Shaders that compute with requests always under way look the same.");
  }
  if (dram && dram->share >= dram_limits(*dram).full && bottleneck != Bottleneck::kBandwidth) {
    out.emplace_back("But DRAM was at its limit: the traffic may be the CPU's or that of copies.");
  }
  if (!signature.has(Role::kActive) && ground != Ground::kNoActive) {
    out.emplace_back("GUI_ACTIVE was not read: how long the GPU worked is a guess.");
  }
  if (!judgement.stages.memory && ground != Ground::kTextureOrMemory) {
    out.emplace_back("No unit of the memory path was read: a limit there would not show.");
  } else if (!signature.has(Role::kL2) && judgement.stages.memory) {
    out.emplace_back("Of the memory path only " + signature.at(Role::kMemory)->name + " was read.");
  }
  if (!judgement.stages.raster) {
    out.emplace_back("SC_BUSY was not read: pixels and dispatches are not told apart.");
  }
  constexpr double kOdd = 0.15;
  if (judgement.stages.impossible >= kOdd && ground != Ground::kImpossible) {
    out.emplace_back("Some units were busier than those that give them work.");
  }
}

}  // namespace

std::vector<std::string> tell_evidence(const StretchFacts& facts, const Signature& signature,
                                       const Judgement& judgement,
                                       const std::optional<DramUse>& dram) {
  std::vector<std::string> evidence;
  const bool about_stages = judgement.decision.bottleneck != Bottleneck::kIdle &&
                            judgement.decision.bottleneck != Bottleneck::kCpu;
  if (facts.witness && about_stages) {
    if (std::string sentence = dram_sentence(*facts.witness); !sentence.empty()) {
      evidence.push_back(std::move(sentence));
    }
  }
  add_reason(evidence, facts, signature, judgement);
  add_limits(evidence, facts, signature, judgement, dram);
  return evidence;
}

std::string tell_what_would_change(const StretchFacts& facts, const Signature& signature,
                                   const Judgement& judgement, const std::optional<DramUse>& dram) {
  switch (judgement.decision.ground) {
    case Ground::kNothingToDo:
      return fmt::format("GUI_ACTIVE above {} would mean work.", percent(0.05));
    case Ground::kWaitsForCpu:
      return "Lift the frame limit and record again: if the GPU then works all the time, the "
             "limit was the cause, else the CPU.";
    case Ground::kNoActive:
      return "Record GRBM_STATUS as well: `gputrace doctor` says what keeps it from being read.";
    case Ground::kImpossible:
      return "Look at the stretch more closely (`gputrace report --from --to`), and check the "
             "register tables with `gputrace doctor`.";
    case Ground::kNothingWorks:
      return "Many small submissions or barriers would show as CP_BUSY: group draws or "
             "dispatches and record again.";
    case Ground::kTextureOrMemory:
      return "EA_BUSY tells them apart: record with gputrace itself, or with DRAM traffic.";
    default:
      break;
  }
  switch (judgement.decision.bottleneck) {
    case Bottleneck::kMemory:
      if (!dram) {
        return facts.witness && facts.witness->gbps
                   ? "`gputrace roofline` measures what DRAM can do; then its traffic tells "
                     "bandwidth from latency."
                   : "DRAM traffic would tell bandwidth from latency: `gputrace doctor` says "
                     "whether this machine can show it.";
      }
      return "Record again at another memory clock: bandwidth follows it.";
    case Bottleneck::kBandwidth:
      return fmt::format("Less than {} of what DRAM can do would speak against bandwidth.",
                         percent(dram_limits(dram.value_or(DramUse{})).full));
    case Bottleneck::kLatency:
      return "Record again at another GPU clock: waiting for DRAM hardly follows it, arithmetic "
             "does.";
    case Bottleneck::kCompute:
    case Bottleneck::kTexture:
      return fmt::format("{} above {} would mean memory.",
                         signature.has(Role::kMemory) ? "EA_BUSY" : "A full memory path",
                         percent(kMemoryFull));
    case Bottleneck::kRaster:
      return "Render to a smaller target: if the time does not follow, the limit is elsewhere.";
    case Bottleneck::kGeometry:
      return "Draw fewer triangles: if the time does not follow, the limit is elsewhere.";
    case Bottleneck::kMixed:
      return "Shorter stretches may have one limit each: `gputrace report --scenes` shows them.";
    default:
      return {};
  }
}

}  // namespace gputrace::analysis
