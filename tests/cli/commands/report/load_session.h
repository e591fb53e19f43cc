// Sessions of known loads: busy fractions by unit, for stretches of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "regdb/register_database.h"
#include "tests/cli/commands/report/sensor_session.h"

namespace gputrace::test {

/// Busy fractions of units by name, in whatever register.
using Load = std::map<std::string, double>;

inline Load memory_load() {
  return {{"GUI_ACTIVE", 0.98}, {"SPI_BUSY", 0.98},   {"TA_BUSY", 0.96},    {"TCP_BUSY", 0.96},
          {"EA_BUSY", 0.96},    {"GL2CC_BUSY", 0.96}, {"GL1CC_BUSY", 0.96}, {"CP_BUSY", 0.98}};
}
inline Load compute_load() {
  return {{"GUI_ACTIVE", 0.99}, {"SPI_BUSY", 0.99},   {"TA_BUSY", 0.35},    {"TCP_BUSY", 0.35},
          {"EA_BUSY", 0.25},    {"GL2CC_BUSY", 0.28}, {"GL1CC_BUSY", 0.31}, {"CP_BUSY", 0.99}};
}

struct LoadStretch {
  double seconds = 10;
  Load load;
};

/// Runs of two equal samples, at random from a seed.
inline SessionRecipe recipe_of(std::vector<std::string> registers,
                               const std::vector<LoadStretch>& stretches) {
  SessionRecipe recipe;
  recipe.registers = std::move(registers);
  recipe.seconds = 0;
  for (const LoadStretch& stretch : stretches) {
    recipe.seconds += stretch.seconds;
  }
  const auto map = regdb::RegisterDatabase::built_in().map_for_table(recipe.regdb_table);
  REQUIRE(map);
  struct Bit {
    std::uint32_t mask = 0;
    double duty = 0;
  };
  std::vector<std::vector<std::vector<Bit>>> bits;  // [stretch][register]
  for (const LoadStretch& stretch : stretches) {
    std::vector<std::vector<Bit>>& of_stretch = bits.emplace_back();
    for (const std::string& name : recipe.registers) {
      std::vector<Bit>& of_register = of_stretch.emplace_back();
      for (const auto& [unit, duty] : stretch.load) {
        if (const regdb::RegisterField* field = map->find(name)->find_field(unit)) {
          of_register.push_back({field->mask(), duty});
        }
      }
    }
  }
  recipe.word = [bits, stretches](std::size_t reg, std::size_t tick) {
    double at_s = static_cast<double>(tick) / 1000;
    std::size_t stretch = 0;
    while (stretch + 1 < stretches.size() && at_s >= stretches[stretch].seconds) {
      at_s -= stretches[stretch].seconds;
      ++stretch;
    }
    std::uint32_t word = 0;
    for (const Bit& bit : bits[stretch][reg]) {
      // splitmix64 of the pair of ticks and the bit.
      std::uint64_t mixed = (tick / 2 + 1) * 0x9e3779b97f4a7c15U + bit.mask * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
      mixed ^= mixed >> 31U;
      word |= static_cast<double>(mixed >> 11U) * 0x1p-53 < bit.duty ? bit.mask : 0U;
    }
    return word;
  };
  return recipe;
}

inline std::vector<std::string> all_registers() {
  return {"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS3"};
}

/// DRAM bytes of an APU: so many GB/s until `change_s`, then others.
inline SourceRecipe dram_counters(double change_s, double before, double behind) {
  const auto total = [=](double share) {
    return [=](double at) {
      return 1e9 * share *
             (before * std::min(at, change_s) + behind * std::max(0.0, at - change_s));
    };
  };
  return {"pmu amd_umc",
          {counter("dram_read", "bytes", total(0.6), "pmu amd_umc rd"),
           counter("dram_write", "bytes", total(0.4), "pmu amd_umc wr")},
          std::nullopt};
}

}  // namespace gputrace::test
