#include "daemon/os/register_bar.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

using namespace gputrace;      // NOLINT(google-build-using-namespace)
using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr regdb::GcVersion kPhoenix{11, 0, 1};
constexpr regdb::GcVersion kTahiti{6, 0, 0};
constexpr std::uint64_t kBarSize = 0x80000;  // as of Phoenix

/// A PCI device in sysfs whose register BAR holds its own offsets.
class PciTree {
 public:
  explicit PciTree(int bar = 5, std::uint64_t size = kBarSize) : bar_(bar) {
    std::filesystem::create_directories(device());
    write_resources(size);
    write_bar(size);
  }
  void write_resources(std::uint64_t size, std::uint64_t flags = 0x40200) const {
    std::ofstream file(device() / "resource");
    for (int i = 0; i < 13; ++i) {
      const bool there = i == bar_ && size > 0;
      file << (there ? fmt::format("0x{:016x} 0x{:016x} 0x{:016x}\n", 0xd0500000,
                                   0xd0500000 + size - 1, flags)
                     : fmt::format("0x{0:016x} 0x{0:016x} 0x{0:016x}\n", 0));
    }
  }
  void write_bar(std::uint64_t size) const {
    std::ofstream file(bar_file(), std::ios::binary);
    for (std::uint32_t word = 0; word < size / 4; ++word) {
      file.write(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  [[nodiscard]] std::filesystem::path bar_file() const {
    return device() / fmt::format("resource{}", bar_);
  }
  [[nodiscard]] std::filesystem::path device() const {
    return folder_.path() / "bus/pci/devices/0000:c4:00.0";
  }
  [[nodiscard]] SystemRoots roots() const { return {folder_.path(), "/nowhere", "/nowhere"}; }
  [[nodiscard]] GpuDevice gpu() const {
    GpuDevice gpu;
    gpu.card = "card1";
    gpu.identity.pci = "0000:c4:00.0";
    gpu.device_dir = device();
    return gpu;
  }
  [[nodiscard]] Result<std::unique_ptr<PrivilegedRegisters>> open(
      regdb::GcVersion gc,
      const std::vector<std::uint32_t>& offsets = {0x2011, 0x2007, 0x2010}) const {
    std::vector<sampler::OfferedRegister> registers;
    registers.reserve(offsets.size());
    for (const std::uint32_t offset : offsets) {
      registers.push_back({fmt::format("R{:x}", offset), offset, "bar"});
    }
    return open_register_bar(gpu(), gc, registers, roots());
  }

 private:
  test::TempDir folder_;
  int bar_;
};

std::string error_of(const PciTree& tree, ErrorCode code) {
  const auto opened = tree.open(kPhoenix);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == code);
  return opened.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("registers are read from BAR 5, from BAR 2 on SI") {
  CHECK(register_bar_number(kTahiti) == 2);
  CHECK(register_bar_number({7, 2, 0}) == 5);
  CHECK(register_bar_number(kPhoenix) == 5);
  for (const auto& [gc, bar] : {std::pair{kPhoenix, 5}, {kTahiti, 2}}) {
    const PciTree tree(bar);
    const auto opened = tree.open(gc);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
    std::array<std::uint32_t, 2> words{};
    CHECK((*opened)->read(0x2010, words) == 0);
    CHECK(words == std::array<std::uint32_t, 2>{0x2010, 0x2011});
    CHECK((*opened)->path() == tree.bar_file().string());
    CHECK_FALSE(tree.open(bar == 5 ? kTahiti : kPhoenix));
  }
}

TEST_CASE("what lies outside the registers asked for cannot be read") {
  const PciTree tree;
  const auto opened = tree.open(kPhoenix);
  REQUIRE(opened);
  std::array<std::uint32_t, 2> words{};
  CHECK((*opened)->read(0x2006, words) == EINVAL);
  CHECK((*opened)->read(0x2011, words) == EINVAL);
  CHECK((*opened)->read(0xffffffff, words) == EINVAL);
  CHECK((*opened)->read(0x2007, words) == 0);
}

TEST_CASE("libpci tells the size of a BAR") {
  const PciTree tree;
  const auto size = bar_size(tree.gpu(), 5, tree.roots());
  REQUIRE(size);
  CHECK(*size == kBarSize);
  const auto absent = bar_size(tree.gpu(), 2, tree.roots());
  REQUIRE_FALSE(absent);
  CHECK(has(absent.error().message, "no BAR 2"));

  tree.write_resources(kBarSize, 0x40101);  // I/O ports
  CHECK_FALSE(bar_size(tree.gpu(), 5, tree.roots()));
}

TEST_CASE("a device that libpci cannot describe is an error, not the end of the process") {
  const PciTree tree;
  std::filesystem::remove(tree.device() / "resource");
  CHECK(has(error_of(tree, ErrorCode::kNotFound), "libpci"));

  std::ofstream(tree.device() / "resource") << "nonsense\n";
  CHECK(has(error_of(tree, ErrorCode::kNotFound), "0000:c4:00.0"));

  GpuDevice gpu = tree.gpu();
  for (const char* address : {"", "nonsense", "0000:ff:00.0", "zzzz:c4:00.0"}) {
    CAPTURE(address);
    gpu.identity.pci = address;
    CHECK_FALSE(bar_size(gpu, 5, tree.roots()));
  }
}

TEST_CASE("a BAR that ends before the highest register is refused") {
  const PciTree tree;
  tree.write_resources(0x8044);  // GRBM_STATUS_SE4 ends there
  CHECK(has(error_of(tree, ErrorCode::kUnsupported), "R2011"));
  tree.write_resources(0x8048);
  CHECK(tree.open(kPhoenix));

  std::filesystem::resize_file(tree.bar_file(), 0x8044);  // the file says so too
  CHECK(has(error_of(tree, ErrorCode::kUnsupported), "0x8044"));
}

TEST_CASE("a BAR that cannot be opened is named with its errno") {
  const PciTree tree;
  std::filesystem::remove(tree.bar_file());
  CHECK(has(error_of(tree, ErrorCode::kNotFound), tree.bar_file().string()));
}

TEST_CASE("a BAR that is taken away in mid-run is an error, and other reads go on") {
  const PciTree tree;
  const PciTree other;
  const auto opened = tree.open(kPhoenix);
  const auto unharmed = other.open(kPhoenix);
  REQUIRE(opened);
  REQUIRE(unharmed);
  std::filesystem::resize_file(tree.bar_file(), 0);  // its pages now raise SIGBUS
  std::array<std::uint32_t, 1> word{};
  for (int i = 0; i < 3; ++i) {
    CHECK((*opened)->read(0x2007, word) == ENODEV);
  }
  CHECK((*unharmed)->read(0x2007, word) == 0);
  CHECK(word[0] == 0x2007);
}
