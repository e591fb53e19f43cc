// A bench from its first point to its file, on the simulated GPU.
#include "cli/commands/bench/bench_session.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/store/session_reader.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

using std::filesystem::path;
using test::error_text;

/// A user's folders. Each test is a process of its own, so the environment is as well.
class Home {
 public:
  Home() {
    set("XDG_DATA_HOME", dir_.path() / "data");
    set("XDG_CACHE_HOME", dir_.path() / "cache");
    set("GPUTRACE_SOCKET", dir_.path() / "no-daemon");
  }
  [[nodiscard]] path folder() const { return dir_.path(); }
  [[nodiscard]] path machine() const { return dir_.path() / "data/gputrace/machine"; }
  [[nodiscard]] std::vector<path> files() const {
    std::vector<path> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(machine(), ignored)) {
      files.push_back(entry.path());
    }
    return files;
  }

 private:
  static void set(const char* name, const path& value) {
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }

  test::TempDir dir_;
};

BenchRequest request() {
  BenchRequest request;
  request.gpu = "sim:780m";
  request.quick = true;
  request.command = {"gputrace", "bench", "fill"};
  return request;
}

std::unique_ptr<BenchSession> open(const BenchRequest& wanted) {
  Result<std::unique_ptr<BenchSession>> session = BenchSession::open(wanted);
  REQUIRE_MESSAGE(session, error_text(session));
  return std::move(*session);
}

bench::KernelCase stream() {
  bench::KernelCase kernel;
  kernel.id = "stream";
  kernel.stimulus = [](const bench::Launch& launch) {
    bench::Stimulus stimulus;
    stimulus.kernel = "stream";
    stimulus.threads = 65536.0 * launch.groups;
    stimulus.launches = launch.repeats;
    stimulus.group_threads = 256;
    stimulus.flops = 64;
    stimulus.access = bench::Access::kStream;
    stimulus.read_bytes = 16;
    stimulus.written_bytes = 16;
    return stimulus;
  };
  return kernel;
}

/// One point of about half a second.
void run_point(BenchSession& session) {
  const bench::KernelCase kernel = stream();
  auto prepared = session.runner().prepare(kernel);
  REQUIRE_MESSAGE(prepared, error_text(prepared));
  const bench::Launch launch{.groups = 256};
  session.observer()->begin_point("stream", kernel.stimulus(launch));
  double busy_ns = 0;
  while (busy_ns < 500e6) {
    const auto time = (*prepared)->run(launch);
    REQUIRE_MESSAGE(time, error_text(time));
    busy_ns += time->wall_ns;
  }
  session.observer()->end_point("stream");
}

analysis::BenchRun results_of(const BenchSession& session) {
  analysis::TestResult test;
  test.id = "fill.rgba8";
  test.unit = "GP/s";
  analysis::BenchPoint point;
  point.median = 40;
  point.samples = 20;
  test.series = {{"constant", {point}}};
  analysis::BenchRun run;
  run.device = session.device();
  run.started_at = "2026-11-30T14:00:00Z";
  run.cancelled = session.cancelled();
  run.tests = {test};
  return run;
}

path finish(BenchSession& session) {
  const auto file = session.finish(results_of(session));
  REQUIRE_MESSAGE(file, error_text(file));
  REQUIRE(file->has_value());
  return file->value();
}

store::SessionReader read(const path& file) {
  Result<store::SessionReader> reader = store::SessionReader::open(file);
  REQUIRE_MESSAGE(reader, error_text(reader));
  return std::move(*reader);
}

std::vector<store::Event> points_of(const store::SessionReader& session) {
  std::vector<store::Event> events = session.events().value();
  std::erase_if(events, [](const store::Event& event) { return !event.kind.starts_with("point"); });
  return events;
}

/// Of a bit in the samples between two times.
double busy_share(const store::SessionReader& session, std::size_t reg, unsigned bit,
                  store::TimeSpan span) {
  std::size_t busy = 0;
  std::size_t all = 0;
  REQUIRE(session.for_each_block(
      session.segments().at(0), span, [&](const sampler::SampleBlock& block) -> Status {
        const auto words = block.words_of(reg);
        all += words.size();
        busy += static_cast<std::size_t>(std::count_if(
            words.begin(), words.end(), [bit](std::uint32_t word) { return (word >> bit) & 1U; }));
        return {};
      }));
  REQUIRE(all > 0);
  return static_cast<double>(busy) / static_cast<double>(all);
}

TEST_CASE("a bench leaves one file with its busy bits, its points and its results") {
  const Home home;
  const auto session = open(request());
  CHECK(session->device().simulated);
  CHECK(session->runner().simulated());
  CHECK(session->observer()->clock_mhz().value_or(0) > 100);
  run_point(*session);
  CHECK(session->observer()->power_w().value_or(0) > 1);
  CHECK(session->observer()->temperature_c().value_or(0) > 10);
  const path file = finish(*session);
  CHECK(session->notes().empty());
  CHECK(home.files() == std::vector<path>{file});  // and nothing half done beside it
  CHECK(file.filename().string().starts_with("bench-SIMULATED"));
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(std::filesystem::status(home.machine()).permissions() == std::filesystem::perms::owner_all);

  const store::SessionReader reader = read(file);
  CHECK(reader.description().kind == store::SessionKind::kBench);
  CHECK(reader.description().command == std::vector<std::string>{"gputrace", "bench", "fill"});
  REQUIRE(reader.results().value().size() == 1);
  CHECK(reader.results()->at(0).tests.at(0).name == "fill.rgba8");
  CHECK(reader.results()->at(0).simulated);
  const std::vector<store::Event> points = points_of(reader);
  REQUIRE(points.size() == 2);
  CHECK(points[0].kind == "point_begin");
  CHECK(points[0].text.find(R"("label":"stream","stimulus":{)") != std::string::npos);
  CHECK(points[1].kind == "point_end");
  // While the kernel was played the GPU was busy. The first register is GRBM_STATUS, its bit 31
  // GUI_ACTIVE.
  const std::int64_t begin_ns = points[0].time_ns;
  CHECK(reader.segments().at(0).description.registers.at(0).name == "GRBM_STATUS");
  CHECK(busy_share(reader, 0, 31, {begin_ns, points[1].time_ns}) > 0.5);
}

TEST_CASE("two benches that begin in one second have two files") {
  const Home home;
  const auto first = open(request());
  const path a = finish(*first);
  const auto second = open(request());
  const path b = finish(*second);
  CHECK(a != b);
  CHECK(home.files().size() == 2);
}

TEST_CASE("with --no-save points are measured and nothing is written") {
  const Home home;
  BenchRequest wanted = request();
  wanted.save = false;
  const auto session = open(wanted);
  run_point(*session);
  CHECK(session->observer()->power_w());
  const auto file = session->finish(results_of(*session));
  REQUIRE(file);
  CHECK_FALSE(file->has_value());
  CHECK_FALSE(std::filesystem::exists(home.folder() / "data"));
}

TEST_CASE("one that needs its recording has it with --no-save too, for as long as it is there") {
  const Home home;
  BenchRequest wanted = request();
  wanted.save = false;
  wanted.needs_recording = true;
  path kept;
  {
    const auto session = open(wanted);
    run_point(*session);
    kept = finish(*session);
    CHECK(read(kept).segments().size() == 1);
  }
  CHECK_FALSE(std::filesystem::exists(kept.parent_path()));
  CHECK_FALSE(std::filesystem::exists(home.folder() / "data"));
}

TEST_CASE("a bench that is given up leaves nothing") {
  const Home home;
  {
    const auto session = open(request());
    session->observer()->begin_point("stream", stream().stimulus({}));
  }
  // The recorder tidies up in a process of its own.
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  CHECK(home.files().empty());
}

TEST_CASE("a bench that is killed, as by its driver, leaves nothing") {
  const Home home;
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // its recorder can be waited for
  const pid_t bench = ::fork();
  if (bench == 0) {
    const auto session = BenchSession::open(request());
    ::kill(::getpid(), session ? SIGKILL : SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(bench, &status, 0) == bench);
  CHECK(WTERMSIG(status) == SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  CHECK(home.files().empty());
}

TEST_CASE("Ctrl-C cancels the measuring, and what was measured is stored") {
  const Home home;
  const auto session = open(request());
  const bench::MeasurementOptions options = session->options();
  CHECK_FALSE(options.cancelled());
  REQUIRE(::raise(SIGINT) == 0);
  CHECK(options.cancelled());
  CHECK(session->cancelled());
  const store::SessionReader reader = read(finish(*session));
  CHECK(reader.results().value().at(0).cancelled);
}

TEST_CASE("a recorder that is killed costs the busy bits and no result") {
  const Home home;
  const auto session = open(request());
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  pid_t recorder = 0;
  for (pid_t child = 0; children >> child;) {
    recorder = child;  // the youngest: that of the session before may not have ended
  }
  if (recorder == 0) {
    MESSAGE("skipped: the kernel does not list children (CONFIG_PROC_CHILDREN)");
    return;
  }
  REQUIRE(::kill(recorder, SIGKILL) == 0);
  run_point(*session);
  const path file = finish(*session);
  CHECK(home.files() == std::vector<path>{file});
  const store::SessionReader reader = read(file);
  CHECK(reader.segments().empty());
  CHECK(reader.results().value().size() == 1);
  const auto& notes = session->notes();
  const auto says = [&](std::string_view text) {
    return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  };
  CHECK(says("busy bits are not marked from stream on"));
  CHECK(says("no busy bits beside the results"));
}

TEST_CASE("results that cannot be stored are an error and leave nothing") {
  const Home home;
  {
    const auto session = open(request());
    analysis::BenchRun run = results_of(*session);
    run.tests[0].series[0].points[0].median = std::numeric_limits<double>::infinity();
    const auto file = session->finish(run);
    REQUIRE_FALSE(file);
    CHECK(file.error().message.find("fill.rgba8") != std::string::npos);
  }
  CHECK(home.files().empty());
}

TEST_CASE("a folder that cannot be made is said before anything is measured") {
  const Home home;
  std::filesystem::create_directories(home.folder() / "data");
  std::ofstream(home.folder() / "data/gputrace") << "a file";
  const auto session = BenchSession::open(request());
  REQUIRE_FALSE(session);
  CHECK(session.error().message.find("data/gputrace") != std::string::npos);
}

TEST_CASE("a simulated GPU that is not there is an error and creates nothing") {
  const Home home;
  BenchRequest wanted = request();
  wanted.gpu = "sim:nonesuch";
  const auto session = BenchSession::open(wanted);
  REQUIRE_FALSE(session);
  CHECK(session.error().message.find("nonesuch") != std::string::npos);
  CHECK(home.files().empty());
}

}  // namespace
}  // namespace gputrace::commands
