// Files of rooflines and benches from outside: list, report and sql.
#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/store/results.h"
#include "tests/support/change_database.h"
#include "tests/support/make_results.h"
#include "tests/support/make_session.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

using std::filesystem::path;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Machine {
 public:
  Machine() { std::filesystem::create_directories(dir_.path() / "gputrace/machine"); }
  [[nodiscard]] path file() const { return dir_.path() / "gputrace/machine/bench.gputrace"; }
  [[nodiscard]] static store::SessionDescription description() {
    store::SessionDescription description;
    description.kind = store::SessionKind::kBench;
    description.started = TimeAnchor{0, 0, 1'790'000'000'000'000'000};
    description.command = {"gputrace", "bench", "fill"};
    return description;
  }
  void store(const std::vector<store::ResultRun>& runs) const {
    REQUIRE(store::create_result_file(file(), store::OnExisting::kRefuse, description(), {}, runs));
  }
  /// With the busy bits of a second.
  void record(const std::vector<store::ResultRun>& runs) const {
    {
      auto writer = store::SessionWriter::create(file(), store::OnExisting::kRefuse, description());
      REQUIRE(writer);
      const SessionRecipe recipe;
      REQUIRE(writer->begin_segment(segment_of(recipe)));
      REQUIRE(writer->write_block(block_of(recipe, 0, 1000)));
      REQUIRE(writer->finish({recipe.start_ns + kNsPerSecond, {}, {}}));
    }
    REQUIRE(store::append_results(file(), runs));
  }
  [[nodiscard]] Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), GPUTRACE_BINARY);
    Program::Options options;
    options.environment = {{"XDG_DATA_HOME", dir_.path().string()},
                           {"XDG_CACHE_HOME", dir_.path().string()},
                           {"GPUTRACE_SOCKET", (dir_.path() / "no-daemon").string()},
                           {"TZ", "UTC"}};
    return Program(words, options).finish();
  }

 private:
  TempDir dir_;
};

TEST_CASE("list --all shows a bench with its device and tests; list does not") {
  const Machine machine;
  machine.store({full_run(), bare_run()});
  CHECK(machine.run({"list"}).out.empty());
  CHECK(machine.run({"list", "--all"}).out ==
        "bench.gputrace\n"
        "  2026-09-21 14:13:20, 2 tests, cancelled, AMD Radeon 780M, bench\n"
        "  gputrace bench fill\n");
  const auto json = nlohmann::json::parse(machine.run({"list", "--all", "--json"}).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["kind"] == "bench");
  CHECK(json[0]["results"][0]["device"] == "AMD Radeon 780M");
  CHECK(json[0]["results"][0]["tests"] == 2);
  CHECK(json[0]["results"][1]["simulated"] == true);
}

TEST_CASE("a bench on the simulated GPU is listed, reported and asked, with its busy bits") {
  const Machine machine;
  const Finished bench =
      machine.run({"bench", "occupancy", "--quick", "--gpu", "sim:780m", "--json"});
  CHECK(bench.status() == 0);
  CHECK(contains(bench.err, "stored in "));
  const auto measured = nlohmann::json::parse(bench.out);
  const auto listed = nlohmann::json::parse(machine.run({"list", "--all", "--json"}).out);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["kind"] == "bench");
  CHECK(listed[0]["cut"] == false);
  CHECK(listed[0]["gpu"]["simulated"] == true);
  const std::string file = listed[0]["file"];
  // What was printed is what was stored.
  CHECK(nlohmann::json::parse(machine.run({"report", "--json", file}).out) == measured);
  const std::string text = machine.run({"report", file}).out;
  CHECK(contains(text, "SIMULATED"));
  CHECK(contains(text, "occupancy"));
  CHECK(contains(text, "GUI_ACTIVE"));
  CHECK(contains(machine.run({"sql", "--csv", file, "SELECT count(*) > 0 FROM bench"}).out, "1"));
}

TEST_CASE("report of a bench without busy bits shows its results, as text and as JSON") {
  const Machine machine;
  machine.store({full_run()});
  const Finished text = machine.run({"report", machine.file().string()});
  CHECK(text.status() == 0);
  CHECK(contains(text.out, "AMD Radeon 780M"));
  CHECK(contains(text.out, "roofline.sweep"));
  CHECK(contains(text.out, "16 exports in the code, 8 in the formula"));
  CHECK_FALSE(contains(text.out, "GUI_ACTIVE"));
  const Finished json = machine.run({"report", "--json", machine.file().string()});
  CHECK(json.status() == 0);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document["schema"] == "gputrace.bench/1");
  CHECK(document["tests"].size() == 2);
}

TEST_CASE("report of a stored roofline shows its plot first, if there are ceilings to draw") {
  const Machine machine;
  store::ResultRun roofline = full_run();
  machine.store({roofline});
  CHECK_FALSE(contains(machine.run({"report", machine.file().string()}).out, "Roofline"));
  std::filesystem::remove(machine.file());
  roofline.tests[0].values.push_back({"dram.copy", 73, 72, 74, "GB/s", "", "the points"});
  machine.store({roofline});
  const Finished text = machine.run({"report", machine.file().string()});
  CHECK(text.status() == 0);
  const std::size_t plot = text.out.find("Roofline  measured: 73 GB/s (DRAM copy)");
  REQUIRE(plot != std::string::npos);
  CHECK(plot < text.out.find("roofline.sweep"));
  CHECK(contains(text.out, "ridge"));
}

TEST_CASE("report of a bench shows its ceilings, its workloads, and roofs that are too low") {
  const Machine machine;
  store::ResultRun bench = full_run();
  bench.tests[0].values = {{"dram.copy", 73, 72, 74, "GB/s", "", "the points"},
                           {"peak.fp32", 4000, 3990, 4010, "GFLOPS", "", "the points"},
                           {"point.lbm.fp32.intensity", 2, {}, {}, "FLOP/B", "", ""},
                           {"point.lbm.fp32.gflops", 152, 150, 154, "GFLOPS", "", ""}};
  const auto reported = [&](const std::vector<std::string>& options) {
    machine.store({bench});
    std::vector<std::string> words{"report", machine.file().string()};
    words.insert(words.end(), options.begin(), options.end());
    const Finished finished = machine.run(words);
    CAPTURE(finished.err);
    CHECK(finished.status() == 0);
    std::filesystem::remove(machine.file());
    return finished.out;
  };
  const std::string page = machine.file().string() + ".html";
  const auto page_text = [&] {
    reported({"--html", page});
    std::ifstream file(page);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  // 4 % above the roof of 146 GFLOPS.
  CHECK(contains(reported({}), "73 GB/s (DRAM copy)"));
  CHECK_FALSE(contains(reported({}), "roof is too low"));
  CHECK(nlohmann::json::parse(reported({"--json"}))["warnings"].empty());
  std::string html = page_text();
  CHECK(contains(html, "AMD Radeon 780M"));
  CHECK(contains(html, ">lbm.fp32</text>"));
  CHECK_FALSE(contains(html, "roof is too low"));
  bench.tests[0].values[3].value = 170;
  CHECK(contains(reported({}), "! lbm.fp32 reaches 170 GFLOPS"));
  const auto warnings = nlohmann::json::parse(reported({"--json"}))["warnings"];
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0], "16 % above the roof of DRAM"));
  html = page_text();
  CHECK(contains(html, "<li>lbm.fp32 reaches 170 GFLOPS"));
}

TEST_CASE("report of a bench with busy bits shows them after the results") {
  const Machine machine;
  machine.record({full_run()});
  const Finished text = machine.run({"report", machine.file().string()});
  CAPTURE(text.out);
  CAPTURE(text.err);
  CHECK(text.status() == 0);
  const std::size_t results = text.out.find("roofline.sweep");
  const std::size_t units = text.out.find("GUI_ACTIVE");
  REQUIRE(results != std::string::npos);
  REQUIRE(units != std::string::npos);
  CHECK(results < units);
  CHECK(nlohmann::json::parse(
            machine.run({"report", "--json", machine.file().string()}).out)["schema"] ==
        "gputrace.bench/1");
}

TEST_CASE("report of several runs has a document a line") {
  const Machine machine;
  machine.store({full_run(), bare_run()});
  const Finished json = machine.run({"report", "--json", machine.file().string()});
  CHECK(json.status() == 0);
  const std::size_t first = json.out.find('\n');
  REQUIRE(first != std::string::npos);
  CHECK(nlohmann::json::parse(json.out.substr(0, first))["schema"] == "gputrace.bench/1");
  CHECK(nlohmann::json::parse(json.out.substr(first))["schema"] == "gputrace.bench/1");
}

TEST_CASE("a file without results and samples still has a report") {
  const Machine machine;
  machine.store({});
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"report"}, {"report", "--json"}, {"list", "--all"}}) {
    std::vector<std::string> all = words;
    if (words.front() == "report") {
      all.push_back(machine.file().string());
    }
    const Finished finished = machine.run(all);
    CHECK(finished.status() == 0);
    CHECK_FALSE(finished.out.empty());
  }
}

TEST_CASE("damaged results are an error of report, a line of list, and sql still works") {
  const Machine machine;
  machine.store({full_run()});
  change_database(machine.file(), "UPDATE bench_tests SET status = 'party'");
  const Finished report = machine.run({"report", machine.file().string()});
  CHECK(report.status() == 1);
  CHECK(contains(report.err, "impossible value"));
  CHECK(contains(machine.run({"list", "--all"}).out, "cannot be read"));
  const Finished sql =
      machine.run({"sql", machine.file().string(), "SELECT count(*) AS n FROM bench_points"});
  CHECK(sql.status() == 0);
  CHECK(contains(sql.out, "3"));
}

}  // namespace
}  // namespace gputrace::test
