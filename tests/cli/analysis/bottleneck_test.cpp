// Which class a stretch gets, and why. How often it is right: bottleneck_accuracy_test.cpp.
#include "cli/analysis/bottleneck.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

#include "tests/cli/analysis/class_profiles.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using analysis::UnitKey;
using analysis::Verdict;

const ClassProfile& profile(std::string_view name) {
  for (const ClassProfile& known : class_profiles()) {
    if (known.name == name) {
      return known;
    }
  }
  FAIL("no such profile");
  return class_profiles().front();
}

Stretch stretch(std::string_view name) {
  return {.units = make_units(profile_units(), profile(name).busy)};
}

Stretch without(Stretch made, std::string_view register_name) {
  std::erase_if(made.units, [&](const analysis::BusyUnit& unit) {
    return unit.key.register_name == register_name;
  });
  return made;
}

bool says(const Verdict& verdict, std::string_view words) {
  return std::any_of(
      verdict.evidence.begin(), verdict.evidence.end(),
      [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("each known profile has its class, evidence with numbers, and what would change it") {
  for (const ClassProfile& known : class_profiles()) {
    CAPTURE(known.name);
    const Verdict verdict = stretch(known.name).classify();
    CHECK(verdict.bottleneck == known.truth);
    CHECK(verdict.confidence >= 0.7);
    CHECK(says(verdict, " %"));
    CHECK_FALSE(verdict.would_change.empty());
  }
}

TEST_CASE("memory needs a witness to be bandwidth or latency, and is not sure without one") {
  Stretch made = stretch("low intensity");
  const Verdict alone = made.classify();
  CHECK(alone.bottleneck == Bottleneck::kMemory);
  CHECK(alone.confidence < 0.9);
  CHECK(alone.would_change.find("DRAM traffic") != std::string::npos);

  made.witness = dram_bytes(71, 73);
  const Verdict full = made.classify();
  CHECK(full.bottleneck == Bottleneck::kBandwidth);
  CHECK(full.confidence >= 0.9);
  CHECK(says(full, "DRAM moved 71 of 73 GB/s (pmu amd_umc; CPU and GPU together"));

  made.witness = dram_bytes(1, 73);
  const Verdict few = made.classify();
  CHECK(few.bottleneck == Bottleneck::kLatency);
  CHECK(few.confidence >= 0.9);

  // Half of the bandwidth: waiting, or computing with requests under way.
  made.witness = dram_bytes(36, 73);
  const Verdict half = made.classify();
  CHECK(half.bottleneck == Bottleneck::kLatency);
  CHECK(half.confidence < 0.7);

  made.witness = dram_bytes(50, 73);
  CHECK(made.classify().bottleneck == Bottleneck::kMemory);
}

TEST_CASE(
    "memory activity is a witness of the theoretical peak; bytes without a ceiling are none") {
  Stretch made = stretch("low intensity");
  made.witness = analysis::MemoryWitness{.source = "gpu_metrics average_umc_activity",
                                         .gbps = std::nullopt,
                                         .ceiling_gbps = std::nullopt,
                                         .ceiling_source = "",
                                         .activity = 0.79,
                                         .covers = ""};
  CHECK(made.classify().bottleneck == Bottleneck::kBandwidth);
  made.witness->activity = 0.02;
  CHECK(made.classify().bottleneck == Bottleneck::kLatency);
  made.witness->activity = std::nullopt;
  CHECK(made.classify().bottleneck == Bottleneck::kMemory);
  made.witness->gbps = 70;
  const Verdict verdict = made.classify();
  CHECK(verdict.bottleneck == Bottleneck::kMemory);
  CHECK(says(verdict, "what it can do was not measured"));
  CHECK(verdict.would_change.find("gputrace roofline") != std::string::npos);
}

TEST_CASE("a witness that contradicts lowers the confidence and is told") {
  Stretch made = stretch("texture");
  const double alone = made.classify().confidence;
  made.witness = dram_bytes(72, 73);
  const Verdict verdict = made.classify();
  CHECK(verdict.bottleneck == Bottleneck::kTexture);
  CHECK(verdict.confidence < 0.7 * alone);
  CHECK(says(verdict, "But DRAM was at its limit"));
}

TEST_CASE("nobody waits for writes: pixel output with free bandwidth is no memory limit") {
  auto busy = profile("raster").busy;
  busy[2] = busy[3] = 0;              // no textures
  busy[4] = busy[5] = busy[6] = .97;  // written colour fills memory
  Stretch made{.units = make_units(profile_units(), busy)};
  CHECK(made.classify().bottleneck == Bottleneck::kMemory);
  made.witness = dram_bytes(40, 73);
  CHECK(made.classify().bottleneck == Bottleneck::kRaster);
  made.witness = dram_bytes(82, 73);  // writes alone reach more than a copy
  CHECK(made.classify().bottleneck == Bottleneck::kBandwidth);
}

TEST_CASE("fewer units: fewer classes, less confidence, and both are told") {
  const Stretch game = stretch("game, 54 W");
  const Verdict two = without(game, "GRBM_STATUS3").classify();
  CHECK(two.bottleneck == Bottleneck::kMemory);
  CHECK(says(two, "Of the memory path only EA_BUSY was read"));

  const Verdict one = without(without(game, "GRBM_STATUS3"), "GRBM_STATUS2").classify();
  CHECK(one.bottleneck == Bottleneck::kMemory);
  CHECK(one.confidence < 0.6);
  CHECK(says(one, "textures and memory cannot be told apart"));

  const Stretch compute = stretch("high intensity");
  const Verdict blind = without(without(compute, "GRBM_STATUS3"), "GRBM_STATUS2").classify();
  CHECK(blind.confidence < compute.classify().confidence);
  CHECK(says(blind, "No unit of the memory path was read"));

  const Verdict no_status = without(compute, "GRBM_STATUS").classify();
  CHECK(no_status.bottleneck == Bottleneck::kUnknown);
  CHECK(no_status.would_change.find("GRBM_STATUS") != std::string::npos);
}

TEST_CASE("radeontop's columns and older generations are known by their names") {
  const std::vector<UnitKey> radeontop = {
      {"radeontop", "gpu"}, {"radeontop", "ee"}, {"radeontop", "vgt"}, {"radeontop", "ta"},
      {"radeontop", "sx"},  {"radeontop", "sh"}, {"radeontop", "spi"}, {"radeontop", "sc"},
      {"radeontop", "pa"},  {"radeontop", "db"}, {"radeontop", "cb"}};
  Stretch fill{.units = make_units(radeontop, {.99, 0, .02, .02, .9, .1, .97, .98, .02, .97, .97})};
  CHECK(fill.classify().bottleneck == Bottleneck::kRaster);
  CHECK(fill.classify().confidence < 0.9);
  for (analysis::BusyUnit& unit : fill.units) {  // percentages without a number of samples
    unit.counts = std::nullopt;
    unit.ci95 = std::nullopt;
  }
  CHECK(fill.classify().bottleneck == Bottleneck::kRaster);
  const Stretch idle{.units = make_units(radeontop, {.01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})};
  CHECK(idle.classify().bottleneck == Bottleneck::kIdle);

  const std::vector<UnitKey> vega = {
      {"GRBM_STATUS", "GUI_ACTIVE"}, {"GRBM_STATUS", "VGT_BUSY"}, {"GRBM_STATUS", "IA_BUSY"},
      {"GRBM_STATUS", "WD_BUSY"},    {"GRBM_STATUS", "PA_BUSY"},  {"GRBM_STATUS", "SC_BUSY"},
      {"GRBM_STATUS", "SPI_BUSY"},   {"GRBM_STATUS", "TA_BUSY"},  {"GRBM_STATUS2", "TC_BUSY"},
      {"GRBM_STATUS2", "EA_BUSY"},   {"GRBM_STATUS", "CB_BUSY"},  {"GRBM_STATUS", "DB_BUSY"}};
  const auto vega_class = [&](const std::vector<double>& busy) {
    return Stretch{.units = make_units(vega, busy)}.classify().bottleneck;
  };
  CHECK(vega_class({.98, 0, 0, 0, 0, 0, .98, .97, .97, .96, 0, 0}) == Bottleneck::kMemory);
  CHECK(vega_class({.98, .97, .95, .6, .97, .45, .9, .3, .3, .3, .3, .4}) == Bottleneck::kGeometry);
}

TEST_CASE("shader engines stand in for a register that lacks the unit, by their mean") {
  // GC 11.5: TCP and GL1 only in the registers of the shader engines, no L2.
  std::vector<UnitKey> keys = {{"GRBM_STATUS", "GUI_ACTIVE"}, {"GRBM_STATUS", "SPI_BUSY"},
                               {"GRBM_STATUS", "TA_BUSY"},    {"GRBM_STATUS", "SC_BUSY"},
                               {"GRBM_STATUS", "CB_BUSY"},    {"GRBM_STATUS2", "EA_BUSY"}};
  std::vector<double> busy = {.99, .99, .99, .93, .3, .2};
  for (const std::string engine : {"GRBM_STATUS_SE0", "GRBM_STATUS_SE1"}) {
    keys.push_back({engine, "TCP_BUSY"});
    keys.push_back({engine, "GL1CC_BUSY"});
    keys.push_back({engine, "TA_BUSY"});  // not asked: GRBM_STATUS has it
    busy.insert(busy.end(), {engine.back() == '0' ? .99 : .93, .2, .1});
  }
  const Verdict verdict = Stretch{.units = make_units(keys, busy)}.classify();
  CHECK(verdict.bottleneck == Bottleneck::kTexture);
  CHECK(says(verdict, "TA_BUSY 99 %"));
  CHECK(says(verdict, "TCP_BUSY of the shader engines 96 %"));
}

TEST_CASE("a GPU that slept was idle, and one that could not be read is unknown") {
  const std::vector<double> nothing(profile_units().size());
  Stretch asleep{.units = make_units(profile_units(), nothing, 1)};
  for (analysis::BusyUnit& unit : asleep.units) {
    unit.counts = analysis::Counts{};
    unit.ci95 = std::nullopt;
  }
  Stretch unreadable = asleep;
  asleep.asleep_share = 1;
  CHECK(asleep.classify().bottleneck == Bottleneck::kIdle);
  CHECK(asleep.classify().confidence == 1);
  CHECK(says(asleep.classify(), "The GPU slept"));

  unreadable.unknown_share = 1;
  CHECK(unreadable.classify().bottleneck == Bottleneck::kUnknown);
  CHECK(says(unreadable.classify(), "100 % of the samples could not be read"));
  CHECK(unreadable.classify().would_change.find("gputrace doctor") != std::string::npos);

  Stretch half = stretch("texture");
  half.unknown_share = 0.5;
  CHECK(half.classify().bottleneck == Bottleneck::kTexture);
  CHECK(half.classify().confidence == stretch("texture").classify().confidence);
  CHECK(says(half.classify(), "50 % of the samples could not be read"));
  half.unseen_share = 0.5;  // all of them in one half of the time
  CHECK(half.classify().bottleneck == Bottleneck::kTexture);
  CHECK(half.classify().confidence <= 0.5);
  Stretch hiding = stretch("texture");
  for (analysis::BusyUnit& unit : hiding.units) {
    unit.missing_shift = 0.2;
  }
  CHECK(hiding.classify().confidence < stretch("texture").classify().confidence);

  const Stretch few{.units = make_units(profile_units(), profile("texture").busy, 5)};
  CHECK(few.classify().bottleneck == Bottleneck::kUnknown);
  CHECK(says(few.classify(), "too few samples"));
  CHECK(Stretch{}.classify().bottleneck == Bottleneck::kUnknown);
}

TEST_CASE("work between naps is limited by what feeds it") {
  Stretch made = stretch("texture");
  made.asleep_share = 0.6;
  CHECK(made.classify().bottleneck == Bottleneck::kCpu);
  made.asleep_share = 0.97;
  CHECK(made.classify().bottleneck == Bottleneck::kIdle);
}

TEST_CASE("a class keeps its place while a share wanders about its limit") {
  std::vector<double> busy = profile("game, 54 W").busy;
  busy[4] = busy[5] = busy[6] = .80;
  const Stretch between{.units = make_units(profile_units(), busy)};
  CHECK(between.classify().bottleneck == Bottleneck::kMixed);
  CHECK(between.classify(Bottleneck::kMixed).bottleneck == Bottleneck::kMixed);
  CHECK(between.classify(Bottleneck::kMemory).bottleneck == Bottleneck::kMemory);
  CHECK(between.classify(Bottleneck::kMemory).confidence < 0.8);
}

TEST_CASE("work that cannot be is unknown, with a reason and a next step") {
  // DRAM full of requests that nobody makes.
  std::vector<double> busy(profile_units().size(), .1);
  busy[0] = .98;
  busy[6] = .95;
  const Verdict orphan = Stretch{.units = make_units(profile_units(), busy)}.classify();
  CHECK(orphan.bottleneck == Bottleneck::kUnknown);
  CHECK(orphan.confidence < 0.5);
  CHECK(says(orphan, "busier than all units that could give them work"));
  CHECK_FALSE(orphan.would_change.empty());
  // Active, and nothing works.
  busy[6] = .1;
  const Verdict hollow = Stretch{.units = make_units(profile_units(), busy)}.classify();
  CHECK(hollow.bottleneck == Bottleneck::kUnknown);
  CHECK(says(hollow, "no unit that was read was busy half of the time"));
}

TEST_CASE("stored workloads name what a stretch is like and never decide") {
  Stretch made = stretch("game, 25 W");
  made.known = {{.name = "game", .units = stretch("game, 54 W").units},
                {.name = "texture fetches", .units = stretch("texture").units}};
  const Verdict like = made.classify();
  CHECK(like.nearest == "game");
  CHECK(like.bottleneck == Bottleneck::kMemory);

  made = stretch("raster");
  const double alone = made.classify().confidence;
  made.known = {{.name = "texture fetches", .units = stretch("texture").units}};
  const Verdict unlike = made.classify();
  CHECK(unlike.bottleneck == Bottleneck::kRaster);
  CHECK(unlike.confidence < alone);
  CHECK(unlike.confidence < 0.7);
  CHECK(says(unlike, "Unlike all known workloads"));
}

TEST_CASE("the same input gives the same verdict") {
  const Stretch made = stretch("mixed");
  const Verdict one = made.classify();
  const Verdict other = made.classify();
  CHECK(one.confidence == other.confidence);
  CHECK(one.evidence == other.evidence);
  CHECK(one.runner_up == other.runner_up);
}

TEST_CASE("intervals are told once, with their unit") {
  const Verdict verdict = stretch("high intensity").classify();
  CHECK(says(verdict, "SPI_BUSY 99 % (±"));
  CHECK(says(verdict, "EA_BUSY 41 % (±"));
}

TEST_CASE("words of certainty begin at their limits") {
  CHECK(analysis::certainty_word(0.90) == "sure");
  CHECK(analysis::certainty_word(0.899) == "likely");
  CHECK(analysis::certainty_word(0.70) == "likely");
  CHECK(analysis::certainty_word(0.50) == "a guess");
  CHECK(analysis::certainty_word(0.499) == "cannot tell");
  CHECK(analysis::to_string(Bottleneck::kMemory) == "memory");
}

}  // namespace gputrace::test
