#include "daemon/os/privileges.h"

#include <cap-ng.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/in_child.h"
#include "tests/support/temp_dir.h"

using gputrace::ErrorCode;
using gputrace::os::drop_capabilities;
using gputrace::os::find_group;
using gputrace::test::in_child;
using gputrace::test::TempDir;

namespace {

constexpr std::uint64_t kNice = std::uint64_t{1} << CAP_SYS_NICE;
constexpr std::uint64_t kPerfmon = std::uint64_t{1} << CAP_PERFMON;

// A line of /proc/self/status, without its name.
std::string status_line(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) {
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
    }
  }
  return "no " + name;
}

std::uint64_t capabilities(const std::string& set) {
  return std::stoull(status_line(set), nullptr, 16);
}

std::string all_sets() {
  return fmt::format("prm={} eff={} inh={} bnd={} amb={} nnp={}", status_line("CapPrm"),
                     status_line("CapEff"), status_line("CapInh"), status_line("CapBnd"),
                     status_line("CapAmb"), status_line("NoNewPrivs"));
}

std::string sets_of(std::uint64_t left, std::uint64_t bounds) {
  return fmt::format("prm={0:016x} eff={0:016x} inh={2:016x} bnd={1:016x} amb={2:016x} nnp=1", left,
                     bounds, 0);
}

std::string dropped() {
  const auto left = drop_capabilities();
  return left ? *left : "failed: " + left.error().message;
}

// Whether this process has capabilities to give up.
bool is_privileged() {
  if (capabilities("CapPrm") == 0) {
    MESSAGE("skipped: this process has no capability to give up");
    return false;
  }
  return true;
}

std::string expected_names(std::uint64_t left) {
  std::string names = (left & kNice) != 0 ? "cap_sys_nice" : "";
  if ((left & kPerfmon) != 0) {
    names += names.empty() ? "cap_perfmon" : ",cap_perfmon";
  }
  return names;
}

}  // namespace

TEST_CASE("of all capabilities only CAP_SYS_NICE and CAP_PERFMON are left, in every set") {
  if (!is_privileged()) {
    return;
  }
  const std::uint64_t left = capabilities("CapPrm") & (kNice | kPerfmon);
  std::uint64_t bounds = capabilities("CapBnd");
  if ((capabilities("CapEff") & (std::uint64_t{1} << CAP_SETPCAP)) != 0) {
    bounds &= kNice | kPerfmon;
  }
  CHECK(in_child([] {
          const std::string names = dropped();
          return names + " " + all_sets();
        }) == expected_names(left) + " " + sets_of(left, bounds));
}

TEST_CASE("what is dropped cannot be used again, nor be had back from exec or a second call") {
  if (::geteuid() != 0 || !is_privileged()) {
    MESSAGE("skipped: needs root");
    return;
  }
  const TempDir folder;
  const std::string file = folder.path() / "of_another_user";
  std::ofstream(file) << "secret";
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  CHECK(in_child([&] { return ::access(file.c_str(), R_OK) == 0 ? "may" : "may not"; }) == "may");
  CHECK(in_child([&] {
          const std::string first = dropped();
          const bool may_read = ::access(file.c_str(), R_OK) == 0;
          // The bare call: glibc's has every thread of the process change its user, and aborts
          // where they differ; a sanitizer's own thread has kept its capabilities.
          const bool may_change_user = ::syscall(SYS_setuid, 65534) == 0;
          return fmt::format("{} {} {}", may_read, may_change_user, dropped() == first);
        }) == "false false true");
}

TEST_CASE("where CAP_SETPCAP is absent the bounding set stays and all else is dropped") {
  if (!is_privileged()) {
    return;
  }
  const std::uint64_t left = capabilities("CapPrm") & (kNice | kPerfmon);
  CHECK(in_child([] {
          capng_get_caps_process();
          capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_SETPCAP);
          capng_update(CAPNG_DROP, CAPNG_PERMITTED, CAP_SETPCAP);
          capng_apply(CAPNG_SELECT_CAPS);
          static_cast<void>(dropped());
          return all_sets();
        }) == sets_of(left, capabilities("CapBnd")));
}

TEST_CASE("without any capability there is nothing to drop, and no_new_privs is set") {
  if (in_child([] { return ::geteuid() == 0 && ::setuid(65534) != 0 ? "no" : "yes"; }) == "no") {
    MESSAGE("skipped: root that may not become another user");
    return;
  }
  const std::string bounds = status_line("CapBnd");
  CHECK(in_child([] {
          if (::geteuid() == 0 && ::setuid(65534) != 0) {
            return std::string("cannot become another user");
          }
          const std::string names = dropped();
          return fmt::format("'{}' {}", names, all_sets());
        }) == fmt::format("'' prm={0} eff={0} inh={0} bnd={1} amb={0} nnp=1", std::string(16, '0'),
                          bounds));
}

TEST_CASE("what is kept is enough for SCHED_FIFO") {
  const auto fifo = [] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    return ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? "fifo" : std::strerror(errno);
  };
  if (in_child([&] { return std::string(fifo()); }) != "fifo") {
    MESSAGE("skipped: this process may not use SCHED_FIFO");
    return;
  }
  CHECK(in_child([&] {
          static_cast<void>(dropped());
          return std::string(fifo());
        }) == "fifo");
}

TEST_CASE("a group is found by its name") {
  const auto group = find_group("root");
  REQUIRE(group.has_value());
  CHECK(*group == 0);
}

TEST_CASE("a group that does not exist is an error that says how to make it") {
  for (const char* name : {"gputrace-no-such-group", "", "a:b"}) {
    const auto group = find_group(name);
    REQUIRE_FALSE(group.has_value());
    CHECK(group.error().code == ErrorCode::kNotFound);
    CHECK(group.error().message.find("systemd-sysusers") != std::string::npos);
    CHECK(group.error().message.find(fmt::format("'{}'", name)) != std::string::npos);
  }
}
