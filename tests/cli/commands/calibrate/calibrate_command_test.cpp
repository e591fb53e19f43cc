// gputrace calibrate on the simulated GPU, from the command line to what is stored and read again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/calibrate/calibrate_options.h"
#include "tests/support/make_calibration.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

using commands::parse_calibrate_options;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class User {
 public:
  [[nodiscard]] std::filesystem::path machine() const { return dir_.path() / "gputrace/machine"; }
  [[nodiscard]] Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), GPUTRACE_BINARY);
    Program::Options options;
    options.environment = {{"XDG_DATA_HOME", dir_.path().string()},
                           {"XDG_CACHE_HOME", dir_.path().string()},
                           {"TMPDIR", dir_.path().string()},
                           {"GPUTRACE_SOCKET", (dir_.path() / "no-daemon").string()}};
    return Program(words, options).finish();
  }
  /// Names in the folder of the user's data, all below it.
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      count += entry.path().extension() == ".gputrace" ? 1 : 0;
    }
    return count;
  }

 private:
  TempDir dir_;
};

const json* find_point(const json& points, const std::string& workload) {
  const auto found = std::ranges::find_if(
      points, [&](const json& point) { return point["workload"] == workload; });
  return found == points.end() ? nullptr : &*found;
}

double busy(const json& point, const std::string& name) {
  for (const json& unit : point["units"]) {
    if (unit["name"] == name) {
      return unit["busy"];
    }
  }
  FAIL("no unit " << name);
  return 0;
}

/// Of a unit to a term of the stimulus matrix.
double response(const json& matrix, const std::string& unit, const std::string& term) {
  const auto named = [](const std::string& name) {
    return [name](const json& each) { return each["name"] == name; };
  };
  const auto row = std::ranges::find_if(matrix["units"], named(unit));
  const auto column = std::ranges::find_if(matrix["terms"], named(term));
  REQUIRE(row != matrix["units"].end());
  REQUIRE(column != matrix["terms"].end());
  return (*row)["response"][static_cast<std::size_t>(column - matrix["terms"].begin())];
}

}  // namespace

TEST_CASE("calibrate takes the options of a bench, and what it validates") {
  const auto plain = parse_calibrate_options({"--gpu", "sim:780m", "--quick", "--no-save"});
  REQUIRE(plain);
  CHECK(plain->gpu == "sim:780m");
  CHECK(plain->quick);
  CHECK_FALSE(plain->save);
  CHECK_FALSE(plain->validate);
  const auto given = parse_calibrate_options({"--validate", "--calibration", "a.gputrace"});
  REQUIRE(given);
  CHECK(given->validate);
  CHECK(given->calibration == "a.gputrace");
  CHECK(parse_calibrate_options({"--calibration", "a"}).error().code == ErrorCode::kUsage);
  CHECK(parse_calibrate_options({"fill"}).error().code == ErrorCode::kUsage);
  CHECK(parse_calibrate_options({"--help"})->help);
}

TEST_CASE("calibrate refuses a device that cannot be sampled, and files that are no calibration") {
  const User user;
  const Finished none = user.run({"calibrate", "--gpu", "sim:no-such-gpu"});
  CHECK(none.status() == 1);
  const Finished missing =
      user.run({"calibrate", "--gpu", "sim:780m", "--validate", "--calibration", "none.gputrace"});
  CHECK(missing.status() == 1);
  CHECK(contains(missing.err, "none.gputrace"));
  std::filesystem::create_directories(user.machine());
  const auto bench = user.machine() / "bench.gputrace";
  REQUIRE(
      make_calibration(bench, {.kind = store::SessionKind::kBench, .workloads = some_workloads()}));
  const Finished wrong =
      user.run({"calibrate", "--gpu", "sim:780m", "--validate", "--calibration", bench.string()});
  CHECK(wrong.status() == 1);
  CHECK(contains(wrong.err, "is no calibration"));
  CHECK(user.files() == 1);
}

TEST_CASE("a quick calibration is stored, listed, and copied into the next recording") {
  const User user;
  const Finished made = user.run({"calibrate", "--gpu", "sim:780m", "--quick", "--json"});
  REQUIRE_MESSAGE(made.status() == 0, made.err);
  const json document = json::parse(made.out);
  CHECK(document["schema"] == "gputrace.calibration/1");
  CHECK(document["simulated"] == true);
  // The model's own ceilings (docs/methodology.md), within what few and short runs scatter by.
  CHECK(document["ridge"].get<double>() == doctest::Approx(64).epsilon(0.1));
  const json& points = document["points"];
  const json* low = find_point(points, "sweep.n4.g256");
  const json* high = find_point(points, "sweep.n1024.g256");
  const json* chase = find_point(points, "latency.vector.c1.65536KiB");
  REQUIRE(low != nullptr);
  REQUIRE(high != nullptr);
  REQUIRE(chase != nullptr);
  CHECK((*low)["class"] == "bandwidth");
  CHECK((*low)["intensity"] == 1);
  CHECK((*high)["class"] == "compute");
  CHECK((*chase)["class"] == "latency");
  // Left of the ridge memory is full, right of it it is not.
  CHECK(busy(*low, "EA_BUSY") > busy(*high, "EA_BUSY") + 0.1);
  CHECK((*chase)["dram_gbps"].get<double>() < 0.1 * (*low)["dram_gbps"].get<double>());

  // The model's DRAM answers to memory and to nothing that caches serve, its TA to vector reads.
  const json& matrix = document["stimulus_matrix"];
  CHECK(matrix["points"].get<std::size_t>() > 40);
  CHECK(response(matrix, "EA_BUSY", "memory") > 0.6);
  CHECK(response(matrix, "EA_BUSY", "level 2") < 0.2);
  CHECK(response(matrix, "TA_BUSY", "vector") > 0.7);
  CHECK(response(matrix, "TA_BUSY", "arithmetic") < 0.2);

  const Finished listed = user.run({"list", "--all", "--json"});
  const json files = json::parse(listed.out);
  REQUIRE(files.size() == 1);
  CHECK(files[0]["kind"] == "calibration");
  CHECK(files[0]["cut"] == false);

  REQUIRE(user.run({"record", "--gpu", "sim:780m", "-q", "--duration", "1"}).status() == 0);
  const json sessions = json::parse(user.run({"list", "--json"}).out);
  REQUIRE(sessions.size() == 1);
  CHECK(sessions[0]["kind"] == "recording");
  CHECK_FALSE(sessions[0].contains("results"));
  const Finished copied =
      user.run({"sql", "--csv", sessions[0]["file"].get<std::string>(),
                "SELECT count(*) FROM bench_tests WHERE name = 'summary.sweep.n4.g256'"});
  CHECK(contains(copied.out, "1"));
}
