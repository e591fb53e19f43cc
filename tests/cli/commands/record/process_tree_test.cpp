// Which processes are the workload, and what their DRM clients are.
#include "cli/commands/record/process_tree.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/record/client_scan.h"
#include "daemon/base/time.h"
#include "tests/cli/commands/record/fake_proc.h"
#include "tests/support/program.h"

namespace gputrace::commands {
namespace {

using test::amdgpu_fdinfo;
using test::FakeProc;

constexpr std::int64_t kAmple = 60 * kNsPerSecond;
const char* const kGpu = "0000:c4:00.0";

std::set<pid_t> as_set(const std::vector<pid_t>& pids) {
  return {pids.begin(), pids.end()};
}

TEST_CASE("the line of a process is read whatever its name is") {
  const std::string tail = " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0\n";
  const ProcessStat stat = parse_process_stat("7 (a) S 3 (b)) Z 42" + tail).value();
  CHECK(stat.parent == 42);
  CHECK(stat.state == 'Z');
  CHECK(stat.start_ticks == 12'345);
  for (const char* bad : {"", "7", "7 (a)", "7 (a) ", "7 (a) S", "7 (a) S x", "7 (a) S 1 2 3"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_process_stat(bad));
  }
}

TEST_CASE("the tree is the roots and their descendants, whatever order the pids have") {
  const FakeProc proc;
  proc.add(1, 0);
  proc.add(50, 1);
  proc.add(30, 50);
  proc.add(20, 30);
  proc.add(60, 1);
  ProcessTree tree(proc.path(), {{50}, std::nullopt, {}});
  CHECK(tree.refresh() == std::vector<pid_t>{50, 30, 20});
}

TEST_CASE("who came later belongs to it, who ended does not, and an orphan stays") {
  const FakeProc proc;
  proc.add(1, 0);
  proc.add(50, 1);
  proc.add(51, 50);
  ProcessTree tree(proc.path(), {{50}, std::nullopt, {}});
  CHECK(as_set(tree.refresh()) == std::set<pid_t>{50, 51});
  proc.add(52, 51);
  CHECK(as_set(tree.refresh()) == std::set<pid_t>{50, 51, 52});
  proc.remove(51);
  proc.add(52, 1);  // its parent is init now
  CHECK(as_set(tree.refresh()) == std::set<pid_t>{50, 52});
  proc.remove(50);
  proc.remove(52);
  CHECK(tree.refresh().empty());
}

TEST_CASE("a later process with the pid of a member or of the root is somebody else") {
  const FakeProc proc;
  proc.add(1, 0);
  proc.add(50, 1, "game", 7);
  proc.add(51, 50, "game", 8);
  ProcessTree tree(proc.path(), {{50}, std::nullopt, {}});
  CHECK(tree.refresh().size() == 2);
  proc.add(50, 1, "other", 99);
  proc.add(51, 1, "other", 99);
  CHECK(tree.refresh().empty());
}

TEST_CASE("orphans that a reaper takes in belong to the tree, its own children do not") {
  const FakeProc proc;
  proc.add(40, 1, "gputrace");
  proc.add(41, 40, "recorder");
  proc.add(50, 40, "launcher");
  proc.add(60, 40, "orphan");
  ProcessTree tree(proc.path(), {{50}, 40, {41}});
  CHECK(as_set(tree.refresh()) == std::set<pid_t>{50, 60});
}

TEST_CASE("a stranger's pid that the workload gets later is found in the end") {
  const FakeProc proc;
  proc.add(50, 1);
  proc.add(70, 1, "stranger", 7);
  ProcessTree tree(proc.path(), {{50}, std::nullopt, {}});
  CHECK(tree.refresh().size() == 1);
  proc.add(70, 50, "child", 8);
  std::size_t members = 0;
  for (int look = 0; look < 25; ++look) {
    members = tree.refresh().size();
  }
  CHECK(members == 2);
}

TEST_CASE("a tree has an end") {
  const FakeProc proc;
  proc.add(1, 0);
  const auto count = static_cast<pid_t>(ProcessTree::kMaxProcesses) + 3;
  for (pid_t pid = 2; pid <= count; ++pid) {
    std::filesystem::create_directory(proc.of(pid));
    std::ofstream(proc.of(pid) / "stat")
        << pid << " (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n";
  }
  ProcessTree tree(proc.path(), {{1}, std::nullopt, {}});
  CHECK(tree.refresh().size() == ProcessTree::kMaxProcesses);
  CHECK(tree.left_out() == 3);
}

TEST_CASE("a client counts once however many descriptors and processes share it") {
  const FakeProc proc;
  proc.add(50, 1, "game");
  proc.add(51, 50, "helper");
  for (const int fd : {5, 6}) {
    proc.open_drm(50, fd, amdgpu_fdinfo(kGpu, 217, 1000));
  }
  proc.open_drm(51, 5, amdgpu_fdinfo(kGpu, 217, 1000));
  proc.open_drm(51, 9, amdgpu_fdinfo(kGpu, 218, 2000));
  proc.open_drm(51, 10, amdgpu_fdinfo("0000:03:00.0", 217, 3000));
  const ClientScan scan = scan_clients(proc.path(), std::vector<pid_t>{50, 51}, kAmple);
  REQUIRE(scan.order.clients.size() == 3);
  std::vector<ipc::ClientReading> clients = scan.order.clients;
  CHECK(clients[0] ==
        ipc::ClientReading{50, "game", kGpu, 217, {{"gfx", 1000}}, 2068 * 1024, std::nullopt});
  CHECK(clients[1].process == "helper");
  CHECK(scan.order.unreadable == 0);
  CHECK(scan.order.time_ns > 0);
}

TEST_CASE("files that are none of DRM are not looked into") {
  const FakeProc proc;
  proc.add(50, 1);
  const std::string text = amdgpu_fdinfo(kGpu, 217, 1000);
  proc.open_file(50, 3, "/home/user/dri-notes", text);
  proc.open_file(50, 4, "socket:[1234]", text);
  proc.open_file(50, 5, "/dev/dri/by-path", text);
  CHECK(scan_clients(proc.path(), std::vector<pid_t>{50}, kAmple).order.clients.empty());
  proc.open_file(50, 6, "/container/dev/dri/card1", text);
  CHECK(scan_clients(proc.path(), std::vector<pid_t>{50}, kAmple).order.clients.size() == 1);
}

TEST_CASE("other drivers are named, and clients without a number are none") {
  const FakeProc proc;
  proc.add(50, 1);
  proc.open_drm(50, 5, test::fixture_text("i915.txt"));
  proc.open_drm(50, 6, "drm-driver:\tamdgpu\ndrm-pdev:\t0000:c4:00.0\n");
  proc.open_drm(50, 7, "no DRM file");
  const ClientScan scan = scan_clients(proc.path(), std::vector<pid_t>{50}, kAmple);
  CHECK(scan.order.clients.empty());
  CHECK(scan.other_drivers == std::set<std::string>{"i915"});
}

TEST_CASE("processes that went away are none, and those without time left count as unreadable") {
  const FakeProc proc;
  proc.add(50, 1);
  proc.open_drm(50, 5, amdgpu_fdinfo(kGpu, 217, 1000));
  const ClientScan scan = scan_clients(proc.path(), std::vector<pid_t>{49, 50}, kAmple);
  CHECK(scan.order.clients.size() == 1);
  CHECK(scan.order.unreadable == 0);
  const ClientScan none = scan_clients(proc.path(), std::vector<pid_t>{49, 50}, 0);
  CHECK(none.order.clients.empty());
  CHECK(none.order.unreadable == 2);
}

TEST_CASE("a process that may not be read is counted, unless it has ended") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may read everything");
    return;
  }
  const FakeProc proc;
  for (const auto& [pid, state] : {std::pair(50, 'S'), std::pair(51, 'Z')}) {
    proc.add(pid, 1, "x", 7, state);
    std::filesystem::permissions(proc.of(pid) / "fd", std::filesystem::perms::none);
  }
  const ClientScan scan = scan_clients(proc.path(), std::vector<pid_t>{50, 51}, kAmple);
  CHECK(scan.order.unreadable == 1);
}

TEST_CASE("clients over the limit of a message are counted") {
  const FakeProc proc;
  proc.add(50, 1);
  for (std::uint64_t id = 0; id < ipc::kMaxClients + 3; ++id) {
    proc.open_drm(50, static_cast<int>(id) + 10, amdgpu_fdinfo(kGpu, id, 1));
  }
  const ClientScan scan = scan_clients(proc.path(), std::vector<pid_t>{50}, kAmple);
  CHECK(scan.order.clients.size() == ipc::kMaxClients);
  CHECK(scan.order.left_out == 3);
}

TEST_CASE("the real /proc has the children of this process") {
  test::Program child({"cat"});
  const std::vector<pid_t> children = list_children();
  CHECK(std::find(children.begin(), children.end(), child.pid()) != children.end());
  ProcessTree tree("/proc", {{child.pid()}, std::nullopt, {}});
  CHECK(tree.refresh() == std::vector<pid_t>{child.pid()});
}

}  // namespace
}  // namespace gputrace::commands
