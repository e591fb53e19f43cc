// What is opened of a GPU that sleeps: watched with inotify, which sees every open of a file.
#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "tests/daemon/os/sensors/sensor_tree.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

/// Names of the files that were opened in a folder or below it, since it was made or last asked.
class OpenWatch {
 public:
  explicit OpenWatch(const std::filesystem::path& folder)
      : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(fd_);
    watch(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_directory()) {
        watch(entry.path());
      }
    }
    static_cast<void>(opened());  // by this walk
  }

  [[nodiscard]] std::vector<std::string> opened() {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = ::read(fd_.get(), buffer.data(), buffer.size())) > 0) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        if ((event.mask & IN_ISDIR) == 0 && event.len > 0) {
          names.emplace_back(buffer.data() + at + sizeof event);
        }
        at += sizeof event + event.len;
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  void watch(const std::filesystem::path& folder) const {
    REQUIRE(::inotify_add_watch(fd_.get(), folder.c_str(), IN_OPEN) >= 0);
  }
  UniqueFd fd_;
};

void fill(const SensorTree& tree) {
  tree.write("gpu_metrics", std::string(120, '\xff'));
  tree.write("gpu_busy_percent", "3\n");
  tree.write("mem_info_vram_used", "514580480\n");
  tree.write("pp_dpm_sclk", "0: 600Mhz *\n");
  tree.hwmon("power1_average", "49000000\n");
  tree.hwmon("power1_label", "PPT\n");
  tree.hwmon("temp2_input", "52000\n");
  tree.hwmon("temp2_label", "junction\n");
  tree.hwmon("pwm1", "255\n");
  tree.hwmon("pwm1_max", "255\n");
}

}  // namespace

TEST_CASE("of a sleeping GPU only its state and the hwmon core's name are read") {
  for (const char* status : {"suspended\n", "suspending\n", "resuming\n"}) {
    const SensorTree tree;
    fill(tree);
    tree.write("power/runtime_status", status);
    OpenWatch watch(tree.path());
    const OpenedSensors opened = tree.open();
    CHECK(watch.opened() == std::vector<std::string>{"name", "runtime_status"});

    CHECK(opened.readers.size() == 7);
    for (const char* source :
         {"gpu_metrics", "hwmon amdgpu power1_average", "hwmon amdgpu temp2_input",
          "hwmon amdgpu pwm1", "gpu_busy_percent", "mem_info_vram_used", "pp_dpm_sclk"}) {
      const SourceFinding finding = finding_of(opened, source);
      CHECK_MESSAGE(finding.state == SourceState::kAsleep, source);
      CHECK(has_text(finding.reason, "sleeps"));
    }
    CHECK(finding_of(opened, "hwmon amdgpu fan1_input").state == SourceState::kAbsent);
  }
}

TEST_CASE("the watch would see a file that is read") {
  const SensorTree tree;
  fill(tree);
  OpenWatch watch(tree.path());
  const OpenedSensors opened = tree.open();
  const std::vector<std::string> names = watch.opened();
  for (const char* file : {"gpu_metrics", "power1_average", "power1_label", "pp_dpm_sclk"}) {
    CHECK_MESSAGE(std::find(names.begin(), names.end(), file) != names.end(), file);
  }
  CHECK(finding_of(opened, "hwmon amdgpu power1_average").state == SourceState::kWorks);
}

TEST_CASE("sensors found while the GPU slept are read once it is awake, under the same names") {
  const SensorTree tree;
  fill(tree);
  tree.write("power/runtime_status", "suspended\n");
  const OpenedSensors opened = tree.open();
  tree.write("power/runtime_status", "active\n");
  CHECK(read_value(opened, "hwmon power1_average") == 49);
  CHECK(read_value(opened, "hwmon temp2_input") == doctest::Approx(52));
  CHECK(read_value(opened, "hwmon pwm1") == doctest::Approx(100));
  CHECK(read_value(opened, "gpu_busy_percent") == 3);

  const OpenedSensors awake = tree.open();
  for (const char* source : {"hwmon power1_average", "hwmon temp2_input", "gpu_busy_percent"}) {
    const sampler::SensorDescription& then = reader_of(opened, source).sensors()[0];
    const sampler::SensorDescription& now = reader_of(awake, source).sensors()[0];
    CHECK(then.name == now.name);
    CHECK(then.label == now.label);
    CHECK(then.unit == now.unit);
  }
}

TEST_CASE("a released reader holds no file of the device open") {
  const SensorTree tree;
  fill(tree);
  const OpenedSensors opened = tree.open();
  const auto files_open = [&tree] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto target = std::filesystem::read_symlink(entry.path(), gone);
      count += target.string().starts_with(tree.path().string()) ? 1U : 0U;
    }
    return count;
  };
  CHECK(files_open() == 0);
  sampler::SensorReader& reader = reader_of(opened, "gpu_busy_percent");
  CHECK(read_value(reader) == 3);
  CHECK(files_open() == 1);
  reader.release();
  CHECK(files_open() == 0);
}
