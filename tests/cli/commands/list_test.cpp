// `gputrace list` from outside: what it shows, what it repairs and what it leaves alone.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/store/session_reader.h"
#include "tests/support/make_session.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

using std::filesystem::path;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A user's data folder with what is in it.
class Home {
 public:
  Home() { std::filesystem::create_directories(sessions()); }
  [[nodiscard]] path folder() const { return dir_.path(); }
  [[nodiscard]] path sessions() const { return dir_.path() / "gputrace/sessions"; }
  [[nodiscard]] path session(const std::string& name) const {
    return sessions() / (name + ".gputrace");
  }
  [[nodiscard]] Program::Options options() const {
    Program::Options options;
    options.environment = {{"XDG_DATA_HOME", dir_.path().string()},
                           {"XDG_CACHE_HOME", dir_.path().string()},
                           {"GPUTRACE_SOCKET", (dir_.path() / "no-daemon").string()},
                           {"TZ", "UTC"}};
    return options;
  }
  [[nodiscard]] Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), GPUTRACE_BINARY);
    return Program(words, options()).finish();
  }
  /// What `list` prints, which must succeed and have nothing to complain about.
  [[nodiscard]] std::string list(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), "list");
    const Finished finished = run(words);
    CHECK(finished.status() == 0);
    CHECK(finished.err.empty());
    return finished.out;
  }
  [[nodiscard]] nlohmann::json json() const {
    return nlohmann::json::parse(list({"--json"}), nullptr, false);
  }

 private:
  TempDir dir_;
};

/// As a killed recorder leaves it: no end, and the samples in the -wal.
void make_cut(const path& file) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    auto writer = store::SessionWriter::create(file, store::OnExisting::kReplace, {});
    const SessionRecipe recipe;
    const bool written = writer && writer->begin_segment(segment_of(recipe)) &&
                         writer->write_block(block_of(recipe, 0, 1000)) && writer->commit();
    ::_exit(written ? 0 : 1);  // without the destructors
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
}

TEST_CASE("list: an empty or missing folder is no error and says how to make a session") {
  const Home home;
  for (const bool missing : {false, true}) {
    if (missing) {
      std::filesystem::remove_all(home.folder() / "gputrace");
    }
    const Finished text = home.run({"list"});
    CHECK(text.status() == 0);
    CHECK(text.out.empty());
    CHECK(contains(text.err, "gputrace record -- CMD"));
    CHECK(home.run({"list", "--json"}).out == "[]\n");
  }
}

TEST_CASE("list: a recording shows when, how long, on what, at which rate and how it ended") {
  const Home home;
  SessionRecipe recipe;
  recipe.command = {"./game", "--level", "two words", "\x1b[31m"};
  recipe.exit_code = 3;
  recipe.seconds = 90;
  recipe.rate_hz = 100;
  REQUIRE(make_session(home.session("game"), recipe));
  CHECK(home.list() ==
        "game.gputrace\n"
        "  2026-09-21 14:13:20, 1:30 min, AMD Radeon 780M (SIMULATED), 100 Hz, exit 3\n"
        "  ./game --level 'two words' '\\x1b[31m'\n");
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 1);
  CHECK(json[0]["file"] == home.session("game").string());
  CHECK(json[0]["kind"] == "recording");
  CHECK(json[0]["started_at"] == "2026-09-21T14:13:20.000Z");
  CHECK(json[0]["duration_s"] == 90);
  CHECK(json[0]["label"].is_null());
  CHECK(json[0]["command"][3] == "\x1b[31m");
  CHECK(json[0]["cut"] == false);
  CHECK(json[0]["in_use"] == false);
  CHECK(json[0]["exit_code"] == 3);
  CHECK(json[0]["signal"].is_null());
  CHECK(json[0]["gpu"]["simulated"] == true);
  CHECK(json[0]["rate_hz"] == 100);
}

TEST_CASE("list: a real GPU is not said to be simulated, and a label stands for the command") {
  const Home home;
  SessionRecipe recipe;
  recipe.simulated = false;
  recipe.label = "before the patch";
  recipe.command = {"./game"};
  REQUIRE(make_session(home.session("a"), recipe));
  const std::string text = home.list();
  CHECK_FALSE(contains(text, "SIMULATED"));
  CHECK(contains(text, "  before the patch\n"));
  CHECK_FALSE(contains(text, "./game"));
}

TEST_CASE("list: sessions stand newest first by their own start, not by the file's time") {
  const Home home;
  for (const auto& [name, day] : {std::pair{"middle", 20}, {"newest", 30}, {"oldest", 10}}) {
    store::SessionDescription description;
    description.label = name;
    description.started = TimeAnchor{0, 0, (1'790'000'000LL + day * 86'400LL) * kNsPerSecond};
    auto writer =
        store::SessionWriter::create(home.session(name), store::OnExisting::kRefuse, description);
    REQUIRE(writer);
    REQUIRE(writer->finish({}));
  }
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 3);
  CHECK(json[0]["label"] == "newest");
  CHECK(json[1]["label"] == "middle");
  CHECK(json[2]["label"] == "oldest");
  CHECK(contains(home.list(), "no samples"));
}

TEST_CASE("list: an import says so, without a time or an outcome that it does not have") {
  const Home home;
  const path csv = home.folder() / "trace.csv";
  {
    std::ofstream file(csv);
    file << "# gputrace-regs v1\n# gc=11.0.1\ntime_ns,GRBM_STATUS\n"
            "1000000000,0x0\n1001000000,0x80000000\n1500000000,0x0\n";
  }
  REQUIRE(home.run({"import", csv.string()}).status() == 0);
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 1);
  CHECK(json[0]["kind"] == "import");
  CHECK(json[0]["started_at"].is_null());
  CHECK(json[0]["command"].is_null());
  CHECK(json[0]["exit_code"].is_null());
  CHECK(json[0]["cut"] == false);
  const std::string text = home.list();
  CHECK(contains(text, "time unknown"));
  CHECK(contains(text, "import"));
  CHECK(contains(text, "trace.csv"));
  CHECK_FALSE(contains(text, "exit"));
}

TEST_CASE("list: measurements of the machine are listed with --all only") {
  const Home home;
  std::filesystem::create_directories(home.folder() / "gputrace/machine");
  store::SessionDescription description;
  description.kind = store::SessionKind::kRoofline;
  auto writer = store::SessionWriter::create(home.folder() / "gputrace/machine/r.gputrace",
                                             store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->finish({}));
  REQUIRE(make_session(home.session("a"), {}));
  CHECK_FALSE(contains(home.list(), "r.gputrace"));
  const std::string all = home.list({"--all"});
  CHECK(contains(all, "r.gputrace"));
  CHECK(contains(all, "roofline"));
  CHECK(contains(all, "a.gputrace"));
}

TEST_CASE("list: a cut recording is repaired, marked, and keeps its place") {
  const Home home;
  make_cut(home.session("cut"));
  REQUIRE(std::filesystem::exists(home.session("cut").string() + "-wal"));
  const auto before = std::filesystem::last_write_time(home.session("cut"));
  const std::string text = home.list();
  CHECK(contains(text, "1000 Hz, cut\n"));
  CHECK_FALSE(std::filesystem::exists(home.session("cut").string() + "-wal"));
  CHECK(std::filesystem::last_write_time(home.session("cut")) == before);
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 1);
  CHECK(json[0]["cut"] == true);
  CHECK(json[0]["in_use"] == false);
  CHECK(json[0]["exit_code"].is_null());
  CHECK(json[0]["duration_s"] == 1);
}

TEST_CASE("list: files that are no sessions are named with the reason beside those that are") {
  const Home home;
  REQUIRE(make_session(home.session("good"), {}));
  std::ofstream empty(home.session("empty"));
  {
    std::ofstream text(home.session("text\x1b[2J"));
    text << std::string(500, 'x');
  }
  std::filesystem::create_symlink(home.session("good"), home.session("link"));
  std::filesystem::create_directory(home.session("folder"));
  std::ofstream other(home.sessions() / "notes.txt");
  const std::string text = home.list();
  CHECK(contains(text, "good.gputrace\n  2026"));
  CHECK(contains(text, "empty.gputrace\n  cannot be read: "));
  CHECK(contains(text, "is empty\n"));
  CHECK(contains(text, "text\\x1b[2J.gputrace\n  cannot be read: "));
  CHECK(contains(text, "it is a symbolic link"));
  CHECK(contains(text, "folder.gputrace is not a regular file"));
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK_FALSE(contains(text, "notes.txt"));
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 5);
  std::size_t broken = 0;
  for (const nlohmann::json& session : json) {
    broken += session.contains("error") ? 1 : 0;
  }
  CHECK(broken == 4);
}

TEST_CASE("list: a folder that is none is an error that names it") {
  const Home home;
  std::filesystem::remove(home.sessions());
  std::ofstream file(home.sessions());
  const Finished finished = home.run({"list"});
  CHECK(finished.status() == 1);
  CHECK(contains(finished.err, home.sessions().string()));
}

TEST_CASE("list, report and sql read a recording that goes on, and do not disturb it") {
  const Home home;
  Program::Options options = home.options();
  Program recording({GPUTRACE_BINARY, "record", "--gpu", "sim:780m:idle", "-o",
                     home.session("live").string(), "--", "sh", "-c", "echo started; cat"},
                    options);
  REQUIRE(recording.read_line() == "started");
  const std::string wal = home.session("live").string() + "-wal";
  // Several rounds fall into different moments of its writing; the last waits for a first commit.
  bool sampled = false;
  for (int round = 0; round < 5 || !sampled; ++round) {
    const nlohmann::json json = home.json();
    REQUIRE(json.size() == 1);
    CAPTURE(json.dump());
    REQUIRE_FALSE(json[0].contains("error"));
    CHECK(json[0]["cut"] == true);
    CHECK(json[0]["in_use"] == true);
    sampled = json[0]["duration_s"].is_number();
    CHECK(std::filesystem::exists(wal));
  }
  CHECK(contains(home.list(), "still being recorded"));
  const Finished report = home.run({"report"});
  CHECK(report.status() == 0);
  CHECK(contains(report.out, "still running"));
  const Finished rows = home.run({"sql", "SELECT count(*) AS seconds FROM busy"});
  CHECK(rows.status() == 0);
  CHECK(contains(rows.out, "seconds"));

  recording.close_input();
  CHECK(recording.finish().status() == 0);
  CHECK_FALSE(std::filesystem::exists(wal));
  const nlohmann::json json = home.json();
  REQUIRE(json.size() == 1);
  CHECK(json[0]["cut"] == false);
  CHECK(json[0]["in_use"] == false);
  CHECK(json[0]["exit_code"] == 0);
  const Finished gaps =
      home.run({"sql", "--csv",
                "SELECT count(*) FROM blocks AS a JOIN blocks AS b ON b.id = a.id + 1 "
                "WHERE b.start_ns <> a.end_ns OR b.dropped_ticks > 0"});
  CHECK(gaps.out == "count(*)\r\n0\r\n");
}

}  // namespace
}  // namespace gputrace::test
