// Reports of session files made for tests, and look-ups in them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/commands/report/report_builder.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline Result<report::Report> report_of(const std::filesystem::path& path,
                                        const commands::ReportOptions& options = {}) {
  const Result<store::SessionReader> session = store::SessionReader::open(path);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  return commands::build_report(*session, "game.gputrace", regdb::RegisterDatabase::built_in(),
                                options);
}

/// The report of a session that must succeed.
inline report::Report must_report(const std::filesystem::path& path,
                                  const commands::ReportOptions& options = {}) {
  Result<report::Report> report = report_of(path, options);
  INFO((report ? "" : report.error().message));
  REQUIRE(report);
  return std::move(*report);
}

inline report::Report must_report(const SessionRecipe& recipe,
                                  const commands::ReportOptions& options = {}) {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  REQUIRE(make_session(path, recipe));
  return must_report(path, options);
}

inline const report::Unit* find_unit(const report::Report& report, std::string_view register_name,
                                     std::string_view name) {
  const auto it = std::find_if(report.units.begin(), report.units.end(), [&](const auto& unit) {
    return unit.register_name == register_name && unit.name == name;
  });
  return it == report.units.end() ? nullptr : &*it;
}

inline double busy_of(const report::Report& report, std::string_view register_name,
                      std::string_view name) {
  const report::Unit* unit = find_unit(report, register_name, name);
  return unit == nullptr ? -1 : unit->busy;
}

inline bool has_warning(const report::Report& report, std::string_view code) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [code](const report::Warning& warning) { return warning.code == code; });
}

/// GUI_ACTIVE and SPI_BUSY in every second run of four ticks, EA_BUSY in the second half.
inline SessionRecipe game() {
  SessionRecipe recipe;
  recipe.registers = {"GRBM_STATUS", "GRBM_STATUS2"};
  recipe.seconds = 4;
  recipe.label = "a game";
  recipe.command = std::vector<std::string>{"./game", "--fast"};
  recipe.word = [](std::size_t reg, std::size_t tick) {
    if (reg == 1) {
      return tick < 2000 ? 0x8U : 0x10008U;
    }
    return tick / 4 % 2 == 0 ? 0x3028U : 0x80403028U;
  };
  return recipe;
}

}  // namespace gputrace::test
