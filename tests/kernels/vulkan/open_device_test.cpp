#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

constexpr const char* kWithoutLoader = "GPUTRACE_TEST_WITHOUT_LOADER";

}  // namespace

TEST_CASE("a device opens by its index, its name and its PCI address") {
  const std::optional<Device> first = test::lavapipe_or_skip();
  if (!first) {
    return;
  }
  const std::vector<ListedDevice> listed = take(list_devices());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Device by_index = take(Device::open(std::to_string(i), true));
    CHECK(by_index.facts().listed.name == listed[i].name);
    if (listed[i].pci) {
      CHECK(take(Device::open(*listed[i].pci, true)).facts().listed.pci == listed[i].pci);
    }
  }
  const std::string& name = first->facts().listed.name;
  CHECK(take(Device::open(name, true)).facts().listed.name == name);
  const auto unknown = Device::open("no such device", true);
  REQUIRE(!unknown);
  CHECK(unknown.error().code == ErrorCode::kNotFound);
  CHECK(unknown.error().message.find(name) != std::string::npos);
}

TEST_CASE("the facts of an open device make sense") {
  const std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const DeviceFacts& facts = device->facts();
  CHECK(!facts.is_null_device);
  CHECK(facts.is_cpu == (facts.listed.type == "CPU"));
  CHECK(facts.subgroup_size >= 1);
  CHECK(facts.max_groups_x >= 65'535);  // the least that Vulkan allows, as the rest
  CHECK(facts.max_group_threads >= 128);
  CHECK(facts.max_shared_bytes >= 16'384);
  CHECK(facts.max_storage_range >= (std::uint64_t{1} << 27U));
  CHECK(facts.max_image_side >= 4096);
  CHECK(facts.memory_bytes > 0);
  for (const std::uint32_t size : facts.subgroup_sizes) {
    CHECK((size & (size - 1)) == 0);
  }
}

TEST_CASE("what the validation layer finds makes the call fail") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  if (!device->facts().is_validated) {
    MESSAGE("skipped: VK_LAYER_KHRONOS_validation is not installed");
    return;
  }
  // More threads a group than any device has.
  const auto pipeline = device->create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {1U << 20U}});
  REQUIRE(!pipeline);
  CHECK(pipeline.error().message.find("the Vulkan validation layer says: ") == 0);
  CHECK(pipeline.error().message.find("VUID-") != std::string::npos);
  // It is told once.
  CHECK(device->create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}}));
}

TEST_CASE("without the Vulkan loader no device opens, and the reason is told") {
  if (std::getenv(kWithoutLoader) != nullptr) {
    const auto device = Device::open("", false);
    REQUIRE(!device);
    CHECK(device.error().code == ErrorCode::kNotFound);
    CHECK(device.error().message.find("the Vulkan loader (libvulkan.so.1) is not installed") !=
          std::string::npos);
    return;
  }
  // This very program again, since the folders of libraries are read when a program starts; the
  // first one has files of the loader's names that are no libraries.
  const test::TempDir folder;
  for (const char* name : {"libvulkan.so.1", "libvulkan.so"}) {
    std::ofstream(folder.path() / name) << "not a library\n";
  }
  test::Program again(
      {"/proc/self/exe", "--test-case=without the Vulkan loader*"},
      {.environment = {{kWithoutLoader, "1"}, {"LD_LIBRARY_PATH", folder.path().string()}},
       .before_exec = nullptr,
       .start_folder = {}});
  const test::Finished finished = again.finish();
  CHECK_MESSAGE(finished.status() == 0, finished.out);
  CHECK(finished.out.find("1 passed") != std::string::npos);
}

}  // namespace gputrace::vulkan
