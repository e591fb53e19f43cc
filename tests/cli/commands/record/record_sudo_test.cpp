// `sudo gputrace record`, and root without sudo. As root only.
#include <doctest/doctest.h>
#include <pwd.h>
#include <sys/stat.h>

#include <string>

#include "tests/cli/commands/record/record_rig.h"

namespace gputrace::test {
namespace {

TEST_CASE("sudo: the command and the file are those of the user who called it") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  const RecordRig rig;
  constexpr unsigned kUser = 54321;
  std::filesystem::permissions(
      rig.folder(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  const auto home = rig.folder() / "home";
  std::filesystem::create_directory(home);
  REQUIRE(::chown(home.c_str(), kUser, kUser) == 0);
  Program::Options options = rig.options();
  options.environment["SUDO_UID"] = std::to_string(kUser);
  options.environment["SUDO_GID"] = std::to_string(kUser);
  const auto file = home / "a.gputrace";
  const auto command = rig.command({"-o", file.string(), "--", kProbe, "state"});
  const Finished finished = Program(command, options).finish();
  if (finished.status() == 126) {
    MESSAGE("skipped: another user cannot execute " << kProbe);
    return;
  }
  CHECK(finished.status() == 0);
  CHECK(contains(finished.out, "Uid:\t54321\t54321\t54321\t54321"));
  CHECK(contains(finished.out, "Gid:\t54321\t54321\t54321\t54321"));
  CHECK(contains(finished.out, "Groups:\t54321"));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    CHECK(contains(finished.out, std::string(set) + ":\t0000000000000000"));
  }
  CHECK_FALSE(contains(finished.err, "as root"));
  struct stat info{};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK(info.st_uid == kUser);

  // Root's rights are gone when the file is created: a folder of root's is refused.
  const Finished refused =
      Program(rig.command({"-o", rig.file().string(), "--", kProbe, "words", "x"}), options)
          .finish();
  CHECK(refused.status() == 1);
  CHECK(refused.out.empty());
}

TEST_CASE("sudo: home and name of root become the user's, others stay") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  const passwd* root = ::getpwuid(0);  // NOLINT(concurrency-mt-unsafe)
  const std::string root_home = root->pw_dir;
  const std::string root_name = root->pw_name;
  const passwd* nobody = ::getpwnam("nobody");  // NOLINT(concurrency-mt-unsafe)
  REQUIRE(nobody != nullptr);
  const RecordRig rig;
  std::filesystem::permissions(rig.folder(), std::filesystem::perms::all);
  Program::Options options = rig.options();
  options.environment["SUDO_UID"] = std::to_string(nobody->pw_uid);
  options.environment["SUDO_GID"] = std::to_string(nobody->pw_gid);
  options.environment["HOME"] = root_home;
  options.environment["USER"] = root_name;
  options.environment["LOGNAME"] = "chosen";
  const Finished finished = Program(rig.probe({"state"}), options).finish();
  if (finished.status() == 126) {
    MESSAGE("skipped: another user cannot execute " << kProbe);
    return;
  }
  CHECK(finished.status() == 0);
  CHECK(contains(finished.out, std::string("\nHOME=") + nobody->pw_dir + "\n"));
  CHECK(contains(finished.out, "\nUSER=nobody\n"));
  CHECK(contains(finished.out, "\nLOGNAME=chosen\n"));
  CHECK(contains(finished.err, "runs as nobody, who called sudo"));
}

TEST_CASE("sudo with damaged variables refuses rather than running the command as root") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  const RecordRig rig;
  Program::Options options = rig.options();
  options.environment["SUDO_UID"] = "bob";
  const Finished finished = Program(rig.probe({"words", "x"}), options).finish();
  CHECK(finished.status() == 1);
  CHECK(finished.out.empty());
  CHECK(contains(finished.err, "SUDO_UID"));
}

TEST_CASE("real root is told that the command runs as root") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  const RecordRig rig;
  CHECK(contains(Program(rig.probe({"exit", "0"}), rig.options()).finish().err, "as root"));
}

}  // namespace
}  // namespace gputrace::test
