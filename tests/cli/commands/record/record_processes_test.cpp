// The whole of `record` with a command that works on another GPU than the one sampled by default.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/record/supervisor.h"
#include "tests/cli/commands/record/fake_proc.h"
#include "tests/cli/commands/record/record_rig.h"
#include "tests/support/fake_register_reader.h"

namespace gputrace::test {
namespace {

const char* const kApu = "0000:65:00.0";
const char* const kDiscrete = "0000:03:00.0";
constexpr std::uint64_t kReadsToSee = 50;

/// Its client on the second GPU works until the recorder has read that one, or for long. $0 is the
/// folder of processes, in which it stands as any process does in /proc.
constexpr const char* kWorkload = R"(
p=$0/$$
mkdir -p $p/fd $p/fdinfo
echo game > $p/comm
ln -s /dev/dri/renderD128 $p/fd/5
ln -s /dev/dri/renderD129 $p/fd/6
say() {
  printf 'drm-driver:\tamdgpu\ndrm-pdev:\t%s\ndrm-client-id:\t%s\ndrm-engine-gfx:\t%s ns\n' \
    $2 $1 $3 > $p/next
  mv $p/next $p/fdinfo/$1
}
say 5 0000:65:00.0 0
say 6 0000:03:00.0 0
echo "$$ (game) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0" > $p/stat
n=0
while [ ! -e $0/seen ] && [ $n -lt 100000 ]; do
  n=$((n + 1))
  say 6 0000:03:00.0 ${n}00000000
done
[ -e $0/seen ] && exit 23
)";

recorder::ReaderFactory two_gpus(const std::filesystem::path& seen) {
  return [=](const recorder::GpuRequest& request) -> Result<recorder::OpenedGpu> {
    const bool other = request.gpu == kDiscrete;
    auto reader = std::make_unique<FakeRegisterReader>(std::vector<std::string>{"GRBM_STATUS"});
    reader->on_read([=](std::uint64_t index) {
      if (other && index == kReadsToSee) {
        std::ofstream(seen).close();
      }
    });
    recorder::OpenedGpu gpu;
    gpu.identity.name = other ? "the other GPU" : "the default GPU";
    gpu.identity.pci = other ? kDiscrete : kApu;
    gpu.identity.gc = regdb::GcVersion{11, 0, 1};
    gpu.regdb_table = "11.0.0";
    gpu.reader = std::move(reader);
    return gpu;
  };
}

struct Recorded {
  int status = -1;
  std::string said;
};

Recorded record_workload(const RecordRig& rig, const FakeProc& proc) {
  Pipe said;
  const pid_t pid = ::fork();
  GPUTRACE_CHECK(pid >= 0);
  if (pid == 0) {
    commands::RecordOptions options;
    options.output = rig.file();
    options.no_daemon = true;
    options.rate_hz = 1000;
    options.source = "auto";
    options.command = {"sh", "-c", kWorkload, proc.path().string()};
    os::SystemRoots roots;
    roots.sys = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/laptop";
    roots.proc = proc.path();
    const LogSink log = [&said](LogLevel, std::string_view text) {
      const std::string line = std::string(text) + "\n";
      GPUTRACE_CHECK(::write(said.write_end.get(), line.data(), line.size()) > 0);
    };
    const Result<int> status =
        commands::record(options, two_gpus(proc.path() / "seen"), log, roots);
    ::_exit(status.value_or(99));
  }
  said.write_end.reset();
  Recorded recorded;
  char byte = 0;
  while (::read(said.read_end.get(), &byte, 1) == 1) {
    recorded.said.push_back(byte);
  }
  int status = 0;
  GPUTRACE_CHECK(::waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  recorded.status = WEXITSTATUS(status);
  return recorded;
}

TEST_CASE("a recording goes on with the GPU that the command works on, and has its clients") {
  const RecordRig rig;
  const FakeProc proc;
  const Recorded recorded = record_workload(rig, proc);
  CHECK(recorded.status == 23);
  CHECK(contains(recorded.said, "the workload uses"));
  CHECK(contains(recorded.said, kDiscrete));
  const store::SessionReader session = open_session(rig.file());
  REQUIRE(session.segments().size() == 2);
  CHECK(session.segments()[0].description.gpu.pci == kApu);
  CHECK(session.segments()[1].description.gpu.pci == kDiscrete);
  CHECK(session.segments()[1].totals.ticks > 0);
  std::vector<store::ClientUsage> usage;
  REQUIRE(session.for_each_client_usage([&usage](const store::ClientUsage& row) {
    usage.push_back(row);
    return Status();
  }));
  CHECK(std::any_of(usage.begin(), usage.end(), [](const store::ClientUsage& row) {
    return row.pdev == kApu && row.client_id == 5 && row.process == "game";
  }));
  CHECK(std::count_if(usage.begin(), usage.end(), [](const store::ClientUsage& row) {
          return row.pdev == kDiscrete && row.engine_ns.count("gfx") > 0;
        }) >= 2);
}

}  // namespace
}  // namespace gputrace::test
