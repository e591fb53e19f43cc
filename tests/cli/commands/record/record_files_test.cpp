// Where `gputrace record` writes: names, permissions, what exists already, disks that are full.
#include <doctest/doctest.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/store/session_reader.h"
#include "tests/cli/commands/record/record_rig.h"

namespace gputrace::test {
namespace {

TEST_CASE("without -o the file goes to the user's sessions folder, which is private") {
  const RecordRig rig;
  REQUIRE(rig.run({"--label", "a label", kProbe, "exit", "0"}).status() == 0);
  REQUIRE(rig.run({kProbe, "exit", "0"}).status() == 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rig.sessions())) {
    struct stat info{};
    REQUIRE(::stat(entry.path().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600);
    CHECK(entry.path().extension() == ".gputrace");
    ++files;
  }
  CHECK(files == 2);
  CHECK((std::filesystem::status(rig.sessions()).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms::owner_all);
}

TEST_CASE("recordings of the same command that begin together get a file each") {
  const RecordRig rig;
  constexpr std::size_t kTogether = 4;
  std::vector<std::unique_ptr<Program>> programs;
  programs.reserve(kTogether);
  for (std::size_t i = 0; i < kTogether; ++i) {
    programs.push_back(std::make_unique<Program>(rig.command({kProbe, "wait"}), rig.options()));
  }
  for (const auto& program : programs) {
    REQUIRE(program->read_line() == "ready");
  }
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(rig.sessions())) {
    if (entry.path().extension() == ".gputrace") {
      files.insert(entry.path().string());
    }
  }
  CHECK(files.size() == kTogether);
  for (const auto& program : programs) {
    const Finished finished = program->finish();
    CHECK(finished.status() == 0);
    CHECK(std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return contains(finished.err, "written to " + file + "\n");
    }));
  }
}

TEST_CASE("label and rate are in the file") {
  const RecordRig rig;
  REQUIRE(rig.run({"--label", "low, settings", "--rate", "50", "-o", rig.file().string(), kProbe,
                   "exit", "0"})
              .status() == 0);
  const store::SessionReader session = open_session(rig.file());
  CHECK(session.description().label == "low, settings");
  REQUIRE(session.segments().size() == 1);
  CHECK(session.segments()[0].description.rate_hz == 50);
  CHECK(session.segments()[0].description.gpu.simulated);
}

TEST_CASE("an existing file is refused before the command starts, unless --force") {
  const RecordRig rig;
  std::ofstream(rig.file()) << "precious";
  const Finished refused = Program(rig.probe({"words", "x"}), rig.options()).finish();
  CHECK(refused.status() == 1);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, "--force"));
  std::string kept;
  std::ifstream(rig.file()) >> kept;
  CHECK(kept == "precious");

  CHECK(rig.run({"--force", "-o", rig.file().string(), kProbe, "exit", "3"}).status() == 3);
  CHECK(end_of(open_session(rig.file())).exit_code == 3);
}

TEST_CASE("a symbolic link is never followed, not even with --force") {
  const RecordRig rig;
  const auto victim = rig.folder() / "victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, rig.file());
  for (const bool dangling : {false, true}) {
    if (dangling) {
      std::filesystem::remove(victim);
    }
    const Finished refused = rig.run({"--force", "-o", rig.file().string(), kProbe, "words", "x"});
    CHECK(refused.status() == 1);
    CHECK(refused.out.empty());
    CHECK(std::filesystem::exists(victim) != dangling);
    CHECK(std::filesystem::is_symlink(rig.file()));
  }
}

TEST_CASE("a folder that is not there or not writable stops the recording before the command") {
  const RecordRig rig;
  const Finished missing =
      rig.run({"-o", (rig.folder() / "none/a.gputrace").string(), kProbe, "words", "x"});
  CHECK(missing.status() == 1);
  CHECK(missing.out.empty());
  CHECK(contains(missing.err, "none"));

  Program::Options options = rig.options();
  if (::geteuid() == 0) {
    options.before_exec = [] {
      if (::setgroups(0, nullptr) != 0 || ::setresgid(65534, 65534, 65534) != 0 ||
          ::setresuid(65534, 65534, 65534) != 0) {
        ::_exit(99);
      }
    };
  } else {
    std::filesystem::permissions(
        rig.folder(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  }
  const Finished refused = Program(rig.probe({"words", "x"}), options).finish();
  std::filesystem::permissions(rig.folder(), std::filesystem::perms::owner_all);
  if (refused.exit_code == 99) {
    MESSAGE("skipped: another user cannot execute " << GPUTRACE_BINARY);
    return;
  }
  CHECK(refused.status() == 1);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, "ermission denied"));
}

TEST_CASE("a full disk stops the recording before the command") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [folder = rig.folder()] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=8k") != 0) {
      ::_exit(98);
    }
  };
  const Finished finished = Program(rig.probe({"words", "x"}), options).finish();
  if (finished.exit_code == 98) {
    MESSAGE("skipped: no privilege for a mount namespace");
    return;
  }
  CHECK(finished.status() == 1);
  CHECK(finished.out.empty());
  CHECK(contains(finished.err, "full"));
}

TEST_CASE("a reader that is connected when the file is finished delays the end by 2 s at most") {
  const RecordRig rig;
  Program program(rig.probe({"wait"}), rig.options());
  REQUIRE(program.read_line() == "ready");
  {
    const store::SessionReader reader = open_session(rig.file());
    const Finished finished = program.finish();
    CHECK(finished.status() == 0);
    CHECK(contains(finished.err, "another program is reading the file"));
  }
  CHECK(end_of(open_session(rig.file())).exit_code == 0);
}

}  // namespace
}  // namespace gputrace::test
