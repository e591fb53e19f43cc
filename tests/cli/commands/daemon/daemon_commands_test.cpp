// mark, status, list and fetch beside a gputraced, as a user runs them.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/commands/daemon/daemon_rig.h"

namespace gputrace::test {
namespace {

nlohmann::json json_of(const Finished& finished) {
  return nlohmann::json::parse(finished.out, nullptr, false);
}

TEST_CASE("commands that need a daemon say what is missing, and exit with 1") {
  const DaemonRig rig;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"mark", "x"}, {"status"}, {"fetch"}}) {
    CAPTURE(words[0]);
    const Finished finished = rig.run(words);
    CHECK(finished.status() == 1);
    CHECK(finished.out.empty());
    CHECK(contains(finished.err, "gputraced is "));
    CHECK(contains(finished.err, FakeDaemon::socket(rig.folder()).string()));
  }
  DaemonScript script;
  script.refuse_client = Error{ErrorCode::kPermissionDenied, "you are not in the group"};
  const FakeDaemon daemon(rig.folder(), script);
  const Finished refused = rig.run({"status"});
  CHECK(refused.status() == 1);
  CHECK(contains(refused.err, "you are not in the group"));
}

TEST_CASE("wrong command lines are usage errors") {
  const DaemonRig rig;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"mark"},
                                                {"mark", ""},
                                                {"mark", "boss", "fight"},
                                                {"status", "x"},
                                                {"fetch", "../x.gputrace"},
                                                {"fetch", "x"},
                                                {"fetch", "-o", "x.gputrace"},
                                                {"fetch", "--force", "a.gputrace"},
                                                {"fetch", "a.gputrace", "-o", ""},
                                                {"fetch", "a.gputrace", "b.gputrace"}}) {
    CAPTURE(words.back());
    CHECK(rig.run(words).status() == 2);
  }
}

TEST_CASE("mark reaches the user's recordings and says how many") {
  const DaemonRig rig;
  DaemonScript script;
  script.marked = 2;
  const FakeDaemon daemon(rig.folder(), script);
  const Finished finished = rig.run({"mark", "boss, fight \xc3\xa4"});
  CHECK(finished.status() == 0);
  CHECK(finished.out == "marked 2 recordings\n");
  CHECK(contains(rig.heard(), "mark boss, fight \xc3\xa4\n"));
}

TEST_CASE("a mark that reaches no recording is a failure with a hint") {
  const DaemonRig rig;
  const FakeDaemon daemon(rig.folder());
  const Finished finished = rig.run({"mark", "x"});
  CHECK(finished.status() == 1);
  CHECK(finished.out.empty());
  CHECK(contains(finished.err, "gputrace record -- CMD"));
}

TEST_CASE("status shows GPUs, recordings, storage and problems") {
  const DaemonRig rig;
  DaemonScript script;
  ipc::StatusReply& status = script.status;
  status.daemon = "gputraced 9.8.7";
  status.uptime_s = 3700;
  status.recorders = {{"AMD Radeon 780M", "0000:c4:00.0", "sampling", 2000, 2},
                      {"AMD \x1b[31m", "0000:03:00.0", "idle", 0, 0}};
  status.recordings = 3;
  status.your_recordings = 1;
  status.your_bytes = 1'234'567;
  status.your_byte_limit = 2'000'000'000;
  status.free_bytes = 999;
  status.reserve_bytes = 1'000'000'000;
  status.problems = {"GPU 0000:03:00.0 is stuck in a read"};
  const FakeDaemon daemon(rig.folder(), script);
  const Finished text = rig.run({"status"});
  CHECK(text.status() == 0);
  CHECK(contains(text.out, "gputraced 9.8.7, up 1 h 1 min"));
  CHECK(contains(text.out, "AMD Radeon 780M (0000:c4:00.0): sampling at 2000 Hz for 2 sessions"));
  CHECK(contains(text.out, "(0000:03:00.0): idle\n"));
  CHECK_FALSE(contains(text.out, "\x1b"));
  CHECK(contains(text.out, "3, 1 of them yours"));
  CHECK(contains(text.out, "1.2 MB of yours, limit 2.0 GB"));
  CHECK(contains(text.out, "999 B free, 1.0 GB of it in reserve"));
  CHECK(contains(text.out, "GPU 0000:03:00.0 is stuck in a read"));
  const nlohmann::json json = json_of(rig.run({"status", "--json"}));
  CHECK(json["daemon"] == "gputraced 9.8.7");
  CHECK(json["gpus"][0]["rate_hz"] == 2000);
  CHECK(json["gpus"][1]["rate_hz"].is_null());
  CHECK(json["your_bytes"] == 1'234'567);
}

TEST_CASE("list names what the daemon keeps, last and with how to get it") {
  const DaemonRig rig;
  rig.shelve();
  std::filesystem::create_directories(rig.sessions());
  REQUIRE(make_session(rig.sessions() / "mine.gputrace", {}));
  const FakeDaemon daemon(rig.folder());
  const Finished text = rig.run({"list"});
  CHECK(text.status() == 0);
  CHECK(text.out.find("mine.gputrace") < text.out.find(kFakeSession));
  CHECK(contains(text.out, "2026-09-21 14:13:20"));
  CHECK(contains(text.out, "gputrace fetch " + kFakeSession));
  const nlohmann::json json = json_of(rig.run({"list", "--json"}));
  REQUIRE(json.size() == 2);
  CHECK(json[1]["file"].is_null());
  CHECK(json[1]["name"] == kFakeSession);
}

TEST_CASE("list is as before without a daemon, and with one that does not serve the user") {
  const DaemonRig rig;
  std::filesystem::create_directories(rig.sessions());
  REQUIRE(make_session(rig.sessions() / "mine.gputrace", {}));
  const Finished without = rig.run({"list"});
  DaemonScript script;
  script.refuse_client = Error{ErrorCode::kPermissionDenied, "you are not in the group"};
  const FakeDaemon daemon(rig.folder(), script);
  const Finished refused = rig.run({"list"});
  CHECK(without.err.empty());
  CHECK(refused.err.empty());
  CHECK(refused.out == without.out);
}

TEST_CASE("fetch takes a session by name into a file") {
  const DaemonRig rig;
  rig.shelve();
  const FakeDaemon daemon(rig.folder());
  const Finished finished = rig.run({"fetch", kFakeSession, "-o", rig.file().string()});
  CHECK(finished.status() == 0);
  CHECK(finished.out == rig.file().string() + "\n");
  CHECK(std::filesystem::exists(rig.file()));
  CHECK_FALSE(std::filesystem::exists(rig.shelved()));
  const Finished again = rig.run({"fetch", kFakeSession});
  CHECK(again.status() == 1);
  CHECK(contains(again.err, "there is no " + kFakeSession));
}

TEST_CASE("fetch without a name takes all, under names that are free") {
  const DaemonRig rig;
  rig.shelve();
  std::filesystem::create_directories(rig.sessions());
  std::ofstream(rig.sessions() / kFakeSession) << "precious";
  const FakeDaemon daemon(rig.folder());
  const Finished finished = rig.run({"fetch"});
  CHECK(finished.status() == 0);
  CHECK(finished.out == (rig.sessions() / "game-20261130-070000-2.gputrace").string() + "\n");
  CHECK(std::filesystem::file_size(rig.sessions() / kFakeSession) == 8);
  const Finished none = rig.run({"fetch"});
  CHECK(none.status() == 0);
  CHECK(none.out.empty());
  CHECK(contains(none.err, "keeps no finished recording"));
}

TEST_CASE("fetch leaves alone what is being recorded") {
  const DaemonRig rig;
  rig.shelve();
  DaemonScript script;
  script.recording = true;
  script.busy_fetches = 1;
  const FakeDaemon daemon(rig.folder(), script);
  CHECK(rig.run({"fetch"}).status() == 0);
  CHECK_FALSE(contains(rig.heard(), "fetch"));
  const Finished named = rig.run({"fetch", kFakeSession});
  CHECK(named.status() == 1);
  CHECK(contains(named.err, "is being recorded"));
  CHECK(contains(rig.run({"list"}).out, "being recorded by gputraced"));
}

}  // namespace
}  // namespace gputrace::test
