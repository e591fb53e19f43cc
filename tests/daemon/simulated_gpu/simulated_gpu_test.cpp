#include "daemon/simulated_gpu/simulated_gpu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/simulation.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

constexpr std::int64_t kStartNs = 1'000'000'000'000;

Result<OpenedSimulation> open(const std::string& argument,
                              const std::filesystem::path& cache = {}) {
  return open_simulated_gpu(argument, regdb::RegisterDatabase::built_in(), cache, kStartNs);
}

struct Words {
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  std::array<sampler::SampleState, sampler::kMaxRegisters> states{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns{};
};

Words read(OpenedSimulation& opened, std::int64_t now_ns) {
  Words out;
  out.states.fill(sampler::SampleState::kAbsent);
  const std::size_t count = opened.reader->registers().size();
  opened.reader->read(now_ns,
                      {std::span(out.words).first(count), std::span(out.states).first(count),
                       std::span(out.cost_ns).first(count)});
  return out;
}

std::vector<std::string> names_of(const OpenedSimulation& opened) {
  std::vector<std::string> names;
  for (const auto& reg : opened.reader->registers()) {
    names.push_back(reg.name);
  }
  return names;
}

TEST_CASE("the 780M offers one shader engine and says that it is simulated") {
  auto opened = open("sim:780m:chase");
  REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
  CHECK(opened->identity.name == "AMD Radeon 780M");
  CHECK(opened->identity.simulated);
  CHECK(opened->identity.scenario == "chase");
  CHECK(opened->identity.gc == regdb::GcVersion{11, 0, 1});
  CHECK(names_of(*opened) ==
        std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS_SE0", "GRBM_STATUS2", "GRBM_STATUS3"});
  CHECK(opened->reader->registers().front().dword_offset == 0x2004);
  CHECK(opened->reader->registers().front().source == "simulated");
  CHECK(opened->reader->drop_lost().empty());
  CHECK(opened->reader->last_error().empty());
}

TEST_CASE("a GPU with two shader engines offers both") {
  auto opened = open("sim:rx7600:idle");
  REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
  const auto names = names_of(*opened);
  CHECK(std::count(names.begin(), names.end(), "GRBM_STATUS_SE1") == 1);
  CHECK(std::count(names.begin(), names.end(), "GRBM_STATUS_SE2") == 0);
}

TEST_CASE("the reader shows the simulation's words from the start time on") {
  const regdb::RegisterDatabase database = regdb::RegisterDatabase::built_in();
  auto opened = open("sim:780m:chase");
  REQUIRE(opened.has_value());
  const auto simulation = Simulation::open("sim:780m:chase", database, {});
  REQUIRE(simulation.has_value());
  bool differs = false;
  for (std::int64_t time_ns = -1'000'000; time_ns < 4'000'000; time_ns += 1'237) {
    const Words words = read(*opened, kStartNs + time_ns);
    const UnitMask state = simulation->state_at(time_ns);
    for (std::size_t i = 0; i < simulation->registers().size(); ++i) {
      CHECK(words.states[i] == sampler::SampleState::kValid);
      CHECK(words.words[i] == simulation->word(i, state));
    }
    differs = differs || words.words[0] != 0x00003028;
  }
  CHECK(differs);
  CHECK(read(*opened, kStartNs - 1).words[0] == 0x00003028);
}

TEST_CASE("without a start time the scenario begins with the first read") {
  auto fixed = open("sim:780m:chase");
  auto waiting = open_simulated_gpu("sim:780m:chase", regdb::RegisterDatabase::built_in(), {}, {});
  REQUIRE(fixed.has_value());
  REQUIRE(waiting.has_value());
  constexpr std::int64_t kLoadingNs = 123'456'789;
  for (std::int64_t time_ns = 0; time_ns < 4'000'000; time_ns += 1'237) {
    CHECK(read(*waiting, kStartNs + kLoadingNs + time_ns).words ==
          read(*fixed, kStartNs + time_ns).words);
  }
}

TEST_CASE("a second opening takes the tapes from the cache and shows the same") {
  const TempDir cache;
  auto built = open("sim:780m:chase", cache.path());
  auto kept = open("sim:780m:chase", cache.path());
  REQUIRE(built.has_value());
  REQUIRE(kept.has_value());
  CHECK_FALSE(built->loaded_from_cache);
  CHECK(kept->loaded_from_cache);
  for (std::int64_t time_ns = 0; time_ns < 5'000'000; time_ns += 4'321) {
    CHECK(read(*built, kStartNs + time_ns).words == read(*kept, kStartNs + time_ns).words);
  }
}

TEST_CASE("a scenario file is played") {
  const TempDir folder;
  const std::string file = (folder.path() / "two.json").string();
  std::ofstream(file) << R"({"phases": [{"kind": "idle", "seconds": 1},
                                        {"kind": "chase", "seconds": 1}]})";
  auto opened = open("sim:780m:" + file);
  REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
  CHECK(opened->identity.scenario == file);
  CHECK(read(*opened, kStartNs + kNsPerSecond / 2).words[0] == 0x00003028);
  CHECK(read(*opened, kStartNs + kNsPerSecond + 1'000'000).words[0] != 0x00003028);
}

TEST_CASE("unknown GPUs, scenarios and files are errors that say what there is") {
  const auto gpu = open("sim:9000");
  REQUIRE_FALSE(gpu.has_value());
  CHECK(gpu.error().code == ErrorCode::kNotFound);
  CHECK(gpu.error().message ==
        "no simulated GPU is called \"9000\": use sim:780m, sim:760m, sim:740m, sim:rx7600");
  const auto scenario = open("sim:780m:chess");
  REQUIRE_FALSE(scenario.has_value());
  CHECK(scenario.error().message.find("use demo, game, ") != std::string::npos);
  const auto file = open("sim:780m:/absent.json");
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().message.find("/absent.json") != std::string::npos);
  CHECK_FALSE(open("card0").has_value());
}

TEST_CASE("simulated arguments are told from others") {
  CHECK(is_simulated_argument("sim:780m"));
  CHECK(is_simulated_argument("sim:"));
  CHECK(is_simulated_argument("sim"));
  CHECK_FALSE(is_simulated_argument("simple"));
  CHECK_FALSE(is_simulated_argument("0"));
  CHECK_FALSE(is_simulated_argument(""));
}

TEST_CASE("for benches a GPU without a scenario is idle, one with a scenario keeps it") {
  CHECK(with_bench_scenario("sim") == "sim:780m:bench");
  CHECK(with_bench_scenario("sim:") == "sim:780m:bench");
  CHECK(with_bench_scenario("sim:rx7600") == "sim:rx7600:bench");
  CHECK(with_bench_scenario("sim:rx7600:") == "sim:rx7600:bench");
  CHECK(with_bench_scenario("sim:780m:game") == "sim:780m:game");
  CHECK(with_bench_scenario("sim:780m:a:b.json") == "sim:780m:a:b.json");
}

TEST_CASE("from the return of play the words show the kernel, until the empty text") {
  auto opened = open_simulated_gpu("sim:780m:bench", regdb::RegisterDatabase::built_in(), {}, {});
  REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
  CHECK(opened->identity.scenario == "bench");
  const auto busy_in_a_ms = [&](std::int64_t from_ns) {
    std::uint32_t busy = 0;
    for (std::int64_t time_ns = from_ns; time_ns < from_ns + kNsPerMs; time_ns += 1000) {
      busy += read(*opened, time_ns).words[0] >> 31U;
    }
    return busy;
  };
  // Played before the first read, which would begin the scenario.
  REQUIRE(opened->play(R"({"threads": 1e7, "flops": 10000})").has_value());
  const std::int64_t played_ns = monotonic_now_ns();
  CHECK(busy_in_a_ms(played_ns - kNsPerSecond) == 0);
  CHECK(busy_in_a_ms(played_ns + kNsPerMs) > 500);
  const auto refused = opened->play(R"({"threads": 1e7, "flops": "10000"})");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message ==
        "the simulated GPU cannot play a kernel: what a kernel does: flops must be a number from 0 "
        "to 1000000000000");
  CHECK(busy_in_a_ms(monotonic_now_ns() + kNsPerMs) > 500);
  const std::int64_t played_for_ns = monotonic_now_ns() - played_ns;
  REQUIRE(opened->play("").has_value());
  CHECK(busy_in_a_ms(monotonic_now_ns()) == 0);
  CHECK(opened->truth->mean_gfx_clock_mhz(0, played_for_ns) == doctest::Approx(2600));
}

TEST_CASE("every GPU and scenario is listed once, with its length, the default first") {
  const auto listings = list_simulated_gpus();
  REQUIRE_FALSE(listings.empty());
  CHECK(listings.front().argument == "sim:780m:demo");
  CHECK(listings.front().length_s == doctest::Approx(30));
  std::set<std::string> arguments;
  for (const SimulatedGpuListing& listing : listings) {
    CHECK(arguments.insert(listing.argument).second);
    CHECK_FALSE(listing.description.empty());
    CHECK(listing.length_s > 0);
    CHECK(is_simulated_argument(listing.argument));
  }
  CHECK(arguments.contains("sim:rx7600:game"));
}

TEST_CASE("the demo shows work in its first seconds and changes every 2 to 3 seconds") {
  const auto demo = make_built_in_scenario("demo", simulated_models().front());
  REQUIRE(demo.has_value());
  CHECK_FALSE(demo->phases.front().workload.passes.empty());
  for (const ScenarioPhase& phase : demo->phases) {
    CHECK(phase.duration_ns >= 2 * kNsPerSecond);
    CHECK(phase.duration_ns <= 3 * kNsPerSecond);
  }
}

}  // namespace
}  // namespace gputrace::test
