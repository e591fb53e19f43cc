#include "daemon/os/kernel.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "daemon/os/runtime_status.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;      // NOLINT(google-build-using-namespace)
using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

TEST_CASE("a kernel release begins with two numbers") {
  CHECK(parse_kernel_release("6.12.9-amd64") == KernelVersion{6, 12});
  CHECK(parse_kernel_release("5.15") == KernelVersion{5, 15});
  CHECK(parse_kernel_release("10.0-rc1+") == KernelVersion{10, 0});
  for (const char* text : {"", "6", "6.", "six.one", ".6", "-6.1", "99999999999.1", "6-1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_kernel_release(text));
  }
  CHECK(KernelVersion{5, 4} < KernelVersion{5, 15});
  CHECK(KernelVersion{6, 0} > KernelVersion{5, 15});
  const auto running = running_kernel();
  REQUIRE(running);
  CHECK(running->major >= 3);
}

TEST_CASE("the lockdown mode is the word in brackets, and none is none") {
  const test::TempDir folder;
  const SystemRoots roots{folder.path(), "/nowhere", "/nowhere"};
  CHECK_FALSE(lockdown_mode(roots));
  std::filesystem::create_directories(folder.path() / "kernel/security");
  const auto with = [&](const char* text) {
    std::ofstream(folder.path() / "kernel/security/lockdown") << text;
    return lockdown_mode(roots);
  };
  CHECK_FALSE(with("[none] integrity confidentiality\n"));
  CHECK(with("none [integrity] confidentiality\n") == "integrity");
  CHECK(with("none integrity [confidentiality]\n") == "confidentiality");
  CHECK_FALSE(with("] nonsense [\n"));
  CHECK_FALSE(with(""));
}

TEST_CASE("only a device that says active is active, and the file is read anew each time") {
  const test::TempDir folder;
  CHECK(RuntimeStatus(folder.path()).look() == PowerState::kUnclear);
  std::filesystem::create_directories(folder.path() / "power");
  const auto write = [&](const char* text) {
    std::ofstream(folder.path() / "power/runtime_status") << text;
  };
  write("active\n");
  const RuntimeStatus status(folder.path());
  CHECK(status.look() == PowerState::kActive);
  for (const char* asleep : {"suspended\n", "suspending\n", "resuming\n"}) {
    write(asleep);
    CHECK(status.look() == PowerState::kAsleep);
  }
  for (const char* unclear : {"error\n", "unsupported\n", "", "active2\n"}) {
    write(unclear);
    CHECK(status.look() == PowerState::kUnclear);
  }
  write("active\n");
  CHECK(status.look() == PowerState::kActive);
}
