// `gputrace record` when gputraced ends in mid-recording, or the way of the file to the user is
// blocked: the command notices nothing, and the user hears where the recording is.
#include <sched.h>
#include <sys/mount.h>

#include <fstream>

#include "cli/commands/session_copy.h"
#include "daemon/base/time.h"
#include "daemon/ipc/control_client.h"
#include "daemon/store/session_reader.h"
#include "tests/cli/commands/daemon/daemon_rig.h"

namespace gputrace::test {
namespace {

const std::string kProbe = GPUTRACE_PROBE;
const std::string kHowToGet = "`gputrace fetch " + kFakeSession + "` gets it";

TEST_CASE("a daemon that ends meanwhile and is back at the end hands over what it saved") {
  const DaemonRig rig;
  SessionRecipe recipe;
  recipe.finish = false;
  rig.shelve(recipe);
  FakeDaemon first(rig.folder());
  RecordingBesideDaemon recording(rig, rig.record_options({kProbe, "wait"}));
  REQUIRE(recording.read_line() == "ready");
  first.kill();
  DaemonScript script;
  script.busy_fetches = 2;  // it is finishing the file
  {
    const Result<store::SessionReader> repaired = store::SessionReader::open(rig.shelved());
    REQUIRE(repaired);
  }
  const FakeDaemon second(rig.folder(), script);
  CHECK(recording.finish() == 0);
  CHECK(recording.said("gputraced ended while it recorded, and the recording with it, at "));
  CHECK(recording.said("written to " + rig.file().string()));
  const Result<store::SessionReader> session = store::SessionReader::open(rig.file());
  REQUIRE(session);
  CHECK_FALSE(session->end());
  CHECK(contains(rig.heard(), "done " + kFakeSession));
}

TEST_CASE("a daemon that ends meanwhile and stays away costs the file, never the exit status") {
  const DaemonRig rig;
  rig.shelve();
  FakeDaemon daemon(rig.folder());
  RecordingBesideDaemon recording(rig, rig.record_options({kProbe, "wait"}));
  REQUIRE(recording.read_line() == "ready");
  daemon.kill();
  const std::int64_t end_ns = monotonic_now_ns();
  CHECK(recording.finish() == 0);
  CHECK(monotonic_now_ns() - end_ns < 10 * kNsPerSecond);
  CHECK(recording.said("gputraced ended while it recorded"));
  CHECK(recording.said("When gputraced runs again, " + kHowToGet));
  CHECK_FALSE(recording.said("written to"));
  CHECK(std::filesystem::is_empty(rig.folder() / "mine"));
}

TEST_CASE("without a command a daemon that ends is a failed recording") {
  const DaemonRig rig;
  rig.shelve();
  FakeDaemon daemon(rig.folder());
  commands::RecordOptions options = rig.record_options({});
  options.command.reset();
  options.duration_s = 1000;
  RecordingBesideDaemon recording(rig, options);
  REQUIRE(recording.hear_line() ==
          "recording a GPU of the daemon through gputraced; Ctrl-C ends it");
  daemon.kill();
  CHECK(recording.finish() == 1);
  CHECK(recording.said(kHowToGet));
}

TEST_CASE("a daemon that does not answer a fetch keeps nobody beyond the deadline") {
  const DaemonRig rig;
  rig.shelve();
  DaemonScript script;
  script.mute_fetches = true;
  const FakeDaemon daemon(rig.folder(), script);
  const Result<ipc::ControlClient> client =
      ipc::ControlClient::connect(FakeDaemon::socket(rig.folder()), "a test", 60 * kNsPerSecond);
  REQUIRE(client);
  Result<commands::SessionCopy> copy =
      commands::SessionCopy::prepare(rig.file(), ipc::OnExisting::kRefuse);
  REQUIRE(copy);
  const std::int64_t began_ns = monotonic_now_ns();
  const auto file = commands::fetch_session(*client, kFakeSession, *copy, began_ns + kNsPerMs);
  CHECK(monotonic_now_ns() - began_ns < 4 * kNsPerSecond);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == ErrorCode::kBusy);
  CHECK_FALSE(std::filesystem::exists(rig.file()));
}

TEST_CASE("a full disk: the daemon keeps the recording, and the user hears how to get it") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  RecordingBesideDaemon recording(
      rig, rig.record_options({kProbe, "exit", "3"}), [folder = rig.folder() / "mine"] {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=8k") != 0) {
          ::_exit(98);
        }
      });
  const int status = recording.finish();
  if (status == 98) {
    MESSAGE("skipped: no privilege for a mount namespace");
    return;
  }
  CHECK(status == 3);
  CHECK(recording.said("cannot write " + rig.file().string()));
  CHECK(recording.said("gputraced keeps the recording: " + kHowToGet));
  CHECK_FALSE(recording.said("written to"));
  CHECK(std::filesystem::exists(rig.shelved()));
  CHECK_FALSE(contains(rig.heard(), "done"));
}

TEST_CASE("a file that appears under the name meanwhile is not replaced") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  RecordingBesideDaemon recording(rig, rig.record_options({kProbe, "wait"}));
  REQUIRE(recording.read_line() == "ready");
  std::ofstream(rig.file()) << "precious";
  CHECK(recording.finish() == 0);
  CHECK(recording.said("exists"));
  CHECK(recording.said(kHowToGet));
  std::string kept;
  std::ifstream(rig.file()) >> kept;
  CHECK(kept == "precious");
  CHECK(std::filesystem::exists(rig.shelved()));
}

}  // namespace
}  // namespace gputrace::test
