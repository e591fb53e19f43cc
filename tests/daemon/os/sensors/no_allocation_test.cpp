// Reading a sensor allocates nothing: the slow loop shares the machine with what is measured.
#include <doctest/doctest.h>

#include <optional>

#include "daemon/os/sensors/device_files.h"
#include "daemon/os/sensors/file_reader.h"
#include "daemon/os/sensors/hwmon_files.h"
#include "tests/daemon/os/sensors/sensor_tree.h"
#include "tests/support/counted_allocations.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

TEST_CASE("reading sensor files allocates nothing, whether they are open, absent or nonsense") {
  const SensorTree tree;
  tree.hwmon("power1_average", "3103000\n");
  tree.hwmon("temp1_input", "41000\n");
  tree.write("gpu_busy_percent", "655\n");
  tree.write("pp_dpm_sclk", "0: 600Mhz \n1: 848Mhz *\n2: 2900Mhz \n");
  tree.write("pp_dpm_pcie", "0: 2.5GT/s, x8 \n1: 8.0GT/s, x16 *\n");
  std::vector<SensorFile> files = amdgpu_device_files(tree.path());
  for (SensorFile& file : amdgpu_hwmon_files(tree.path() / "hwmon/hwmon3", {})) {
    files.push_back(file);
  }
  REQUIRE(files.size() == 5);
  files.push_back(files.back());
  files.back().path = tree.path() / "none";
  for (const SensorFile& file : files) {
    FileReader reader(file);
    std::optional<double> value;
    const std::uint64_t before = allocation_count();
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(reader.read({&value, 1}));
      reader.release();
    }
    const std::uint64_t after = allocation_count();  // doctest allocates too
    CHECK_MESSAGE(after == before, file.path.string());
  }
}
