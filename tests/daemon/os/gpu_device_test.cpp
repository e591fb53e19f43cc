#include "daemon/os/gpu_device.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

using namespace gputrace;      // NOLINT(google-build-using-namespace)
using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

namespace {

const std::filesystem::path kTrees = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs";

SystemRoots roots_of(const std::string& tree) {
  return {.sys = kTrees / tree, .dev = "/nowhere/dev", .ids = kTrees / "amdgpu.ids"};
}

std::vector<GpuDevice> gpus_of(const SystemRoots& roots) {
  const auto gpus = list_gpus(roots);
  REQUIRE_MESSAGE(gpus, gpus.error().message);
  return *gpus;
}

/// A class/drm folder that a test fills with one card.
class TreeBuilder {
 public:
  explicit TreeBuilder(const std::string& card = "card0")
      : device_("class/drm/" + card + "/device/") {
    write("vendor", "0x1002\n");
    write("uevent", "DRIVER=amdgpu\nPCI_ID=1002:15BF\nPCI_SLOT_NAME=0000:c4:00.0\n");
  }
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / device_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void pipe(const std::string& file) const {
    const std::filesystem::path path = folder_.path() / device_ / file;
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  void remove(const std::string& file) const {
    std::filesystem::remove_all(folder_.path() / device_ / file);
  }
  [[nodiscard]] std::vector<GpuDevice> gpus(const std::filesystem::path& ids = "/nowhere") const {
    return gpus_of({.sys = folder_.path(), .dev = folder_.path() / "dev", .ids = ids});
  }

 private:
  test::TempDir folder_;
  std::string device_;
};

std::string error_of(const std::vector<GpuDevice>& gpus, std::string_view selector,
                     ErrorCode code) {
  const auto selected = select_gpu(gpus, selector);
  REQUIRE_FALSE(selected);
  CHECK(selected.error().code == code);
  return selected.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a copy with CRLF tells the same, and a pipe in it does not hold the reader") {
  const TreeBuilder tree;
  tree.write("vendor", "0x1002\r\n");
  tree.write("uevent", "DRIVER=amdgpu\r\nPCI_ID=1002:15BF\r\nPCI_SLOT_NAME=0000:c4:00.0\r\n");
  tree.write("revision", "0xc1\r\n");
  for (const char* part : {"major", "minor", "revision"}) {
    tree.write(std::string("ip_discovery/die/0/11/0/") + part, "11\r\n");
  }
  tree.write("power/runtime_status", "suspended\r\n");
  tree.pipe("boot_vga");
  const auto gpus = tree.gpus();
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].identity.device_id == 0x15bf);
  CHECK(gpus[0].identity.revision_id == 0xc1);
  CHECK(gpus[0].identity.pci == "0000:c4:00.0");
  CHECK(gpus[0].identity.gc == regdb::GcVersion{11, 11, 11});
  CHECK(gpus[0].runtime_status == "suspended");
  CHECK_FALSE(gpus[0].boot_vga);
}

TEST_CASE("an APU is described from sysfs alone") {
  const auto gpus = gpus_of(roots_of("780m"));
  REQUIRE(gpus.size() == 1);
  const GpuDevice& gpu = gpus[0];
  CHECK(gpu.card == "card1");
  CHECK(gpu.identity.name == "AMD Radeon 780M Graphics");
  CHECK(gpu.identity.gc == regdb::GcVersion{11, 0, 1});
  CHECK(gpu.identity.pci == "0000:c4:00.0");
  CHECK(gpu.identity.vendor_id == 0x1002);
  CHECK(gpu.identity.device_id == 0x15bf);
  CHECK(gpu.identity.revision_id == 0xc1);
  CHECK(gpu.identity.driver == "amdgpu");
  CHECK_FALSE(gpu.identity.simulated);
  CHECK(gpu.render_node_name == "renderD128");
  CHECK(gpu.render_node == "/nowhere/dev/dri/renderD128");
  CHECK(gpu.runtime_status == "active");
  CHECK(gpu.boot_vga);
  CHECK_FALSE(gpu.shader_engines);
}

TEST_CASE("only AMD cards with the amdgpu driver are listed, in order of PCI address") {
  const auto gpus = gpus_of(roots_of("laptop"));  // also i915, radeon
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].identity.pci == "0000:03:00.0");
  CHECK(gpus[0].runtime_status == "suspended");
  CHECK(gpus[0].render_node_name == "renderD129");
  CHECK(gpus[0].identity.name == "AMD Radeon RX 7600M XT");
  CHECK(gpus[1].identity.pci == "0000:65:00.0");
  CHECK(gpus[1].card == "card1");
  CHECK_FALSE(gpus[1].identity.gc);
}

TEST_CASE("the GC version is that of the first die and instance that is not fused off") {
  CHECK(gpus_of(roots_of("laptop"))[0].identity.gc == regdb::GcVersion{11, 0, 2});

  const TreeBuilder tree;
  for (const char* file : {"major", "minor", "revision"}) {
    tree.write(std::string("ip_discovery/die/0/11/0/") + file, "9\n");
  }
  tree.write("ip_discovery/die/0/11/0/harvest", "0x1\n");  // the only one there is
  CHECK(tree.gpus().at(0).identity.gc == regdb::GcVersion{9, 9, 9});
}

TEST_CASE("a GPU without IP discovery is listed without a GC version") {
  const auto gpus = gpus_of(roots_of("vega56"));
  REQUIRE(gpus.size() == 1);
  CHECK_FALSE(gpus[0].identity.gc);
  CHECK(gpus[0].identity.name == "Radeon RX Vega 56");  // product_name is empty
  CHECK(gpus[0].render_node_name == "renderD128");      // found from the class folder
}

TEST_CASE("no GPU, or no graphics folder at all, is an empty list") {
  const test::TempDir folder;
  CHECK(gpus_of({.sys = folder.path(), .dev = folder.path(), .ids = "/nowhere"}).empty());
  std::filesystem::create_directories(folder.path() / "class/drm/card0-DP-1");
  CHECK(gpus_of({.sys = folder.path(), .dev = folder.path(), .ids = "/nowhere"}).empty());
}

TEST_CASE("a graphics folder that cannot be listed is an error that names it") {
  const test::TempDir folder;
  std::filesystem::create_directories(folder.path() / "class");
  std::ofstream(folder.path() / "class/drm") << "a file";
  const auto gpus = list_gpus({.sys = folder.path(), .dev = folder.path(), .ids = "/nowhere"});
  REQUIRE_FALSE(gpus);
  CHECK(has(gpus.error().message, "class/drm"));
}

TEST_CASE("missing files are absent values") {
  const TreeBuilder tree;
  const auto gpus = tree.gpus();
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].identity.device_id == 0x15bf);  // from uevent
  CHECK_FALSE(gpus[0].identity.revision_id);
  CHECK_FALSE(gpus[0].identity.gc);
  CHECK(gpus[0].render_node_name.empty());
  CHECK(gpus[0].render_node.empty());
  CHECK(gpus[0].runtime_status.empty());
  CHECK_FALSE(gpus[0].boot_vga);
  CHECK(gpus[0].identity.name == "AMD GPU (Phoenix)");

  tree.remove("uevent");
  CHECK(tree.gpus().empty());  // nothing says that the driver is amdgpu
}

TEST_CASE("garbage in numbers is an absent value, never 0 or a part of the text") {
  const TreeBuilder tree;
  tree.write("device", "0x15bfzz\n");
  tree.write("revision", "0x1c1\n");  // more than a byte
  tree.write("ip_discovery/die/0/11/0/major", "11\n");
  tree.write("ip_discovery/die/0/11/0/minor", "-1\n");
  tree.write("ip_discovery/die/0/11/0/revision", "1\n");
  tree.write("ip_discovery/die/0/11/x/major", "11\n");
  const auto gpu = tree.gpus().at(0);
  CHECK(gpu.identity.device_id == 0x15bf);  // uevent's
  CHECK_FALSE(gpu.identity.revision_id);
  CHECK_FALSE(gpu.identity.gc);

  tree.write("vendor", "\n");
  CHECK(tree.gpus().size() == 1);  // uevent says 1002
  tree.write("uevent", "DRIVER=amdgpu\nPCI_ID=100\n");
  CHECK(tree.gpus().empty());
}

TEST_CASE("names come from the board, from amdgpu.ids, from our own list, else from the ids") {
  const TreeBuilder tree;
  tree.write("revision", "0xc1\n");
  CHECK(tree.gpus().at(0).identity.name == "AMD Radeon 780M Graphics");
  CHECK(select_gpu(tree.gpus(), "780m"));

  const test::TempDir folder;
  std::ofstream ids(folder.path() / "amdgpu.ids");
  ids << "1.0.0\n15BF,\tC1,\tRadeon of libdrm\n" << std::flush;
  CHECK(tree.gpus(folder.path() / "amdgpu.ids").at(0).identity.name == "Radeon of libdrm");

  tree.write("product_name", "Radeon of the board\n");
  CHECK(tree.gpus(folder.path() / "amdgpu.ids").at(0).identity.name == "Radeon of the board");

  tree.remove("product_name");
  tree.write("device", "0xfffe\n");
  CHECK(tree.gpus().at(0).identity.name == "AMD GPU 1002:fffe");
}

TEST_CASE("a product name cannot send control characters to a terminal") {
  const TreeBuilder tree;
  tree.write("product_name", "Radeon\x1b[2J Pro\n");
  CHECK(tree.gpus().at(0).identity.name == "Radeon?[2J Pro");

  tree.write("product_name", std::string(1000, 'x'));  // no name that the kernel would give
  CHECK(tree.gpus().at(0).identity.name == "AMD GPU (Phoenix)");
}

TEST_CASE("a GPU is chosen by index, address, card, render node or name") {
  const auto gpus = gpus_of(roots_of("laptop"));
  for (const std::string selector : {"0", "0000:03:00.0", "03:00.0", "card0", "renderD129",
                                     "AMD Radeon RX 7600M XT", "7600", "rx"}) {
    CAPTURE(selector);
    const auto gpu = select_gpu(gpus, selector);
    REQUIRE(gpu);
    CHECK(gpu->card == "card0");
  }
  for (const std::string selector :
       {"1", "0000:65:00.0", "card1", "renderD128", "780M", "780m", "780"}) {
    CAPTURE(selector);
    const auto gpu = select_gpu(gpus, selector);
    REQUIRE(gpu);
    CHECK(gpu->card == "card1");
  }
  const auto apu = gpus_of(roots_of("780m"));
  CHECK(select_gpu(apu, "0000:C4:00.0"));
  CHECK(select_gpu(apu, "C4:00.0"));
}

TEST_CASE("what fits no GPU is an error that lists what there is") {
  const auto gpus = gpus_of(roots_of("laptop"));
  for (const std::string selector :
       {"2", "card2", "card", "renderD12", "0000:00:02.0", "9070", "-1"}) {
    CAPTURE(selector);
    const std::string message = error_of(gpus, selector, ErrorCode::kNotFound);
    CHECK(has(message, "'" + selector + "'"));
    CHECK(has(message, "0: AMD Radeon RX 7600M XT (0000:03:00.0, card0, renderD129)"));
    CHECK(has(message, "1: AMD Radeon 780M Graphics (0000:65:00.0, card1, renderD128)"));
  }
  CHECK(has(error_of({}, "0", ErrorCode::kNotFound), "no AMD GPU"));
  CHECK(has(error_of({}, "", ErrorCode::kNotFound), "no AMD GPU"));
}

TEST_CASE("what fits several GPUs is an error that names them") {
  const auto gpus = gpus_of(roots_of("laptop"));
  const std::string message = error_of(gpus, "radeon", ErrorCode::kInvalidArgument);
  CHECK(has(message, "fits 2 GPUs"));
  CHECK(has(message, "0000:03:00.0"));
  CHECK(has(message, "0000:65:00.0"));

  auto twins = gpus;
  twins[1].identity.name = twins[0].identity.name;  // a full name is no better then
  CHECK(has(error_of(twins, "AMD Radeon RX 7600M XT", ErrorCode::kInvalidArgument), "2 GPUs"));
}

TEST_CASE("without a choice the boot GPU is taken, else one that is awake, else the first") {
  auto gpus = gpus_of(roots_of("laptop"));
  CHECK(select_gpu(gpus, "")->card == "card1");  // card0 sleeps
  gpus[0].boot_vga = true;
  CHECK(select_gpu(gpus, "")->card == "card0");
  gpus[0].boot_vga = false;
  gpus[1].runtime_status = "suspending";
  CHECK(select_gpu(gpus, "")->card == "card0");
}

TEST_CASE("suspended and in transit is asleep, all else is not") {
  for (const char* status : {"suspended", "suspending", "resuming"}) {
    CHECK(is_asleep(status));
  }
  for (const char* status : {"active", "unsupported", "error", ""}) {
    CHECK_FALSE(is_asleep(status));
  }
}
