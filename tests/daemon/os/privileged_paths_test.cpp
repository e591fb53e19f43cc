#include "daemon/os/privileged_paths.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/os/register_source.h"
#include "tests/daemon/os/fake_gpu.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::os;       // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)
using test::FakeGpu;

namespace {

constexpr std::array kAll{PrivilegedPath::kRegs2, PrivilegedPath::kRegs, PrivilegedPath::kBar};
const std::string kPci = "0000:c4:00.0";

/// A machine with the files of debugfs and a BAR, as plain files: amdgpu_regs2 has no ioctl then.
struct Machine {
  Machine() {
    std::filesystem::create_directories(debugfs());
    std::filesystem::create_directories(device());
    std::ofstream(debugfs() / "name") << "amdgpu dev=" << kPci << " unique=" << kPci << "\n";
    std::ofstream(debugfs() / "amdgpu_regs2") << "x";
    write_words(debugfs() / "amdgpu_regs", 0x11000000);
    write_words(device() / "resource5", 0x22000000);
    set_bar_size(0x10000);
    device_of_gpu.card = "card1";
    device_of_gpu.identity.pci = kPci;
    device_of_gpu.device_dir = device();
  }

  void set_bar_size(std::uint64_t size) const {
    std::ofstream resource(device() / "resource");
    for (int i = 0; i < 13; ++i) {
      resource << fmt::format("0x{:016x} 0x{:016x} 0x{:016x}\n", i == 5 ? 0xd0500000U : 0U,
                              i == 5 ? 0xd0500000U + size - 1 : 0U, i == 5 ? 0x40200U : 0U);
    }
  }
  static void write_words(const std::filesystem::path& file, std::uint32_t base) {
    std::ofstream out(file, std::ios::binary);
    for (std::uint32_t i = 0; i < 0x4000; ++i) {
      const std::uint32_t word = base + i;
      out.write(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  [[nodiscard]] std::filesystem::path debugfs() const {
    return folder.path() / "kernel/debug/dri/1";
  }
  [[nodiscard]] std::filesystem::path device() const {
    return folder.path() / "bus/pci/devices" / kPci;
  }

  PathSearch search(std::span<const PrivilegedPath> order = kAll, KernelVersion kernel = {6, 12}) {
    const SystemRoots roots{folder.path(), "/nowhere", "/nowhere"};
    return find_privileged_path(order,
                                {device_of_gpu,
                                 roots,
                                 {11, 0, 1},
                                 kernel,
                                 {{"GRBM_STATUS3", 0x2007, ""}, {"GRBM_STATUS_SE4", 0x2010, ""}}},
                                *node, gpu.guard());
  }

  test::TempDir folder;
  FakeGpu gpu;
  GpuDevice device_of_gpu;
  std::unique_ptr<RenderNodeReader> node = gpu.node({{"GRBM_STATUS", 0x2004, "drm ioctl"}});
};

/// What the path that was found reads now.
std::vector<std::uint32_t> words_of(Machine& machine, PathSearch& search) {
  REQUIRE(search.words != nullptr);
  GuardedReader reader(std::move(machine.node), std::move(search.words),
                       GuardedReader::Offer::kGuardedOnly);
  return test::read_once(reader, machine.gpu).words;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a kernel whose regs2 has no ioctl is read through plain regs") {
  Machine machine;
  PathSearch search = machine.search();
  REQUIRE(search.failed.size() == 1);
  CHECK(search.failed[0].name == "debugfs regs2");
  REQUIRE(search.words != nullptr);
  CHECK(search.words->registers()[0].source == "debugfs regs");
  CHECK(words_of(machine, search) == std::vector<std::uint32_t>{0x11002007, 0x11002010});
}

TEST_CASE("without debugfs the BAR is read") {
  Machine machine;
  std::filesystem::remove_all(machine.folder.path() / "kernel/debug");
  PathSearch search = machine.search();
  REQUIRE(search.failed.size() == 2);
  CHECK(search.failed[0].error.message == search.failed[1].error.message);
  CHECK(has(describe(search.failed), "debugfs regs2 and debugfs regs: "));
  CHECK(has(describe(search.failed), "not mounted"));
  REQUIRE(search.words != nullptr);
  CHECK(search.words->registers()[1].source == "bar");
  CHECK(words_of(machine, search) == std::vector<std::uint32_t>{0x22002007, 0x22002010});
}

TEST_CASE("when nothing works each way is named with its reason") {
  Machine machine;
  std::filesystem::remove(machine.debugfs() / "amdgpu_regs");
  machine.set_bar_size(0x8000);
  const PathSearch search = machine.search();
  CHECK(search.words == nullptr);
  REQUIRE(search.failed.size() == 3);
  const std::string text = describe(search.failed);
  CHECK(has(text, "debugfs regs2: "));
  CHECK(has(text, "; debugfs regs: cannot open "));
  CHECK(has(text, "; bar: "));
  CHECK_FALSE(only_root_is_missing(search.failed));
}

TEST_CASE("a path whose first words are all ones is not taken") {
  Machine machine;
  Machine::write_words(machine.debugfs() / "amdgpu_regs", 0xffffffff - 0x2007);
  const PathSearch search = machine.search();
  REQUIRE(search.words != nullptr);
  CHECK(search.words->registers()[0].source == "bar");
  CHECK(has(describe(search.failed), "all ones"));
}

TEST_CASE("kernels before 5.15 are refused before anything is opened") {
  Machine machine;
  const PathSearch search = machine.search(kAll, {5, 14});
  CHECK(search.words == nullptr);
  REQUIRE(search.failed.size() == 1);
  CHECK(has(describe(search.failed), "Linux 5.15"));
  CHECK(has(describe(search.failed), "5.14"));
  CHECK(machine.gpu.reads() == 0);
  CHECK(machine.search(kAll, {5, 15}).words != nullptr);
}

TEST_CASE("without a readable runtime_status nothing is opened") {
  Machine machine;
  machine.gpu.power = PowerState::kUnclear;
  const PathSearch search = machine.search();
  CHECK(search.words == nullptr);
  REQUIRE(search.failed.size() == 1);
  CHECK(has(describe(search.failed), "power/runtime_status"));
}

TEST_CASE("a reset, a sleeping GPU or a slow machine proves nothing against a path") {
  {
    Machine machine;
    machine.gpu.ioctl_errno = ENOENT;
    CHECK(machine.search().words != nullptr);
  }
  {
    Machine machine;
    machine.gpu.power = PowerState::kAsleep;
    CHECK(machine.search().words != nullptr);
  }
  Machine machine;
  machine.gpu.power_takes_ns = kNsPerSecond;
  CHECK(machine.search().words != nullptr);
}

TEST_CASE("only the paths of an explicit source are tried") {
  Machine machine;
  const PathSearch search = machine.search(std::span(kAll).last(1));
  REQUIRE(search.words != nullptr);
  CHECK(search.words->registers()[0].source == "bar");
  CHECK(search.failed.empty());
}

TEST_CASE("an ordinary user is told that root is what is missing") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may open every file");
    return;
  }
  Machine machine;
  for (const auto& file : {machine.debugfs() / "amdgpu_regs2", machine.debugfs() / "amdgpu_regs",
                           machine.device() / "resource5"}) {
    std::filesystem::permissions(file, std::filesystem::perms::none);
  }
  const PathSearch search = machine.search();
  CHECK(search.failed.size() == 3);
  CHECK(only_root_is_missing(search.failed));
}

TEST_CASE("lockdown explains an EPERM, and nothing else") {
  const test::TempDir folder;
  const SystemRoots roots{folder.path(), "/nowhere", "/nowhere"};
  const Error eperm = error_from_errno(EPERM, "cannot open /debug/amdgpu_regs2");
  CHECK(explain_lockdown(eperm, roots).message == eperm.message);

  std::filesystem::create_directories(folder.path() / "kernel/security");
  std::ofstream(folder.path() / "kernel/security/lockdown") << "none [integrity]\n";
  CHECK(has(explain_lockdown(eperm, roots).message, "lockdown 'integrity'"));
  CHECK(explain_lockdown(eperm, roots).code == ErrorCode::kPermissionDenied);
  for (const int error : {EACCES, ENOENT, EIO}) {
    const Error other = error_from_errno(error, "cannot open /debug/amdgpu_regs2");
    CHECK(explain_lockdown(other, roots).message == other.message);
  }
  CHECK_FALSE(only_root_is_missing(std::vector{FailedPath{"debugfs regs2", eperm}}));
}

TEST_CASE("a source has one of four names") {
  CHECK(parse_register_source("auto") == RegisterSource::kAuto);
  CHECK(parse_register_source("drm") == RegisterSource::kDrm);
  CHECK(parse_register_source("debugfs") == RegisterSource::kDebugfs);
  CHECK(parse_register_source("bar") == RegisterSource::kBar);
  for (const char* name : {"", "Auto", "regs2", "/dev/mem"}) {
    const auto source = parse_register_source(name);
    REQUIRE_FALSE(source);
    CHECK(source.error().code == ErrorCode::kUsage);
    CHECK(has(source.error().message, "auto, drm, debugfs and bar"));
  }
}

TEST_CASE("without a render node no source works, and an explicit one says what it needs it for") {
  GpuDevice gpu;
  gpu.card = "card1";
  const auto regdb = regdb::RegisterDatabase::built_in();
  for (const RegisterSource source : {RegisterSource::kAuto, RegisterSource::kDrm}) {
    const auto opened = open_registers(gpu, source, regdb, {});
    REQUIRE_FALSE(opened);
    CHECK(has(opened.error().message, "no render node"));
  }
  for (const RegisterSource source : {RegisterSource::kDebugfs, RegisterSource::kBar}) {
    const auto opened = open_registers(gpu, source, regdb, {});
    REQUIRE_FALSE(opened);
    CHECK(has(opened.error().message, "no render node"));
    CHECK(has(opened.error().message, "keeps the graphics core powered"));
  }
}
