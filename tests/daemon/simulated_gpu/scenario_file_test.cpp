#include "daemon/simulated_gpu/scenario_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "daemon/base/time.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

Result<Scenario> parse(std::string_view text) {
  return parse_scenario(text, "test.json", simulated_models().front());
}

void check_refused(std::string_view text, std::string_view part) {
  CAPTURE(text);
  const auto scenario = parse(text);
  REQUIRE_FALSE(scenario.has_value());
  CHECK(scenario.error().code == ErrorCode::kInvalidArgument);
  CAPTURE(scenario.error().message);
  CHECK(scenario.error().message.starts_with("scenario test.json: "));
  CHECK(scenario.error().message.find(part) != std::string::npos);
}

TEST_CASE("a scenario file says phases, GPU and limits") {
  const auto scenario = parse(R"({
    "description": "frames and a stream", "power_limit_w": 25, "seed": 7,
    "gpu": {"dram_latency_ns": 200, "simd_time_spread": 0.3},
    "phases": [
      {"kind": "game", "seconds": 1.5, "resolution": 0.5, "passes": ["opaque", "post"],
       "cpu_ms": 9, "frame_cap_fps": 60, "variants": 8},
      {"kind": "sweep", "label": "stream", "fma": 4, "group_threads": 512, "gap_us": 20},
      {"kind": "idle", "seconds": 0.25}]})");
  REQUIRE_MESSAGE(scenario.has_value(), error_text(scenario));
  CHECK(scenario->name == "test.json");
  CHECK(scenario->description == "frames and a stream");
  CHECK(scenario->power_limit_w == 25);
  CHECK(scenario->seed == 7);
  CHECK(scenario->gpu.dram_latency_ns == 200);
  CHECK(scenario->gpu.simd_time_spread == 0.3);
  CHECK(scenario->duration_ns() == 2'750'000'000);
  REQUIRE(scenario->phases.size() == 3);
  const ScenarioPhase& game = scenario->phases[0];
  CHECK(game.label == "game");
  CHECK(game.variants == 8);
  CHECK(game.workload.passes.size() == 2);
  CHECK(game.workload.cpu_ms == 9);
  CHECK(game.workload.frame_cap_fps == 60);
  const ScenarioPhase& stream = scenario->phases[1];
  CHECK(stream.label == "stream");
  CHECK(stream.duration_ns == kNsPerSecond);
  CHECK(stream.workload.passes.front().group_threads == 512);
  CHECK(stream.workload.gap_us == 20);
  CHECK(scenario->phases[2].workload.passes.empty());
}

TEST_CASE("every kind of phase is understood") {
  for (const char* kind :
       {"idle", "game", "sweep", "scalar", "chase", "random-texture", "coherent-texture", "fill"}) {
    CAPTURE(kind);
    const auto scenario =
        parse(std::string(R"({"phases": [{"kind": ")") + kind + R"(", "variants": 1}]})");
    REQUIRE_MESSAGE(scenario.has_value(), error_text(scenario));
  }
}

TEST_CASE("a wrong file is refused with the key and the reason") {
  check_refused("", "not JSON");
  check_refused("{", "not JSON");
  check_refused("[]", "must be an object");
  check_refused("{}", "phases must be a list of 1 to 32 objects");
  check_refused(R"({"phases": []})", "phases must be a list");
  check_refused(R"({"phases": 3})", "phases must be a list");
  check_refused(R"({"phases": [3]})", "phases[0] must be an object");
  check_refused(R"({"phases": [{}]})", "phases[0].kind must be one of idle, game");
  check_refused(R"({"phases": [{"kind": "mining"}]})", "phases[0].kind must be one of");
  check_refused(R"({"phases": [{"kind": 3}]})", "phases[0].kind must be a text");
  check_refused(R"({"phases": [{"kind": "idle"}, {"kind": "idle", "second": 1}]})",
                "phases[1].second is not known here");
  check_refused(R"({"phases": [{"kind": "idle"}], "phase": []})", "phase is not known here");
  check_refused(R"({"phases": [{"kind": "idle", "fma": 1}]})", "phases[0].fma is not known here");
  check_refused(R"({"phases": [{"kind": "sweep", "fma": "many"}]})",
                "phases[0].fma must be a number from 0 to 4096");
  check_refused(R"({"gpu": {"cus": 3}, "phases": [{"kind": "idle"}]})", "gpu.cus is not known");
  check_refused(R"({"gpu": 3, "phases": [{"kind": "idle"}]})", "gpu must be an object");
  check_refused(R"({"phases": [{"kind": "game", "passes": ["opaque", "fog"]}]})",
                "phases[0].passes must list some of shadow");
  check_refused(R"({"phases": [{"kind": "game", "passes": []}]})", "phases[0].passes must list");
}

TEST_CASE("numbers outside their limits are refused") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("kind": "idle", "seconds": 0)", "seconds"},
      {R"("kind": "idle", "seconds": 1e300)", "seconds"},
      {R"("kind": "idle", "seconds": -1)", "seconds"},
      {R"("kind": "game", "resolution": 1e9)", "resolution"},
      {R"("kind": "game", "cpu_ms": 1e9)", "cpu_ms"},
      {R"("kind": "game", "frame_cap_fps": 0.001)", "frame_cap_fps"},
      {R"("kind": "sweep", "fma": 1e18)", "fma"},
      {R"("kind": "chase", "chains": 0)", "chains"},
      {R"("kind": "chase", "chains": 1000000)", "chains"},
      {R"("kind": "chase", "chains": 1.5)", "chains must be a whole number"},
      {R"("kind": "chase", "footprint_mib": 0)", "footprint_mib"},
      {R"("kind": "fill", "bytes": 1000)", "bytes"},
      {R"("kind": "sweep", "variants": 3)", "variants must be 1, 2, 4, 8 or 16"},
      {R"("kind": "sweep", "variants": 1e10)", "variants"},
      {R"("kind": "sweep", "group_threads": 100)", "group_threads must be a multiple of 64"},
      {R"("kind": "sweep", "group_threads": 4096)", "group_threads"}};
  for (const auto& [members, part] : cases) {
    check_refused(std::string(R"({"phases": [{)") + members + "}]}", part);
  }
  check_refused(R"({"power_limit_w": 0, "phases": [{"kind": "idle"}]})", "power_limit_w");
  check_refused(R"({"seed": -1, "phases": [{"kind": "idle"}]})", "seed");
}

TEST_CASE("a scenario that would take too long to compute is refused") {
  check_refused(R"({"phases": [{"kind": "game", "resolution": 4, "variants": 16}]})",
                "million steps of waves");
  std::string many = R"({"phases": [)";
  for (int i = 0; i < 33; ++i) {
    many += std::string(i > 0 ? "," : "") + R"({"kind": "idle"})";
  }
  check_refused(many + "]}", "phases must be a list of 1 to 32 objects");
  check_refused(std::string(200'000, '[') + std::string(200'000, ']'), "must be an object");
}

TEST_CASE("files that cannot be scenarios are refused with their name") {
  const TempDir folder;
  const SimulatedModel& model = simulated_models().front();
  const std::string absent = (folder.path() / "absent.json").string();
  const auto none = read_scenario_file(absent, model);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == ErrorCode::kNotFound);
  CHECK(none.error().message == "cannot read scenario " + absent + ": No such file or directory");
  CHECK_FALSE(read_scenario_file(folder.path().string(), model).has_value());
  const std::string large = (folder.path() / "large.json").string();
  std::ofstream(large) << std::string((1U << 20U) + 1, ' ');
  const auto refused = read_scenario_file(large, model);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("at most 1 MiB") != std::string::npos);
  const std::string good = (folder.path() / "good.json").string();
  std::ofstream(good) << R"({"phases": [{"kind": "idle"}]})";
  const auto read = read_scenario_file(good, model);
  REQUIRE(read.has_value());
  CHECK(read->name == good);
}

}  // namespace
}  // namespace gputrace::test
