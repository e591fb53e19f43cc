#include "daemon/os/debugfs_registers.h"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

using namespace gputrace;      // NOLINT(google-build-using-namespace)
using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr unsigned long kV1 = 0xc0282000;
constexpr unsigned long kV2 = 0xc02c2001;

/// amdgpu's debugfs folder with plain files, and a kernel behind them.
struct FakeDebugfs {
  FakeDebugfs() {
    for (const char* name : {"amdgpu_regs2", "amdgpu_regs"}) {
      std::ofstream(folder.path() / name) << "x";
    }
  }

  DebugfsCalls calls() {
    return {[this](int /*fd*/, unsigned long request, void* argument) {
              ioctls.push_back(request);
              const std::size_t size = (request >> 16U) & 0x3fffU;
              const std::vector<unsigned char> zero(size);
              all_zero = all_zero && std::memcmp(argument, zero.data(), size) == 0;
              errno = request == kV2 ? v2_errno : v1_errno;
              return errno == 0 ? 0 : -1;
            },
            [this](int /*fd*/, void* buffer, std::size_t size, off_t offset) -> ssize_t {
              reads.push_back({offset, size});
              if (interruptions > 0) {
                --interruptions;
                errno = EINTR;
                return -1;
              }
              if (read_errno != 0) {
                errno = read_errno;
                return -1;
              }
              const std::size_t given = std::min(size, most_bytes);
              std::memset(buffer, 0x5a, given);
              return static_cast<ssize_t>(given);
            }};
  }

  struct Read {
    off_t offset;
    std::size_t size;
    bool operator==(const Read&) const = default;
  };

  test::TempDir folder;
  std::vector<unsigned long> ioctls;
  bool all_zero = true;
  int v2_errno = 0;
  int v1_errno = 0;
  std::vector<Read> reads;
  int read_errno = 0;
  int interruptions = 0;
  std::size_t most_bytes = 1000;
};

GpuDevice gpu_of(const std::string& card, const std::string& pci) {
  GpuDevice gpu;
  gpu.card = card;
  gpu.identity.pci = pci;
  return gpu;
}

/// sys/kernel/debug/dri with folders that a test fills.
struct DebugfsTree {
  void add(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / "kernel/debug/dri" / name;
    std::filesystem::create_directories(path);
    std::ofstream(path / "name") << text;
  }
  [[nodiscard]] Result<std::filesystem::path> find(const GpuDevice& gpu) const {
    return find_debugfs_folder(gpu, {folder.path(), "/nowhere", "/nowhere"});
  }
  test::TempDir folder;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("regs2 is asked for no bank with the newest form of its ioctl that it knows") {
  for (const int unknown : {ENOTTY, EINVAL}) {
    FakeDebugfs debugfs;
    REQUIRE(open_debugfs_regs2(debugfs.folder.path(), debugfs.calls()));
    CHECK(debugfs.ioctls == std::vector{kV2});

    debugfs.v2_errno = unknown;
    debugfs.ioctls.clear();
    REQUIRE(open_debugfs_regs2(debugfs.folder.path(), debugfs.calls()));
    CHECK(debugfs.ioctls == std::vector{kV2, kV1});
    CHECK(debugfs.all_zero);

    debugfs.v1_errno = unknown;
    const auto opened = open_debugfs_regs2(debugfs.folder.path(), debugfs.calls());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::kUnsupported);
    CHECK(has(opened.error().message, "amdgpu_regs2"));
  }
}

TEST_CASE("another failure of the regs2 ioctl is told with its errno") {
  FakeDebugfs debugfs;
  debugfs.v2_errno = EPERM;
  const auto opened = open_debugfs_regs2(debugfs.folder.path(), debugfs.calls());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::kPermissionDenied);
  CHECK(debugfs.ioctls == std::vector{kV2});
}

TEST_CASE("plain regs need no ioctl") {
  FakeDebugfs debugfs;
  const auto regs = open_debugfs_regs(debugfs.folder.path(), debugfs.calls());
  REQUIRE(regs);
  CHECK(debugfs.ioctls.empty());
  CHECK((*regs)->path() == (debugfs.folder.path() / "amdgpu_regs").string());
}

TEST_CASE("consecutive registers are one pread at their byte address") {
  FakeDebugfs debugfs;
  const auto regs = open_debugfs_regs2(debugfs.folder.path(), debugfs.calls());
  REQUIRE(regs);
  std::array<std::uint32_t, 2> words{};
  CHECK((*regs)->read(0x2010, words) == 0);
  CHECK(debugfs.reads == std::vector<FakeDebugfs::Read>{{0x8040, 8}});
  CHECK(words == std::array<std::uint32_t, 2>{0x5a5a5a5a, 0x5a5a5a5a});
}

TEST_CASE("a signal restarts the read, but not forever") {
  FakeDebugfs debugfs;
  const auto regs = open_debugfs_regs2(debugfs.folder.path(), debugfs.calls());
  REQUIRE(regs);
  std::array<std::uint32_t, 1> word{};
  debugfs.interruptions = 3;
  CHECK((*regs)->read(0x2007, word) == 0);
  CHECK(debugfs.reads.size() == 4);
  debugfs.interruptions = 1'000'000;
  CHECK((*regs)->read(0x2007, word) == EINTR);
}

TEST_CASE("errors pass through, and a short read is one") {
  FakeDebugfs debugfs;
  const auto regs = open_debugfs_regs2(debugfs.folder.path(), debugfs.calls());
  REQUIRE(regs);
  std::array<std::uint32_t, 2> words{};
  for (const int error : {EPERM, ENOENT, ENODEV, EIO}) {
    debugfs.read_errno = error;
    CHECK((*regs)->read(0x2007, words) == error);
  }
  debugfs.read_errno = 0;
  for (const std::size_t size : {0U, 3U, 4U}) {
    debugfs.most_bytes = size;
    CHECK((*regs)->read(0x2007, words) == EIO);
  }
}

TEST_CASE("no offset reaches the bank bits of plain regs") {
  FakeDebugfs debugfs;
  const auto regs = open_debugfs_regs(debugfs.folder.path(), debugfs.calls());
  REQUIRE(regs);
  std::array<std::uint32_t, 2> words{};
  CHECK((*regs)->read((1U << 20U) - 2, words) == 0);
  CHECK((*regs)->read((1U << 20U) - 1, words) == EINVAL);
  CHECK((*regs)->read(0xffffffff, words) == EINVAL);
  CHECK(debugfs.reads.size() == 1);
}

TEST_CASE("a file that is missing is named with its errno") {
  const test::TempDir folder;
  const auto regs2 = open_debugfs_regs2(folder.path());
  REQUIRE_FALSE(regs2);
  CHECK(regs2.error().code == ErrorCode::kNotFound);
  CHECK(has(regs2.error().message, (folder.path() / "amdgpu_regs2").string()));
  CHECK_FALSE(open_debugfs_regs(folder.path()));
}

TEST_CASE("a real file that has no ioctl is no regs2, and is read as plain regs") {
  const test::TempDir folder;
  std::ofstream(folder.path() / "amdgpu_regs2") << "x";
  const auto regs2 = open_debugfs_regs2(folder.path());
  REQUIRE_FALSE(regs2);
  CHECK(regs2.error().code == ErrorCode::kUnsupported);

  std::ofstream(folder.path() / "amdgpu_regs") << std::string(0x801c, '.') << "abcd";
  const auto regs = open_debugfs_regs(folder.path());
  REQUIRE(regs);
  std::array<std::uint32_t, 1> word{};
  CHECK((*regs)->read(0x2007, word) == 0);
  CHECK(std::memcmp(word.data(), "abcd", 4) == 0);
  CHECK((*regs)->read(0x2008, word) == EIO);
}

TEST_CASE("the folder is that of the card number, or of the address on newer kernels") {
  const DebugfsTree tree;
  const GpuDevice gpu = gpu_of("card1", "0000:c4:00.0");
  tree.add("0", "amdgpu dev=0000:03:00.0 unique=0000:03:00.0\n");
  tree.add("1", "amdgpu dev=0000:c4:00.0 unique=0000:c4:00.0\n");
  auto found = tree.find(gpu);
  REQUIRE(found);
  CHECK(found->filename() == "1");

  const DebugfsTree newer;
  newer.add("0000:c4:00.0", "amdgpu dev=0000:c4:00.0 master=pci:0000:c4:00.0\n");
  found = newer.find(gpu);
  REQUIRE(found);
  CHECK(found->filename() == "0000:c4:00.0");
}

TEST_CASE("a folder that does not name the GPU is never taken") {
  const GpuDevice gpu = gpu_of("card1", "0000:c4:00.0");
  for (const char* text : {"amdgpu dev=0000:03:00.0 unique=0000:03:00.0\n",
                           "amdgpu dev=0000:c4:00.01\n", "0000:c4:00.0\n", ""}) {
    CAPTURE(text);
    const DebugfsTree tree;
    tree.add("1", text);
    const auto found = tree.find(gpu);
    REQUIRE_FALSE(found);
    CHECK(has(found.error().message, "dri/1/name is of another device"));
    CHECK(has(found.error().message, "0000:c4:00.0/name is not there"));
  }
  const DebugfsTree tree;
  tree.add("1", "amdgpu dev=\n");
  CHECK_FALSE(tree.find(gpu_of("card1", "")));
}

TEST_CASE("debugfs that is not mounted is said to be so") {
  const DebugfsTree tree;
  const auto found = tree.find(gpu_of("card1", "0000:c4:00.0"));
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::kNotFound);
  CHECK(has(found.error().message, "not mounted"));
  CHECK(has(found.error().message, "mount -t debugfs"));
}
