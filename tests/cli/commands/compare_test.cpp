// gputrace compare on session files: command line, exit status, sides, conditions.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "tests/support/make_session.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint32_t kGuiActive = 1U << 31U;
constexpr std::uint32_t kTaBusy = 1U << 14U;
constexpr int kRegression = 3;

/// GUI_ACTIVE always, TA_BUSY in `busy` of 100 ticks.
std::string session(const test::TempDir& folder, const std::string& name, std::size_t busy,
                    std::uint64_t seed, double seconds = 12) {
  const std::string path = (folder.path() / name).string();
  test::SessionRecipe recipe;
  recipe.seconds = seconds;
  recipe.seed = seed;
  recipe.word = [busy, seed](std::size_t, std::size_t tick) {
    const bool on = (tick * 2654435761U + seed * 97) / 7 % 100 < busy;
    return kGuiActive | (on ? kTaBusy : 0U);
  };
  REQUIRE(test::make_session(path, recipe));
  return path;
}

test::Finished compare(std::vector<std::string> words) {
  std::vector<std::string> command{GPUTRACE_BINARY, "compare"};
  command.insert(command.end(), words.begin(), words.end());
  test::Program program(command);
  return program.finish();
}

nlohmann::json row_of(const nlohmann::json& rows, const std::string& name) {
  for (const auto& row : rows) {
    if (row.at("name") == name) {
      return row;
    }
  }
  FAIL("no row " << name);
  return {};
}

Error error_of(const std::vector<std::string>& words) {
  const Result<int> status = commands::run_compare(words);
  REQUIRE_FALSE(status);
  return status.error();
}

}  // namespace

TEST_CASE("compare refuses wrong command lines as usage errors") {
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"a"},
                                                    {"a", "b", "c"},
                                                    {"--no-such-option", "a", "b"},
                                                    {"a,", "b"},
                                                    {"a,c,a", "b"},
                                                    {"--fail-on"},
                                                    {"a", "b", "--fail-on", "EA_BUSY>5"},
                                                    {"--from", "soon", "a", "b"},
                                                    {"--from", "8", "--to", "8", "a", "b"},
                                                    {"--color=perhaps", "a", "b"}};
  for (const std::vector<std::string>& words : wrong) {
    CAPTURE(words.size());
    CHECK(error_of(words).code == ErrorCode::kUsage);
  }
}

TEST_CASE("compare names the file that it cannot open, of either side") {
  const test::TempDir folder;
  const std::string good = session(folder, "a.gputrace", 50, 1);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"/nonexistent/x.gputrace", good},
        std::vector<std::string>{good, good + ",/nonexistent/x.gputrace"}}) {
    const Error error = error_of(words);
    CHECK(error.code == ErrorCode::kNotFound);
    CHECK(error.message.find("/nonexistent/x.gputrace") != std::string::npos);
  }
}

TEST_CASE("a load that grew is real, equal loads are noise") {
  const test::TempDir folder;
  const std::string a = session(folder, "a.gputrace", 50, 1);
  const std::string same = session(folder, "same.gputrace", 50, 2);
  const std::string more = session(folder, "more.gputrace", 60, 3);
  const auto equal = nlohmann::json::parse(compare({"--json", a, same}).out);
  CHECK(row_of(equal["units"], "TA_BUSY")["real"] == false);
  const auto grown = nlohmann::json::parse(compare({"--json", a, more}).out);
  const nlohmann::json ta = row_of(grown["units"], "TA_BUSY");
  CHECK(ta["real"] == true);
  CHECK(ta["difference"].get<double>() == doctest::Approx(10).epsilon(0.05));
  CHECK(row_of(grown["units"], "GUI_ACTIVE")["real"] == false);
}

TEST_CASE("a condition that holds exits with 3, one that does not with 0") {
  const test::TempDir folder;
  const std::string a = session(folder, "a.gputrace", 50, 1);
  const std::string b = session(folder, "b.gputrace", 60, 2);
  CHECK(compare({a, b, "--fail-on", "TA_BUSY>+5pp"}).status() == kRegression);
  CHECK(compare({a, b, "--fail-on=TA_BUSY>+5pp", "--fail-on", "TA_BUSY>+50pp"}).status() ==
        kRegression);
  CHECK(compare({a, b, "--fail-on", "TA_BUSY>+9.9pp"}).status() == 0);
  CHECK(compare({b, a, "--fail-on", "TA_BUSY<-5pp"}).status() == kRegression);
}

TEST_CASE("a condition on what was not recorded is a failure that says what was") {
  const test::TempDir folder;
  const std::string a = session(folder, "a.gputrace", 50, 1);
  const test::Finished finished = compare({a, a, "--fail-on", "package_power>+5%"});
  CHECK(finished.status() == 1);
  CHECK(finished.err.find("TA_BUSY") != std::string::npos);
}

TEST_CASE("repeats are split at commas, unless a file has that name") {
  const test::TempDir folder;
  const std::string a1 = session(folder, "a1.gputrace", 50, 1);
  const std::string a2 = session(folder, "a2.gputrace", 51, 2);
  const std::string b1 = session(folder, "b1.gputrace", 70, 3);
  const std::string b2 = session(folder, "b2.gputrace", 71, 4);
  std::string both = a1;
  both += "," + a2;
  const auto json = nlohmann::json::parse(compare({"--json", both, b1 + "," + b2}).out);
  CHECK(json["a"].size() == 2);
  CHECK(json["from_repeats"] == true);
  const std::string odd = session(folder, "with,comma.gputrace", 50, 5);
  const auto one = nlohmann::json::parse(compare({"--json", odd, b1}).out);
  CHECK(one["a"].size() == 1);
  CHECK(one["from_repeats"] == false);
}

TEST_CASE("--from and --to cut each recording") {
  const test::TempDir folder;
  const std::string a = session(folder, "a.gputrace", 50, 1);
  const auto json =
      nlohmann::json::parse(compare({"--json", "--from", "2", "--to", "8", a, a}).out);
  CHECK(json["a"][0]["duration_s"].get<double>() == doctest::Approx(6).epsilon(0.01));
}

TEST_CASE("one recording of each is warned about, with what to do") {
  const test::TempDir folder;
  const std::string a = session(folder, "a.gputrace", 50, 1);
  const std::string b = session(folder, "b.gputrace", 50, 2, 20);
  const auto json = nlohmann::json::parse(compare({"--json", a, b}).out);
  std::vector<std::string> codes;
  for (const auto& warning : json["warnings"]) {
    codes.push_back(warning["code"]);
  }
  CHECK(std::find(codes.begin(), codes.end(), "single_recording") != codes.end());
  CHECK(std::find(codes.begin(), codes.end(), "lengths_differ") != codes.end());
}
