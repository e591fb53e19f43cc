// `gputrace record` beside a gputraced: whose recording it is, and where the file ends up.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "daemon/store/session_reader.h"
#include "tests/cli/commands/daemon/daemon_rig.h"

namespace gputrace::test {
namespace {

const std::string kProbe = GPUTRACE_PROBE;

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

std::string gpu_of(const std::filesystem::path& file) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  REQUIRE_FALSE(session->segments().empty());
  return session->segments()[0].description.gpu.name;
}

TEST_CASE("with a daemon it records, and the user gets the file and the exit status") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({kProbe, "exit", "3"});
  options.label = "low settings";
  options.gpu = "card1";
  options.source = "bar";
  options.rate_hz = 500;
  RecordingBesideDaemon recording(rig, options);
  CHECK(recording.finish() == 3);
  CHECK(rig.heard().find("record gpu 'card1' source bar rate 500 label 'low settings' command " +
                         kProbe + "|exit|3\nstop exit 3 signal -1\nfetch " + kFakeSession +
                         "\ndone " + kFakeSession + "\n") == 0);
  CHECK_FALSE(std::filesystem::exists(rig.shelved()));
  CHECK(gpu_of(rig.file()) == "AMD Radeon 780M");
  struct stat info{};
  REQUIRE(::stat(rig.file().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  CHECK(files_in(rig.folder() / "mine").size() == 1);
  CHECK(recording.text().find("recording through gputraced\n") == 0);
  CHECK(recording.said("recorded a GPU of the daemon through gputraced: GRBM_STATUS3 too\n"));
  CHECK(recording.said("written to " + rig.file().string()));
  CHECK(recording.said("gputrace report " + rig.file().string()));
}

TEST_CASE("without -o the file goes to the user's sessions folder") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({kProbe, "exit", "0"});
  options.output.reset();
  RecordingBesideDaemon recording(rig, options);
  CHECK(recording.finish() == 0);
  const auto files = files_in(rig.sessions());
  REQUIRE(files.size() == 1);
  CHECK(files[0].filename().string().find("record_probe-2") == 0);
  struct stat info{};
  REQUIRE(::stat(rig.sessions().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0700);
}

TEST_CASE("quiet: only warnings are said, and a daemon gives no reason for any") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({kProbe, "exit", "0"});
  options.quiet = true;
  RecordingBesideDaemon recording(rig, options);
  CHECK(recording.finish() == 0);
  CHECK(recording.text().empty());
}

TEST_CASE("a rate that another recording has raised is told") {
  const DaemonRig rig;
  SessionRecipe recipe;
  recipe.rate_hz = 2000;
  rig.shelve(recipe);
  const FakeDaemon daemon(rig.folder());
  RecordingBesideDaemon recording(rig, rig.record_options({kProbe, "exit", "0"}));
  CHECK(recording.finish() == 0);
  CHECK(recording.said("sampled at 2000 Hz instead of 1000"));
}

TEST_CASE("without a command --duration ends the daemon's recording") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({});
  options.command.reset();
  options.duration_s = 0.05;
  RecordingBesideDaemon recording(rig, options);
  CHECK(recording.finish() == 0);
  CHECK(contains(rig.heard(), "stop exit -1 signal -1\nfetch"));
  CHECK(recording.said("recording a GPU of the daemon through gputraced; Ctrl-C ends it"));
  CHECK(std::filesystem::exists(rig.file()));
}

TEST_CASE("a command that cannot be executed leaves no recording") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  RecordingBesideDaemon recording(rig, rig.record_options({"gputrace-no-such-command"}));
  CHECK(recording.finish() == 127);
  CHECK(contains(rig.heard(), "discard"));
  CHECK_FALSE(contains(rig.heard(), "fetch"));
  CHECK(files_in(rig.folder() / "mine").empty());
}

TEST_CASE("a file that is in the way is refused before the daemon or the command hears of it") {
  for (const bool link : {false, true}) {
    const DaemonRig rig;
    const FakeDaemon daemon(rig.folder());
    const auto precious = rig.folder() / "precious";
    std::ofstream(link ? precious : rig.file()) << "precious";
    if (link) {
      std::filesystem::create_symlink(precious, rig.file());
    }
    commands::RecordOptions options = rig.record_options({kProbe, "words", "x"});
    options.force = link;
    RecordingBesideDaemon recording(rig, options);
    CHECK(recording.finish() == 99);
    CHECK(recording.said(link ? "symbolic link" : "--force"));
    CHECK(recording.printed().empty());
    CHECK_FALSE(contains(rig.heard(), "record"));
    std::string kept;
    std::ifstream(rig.file()) >> kept;
    CHECK(kept == "precious");
  }
}

TEST_CASE("--force replaces a file, and only when the recording is there") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  std::ofstream(rig.file()) << "old";
  commands::RecordOptions options = rig.record_options({kProbe, "wait"});
  options.force = true;
  RecordingBesideDaemon recording(rig, options);
  REQUIRE(recording.read_line() == "ready");
  std::string kept;
  std::ifstream(rig.file()) >> kept;
  CHECK(kept == "old");
  CHECK(recording.finish() == 0);
  CHECK(gpu_of(rig.file()) == "AMD Radeon 780M");
}

TEST_CASE("a folder that is not there or not writable stops the recording before the command") {
  const DaemonRig rig;
  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({kProbe, "words", "x"});
  options.output = rig.folder() / "none/a.gputrace";
  RecordingBesideDaemon missing(rig, options);
  CHECK(missing.finish() == 99);
  CHECK(missing.said("No such file"));
  CHECK(missing.printed().empty());

  std::filesystem::permissions(
      rig.folder(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  std::filesystem::permissions(rig.folder() / "mine", std::filesystem::perms::owner_read |
                                                          std::filesystem::perms::owner_exec |
                                                          std::filesystem::perms::others_exec);
  std::filesystem::permissions(FakeDaemon::socket(rig.folder()), std::filesystem::perms::all);
  RecordingBesideDaemon refused(rig, rig.record_options({kProbe, "words", "x"}), [] {
    GPUTRACE_CHECK(::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0);
  });
  CHECK(refused.finish() == 99);
  CHECK(refused.said("Permission denied"));
  CHECK(refused.printed().empty());
  CHECK_FALSE(contains(rig.heard(), "record"));
}

TEST_CASE("a daemon that does not serve, or cannot, costs one line: gputrace records by itself") {
  struct Row {
    DaemonScript script;
    std::string why;
  };
  std::vector<Row> rows(4);
  rows[0].script.refuse_client = Error{ErrorCode::kPermissionDenied, "you are not in the group"};
  rows[0].why = "recording without gputraced: you are not in the group";
  rows[1].script.refuse_client = Error{ErrorCode::kUnsupported, "it speaks protocol version 2"};
  rows[1].why = "recording without gputraced: it speaks protocol version 2";
  rows[2].script.refuse_record = Error{ErrorCode::kBusy, "4 recordings of yours run already"};
  rows[2].why = "gputraced does not record this: 4 recordings of yours run already; recording";
  rows[3].script.die_at_record = true;
  rows[3].why = "gputraced does not record this: it has closed the connection; recording without";
  for (const Row& row : rows) {
    CAPTURE(row.why);
    const DaemonRig rig;
    const FakeDaemon daemon(rig.folder(), row.script);
    RecordingBesideDaemon recording(rig, rig.record_options({kProbe, "exit", "5"}));
    CHECK(recording.finish() == 5);
    CHECK(recording.text().find(row.why) == 0);
    CHECK(gpu_of(rig.file()) == "a GPU of gputrace itself");
    const std::string& text = recording.text();
    CHECK(text.find("gputraced", text.find('\n')) == std::string::npos);
  }
}

TEST_CASE("without a daemon one line says so, with --no-daemon none and none is asked") {
  const DaemonRig rig;
  RecordingBesideDaemon alone(rig, rig.record_options({kProbe, "exit", "5"}));
  CHECK(alone.finish() == 5);
  CHECK(alone.text().find("recording without gputraced: ") == 0);

  const FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({kProbe, "exit", "6"});
  options.no_daemon = true;
  options.force = true;
  RecordingBesideDaemon by_choice(rig, options);
  CHECK(by_choice.finish() == 6);
  CHECK_FALSE(by_choice.said("gputraced"));
  CHECK(rig.heard().empty());
}

TEST_CASE("a simulated GPU is never the daemon's") {
  const DaemonRig rig;
  const FakeDaemon daemon(rig.folder());
  const Finished finished = rig.run(
      {"record", "--gpu", "sim:780m:idle", "-o", rig.file().string(), "--", kProbe, "exit", "4"});
  CHECK(finished.status() == 4);
  CHECK_FALSE(contains(finished.err, "gputraced"));
  CHECK(rig.heard().empty());
}

}  // namespace
}  // namespace gputrace::test
