// PMU folders in a folder of the test's own, and counters that read what the test says.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/perf_event.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

class FakePmus {
 public:
  [[nodiscard]] os::SystemRoots roots() const {
    return {dir_.path() / "sys", dir_.path() / "dev", dir_.path() / "proc", dir_.path() / "ids"};
  }

  [[nodiscard]] const std::filesystem::path& path() const { return dir_.path(); }

  void write(const std::filesystem::path& file, const std::string& text) const {
    const std::filesystem::path path = dir_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  /// `files`: below the PMU's folder.
  void add(const std::string& name, unsigned type, const std::string& cpus,
           const std::vector<std::pair<std::string, std::string>>& files) const {
    const std::filesystem::path folder = "sys/bus/event_source/devices/" + name;
    write(folder / "type", std::to_string(type) + "\n");
    write(folder / "cpumask", cpus + "\n");
    for (const auto& [file, text] : files) {
      write(folder / file, text + "\n");
    }
  }

  void add_umc(unsigned number, unsigned type) const {
    add("amd_umc_" + std::to_string(number), type, "0",
        {{"format/event", "config:0-7"}, {"format/rdwrmask", "config:8-9"}});
  }

  void set_processor(const std::string& vendor, unsigned family, unsigned model) const {
    write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " +
                              std::to_string(family) + "\nmodel\t\t: " + std::to_string(model) +
                              "\nmodel name\t: Some processor\nstepping\t: 1\n\nprocessor\t: 1\n");
  }

  /// What the next opens answer instead of a counter.
  void refuse(int error_number) { refused_ = error_number; }
  void refuse_on_cpu(int cpu, int error_number) { refused_cpus_[cpu] = error_number; }

  /// What the next read of every open counter gives, and the first one of those opened later.
  void push_all(const os::PerfCount& count) {
    for (auto& [key, end] : open_) {
      send(end.get(), count);
    }
    first_ = count;
  }
  /// To one open counter.
  void push_open(const os::PerfEvent& event, int cpu, const os::PerfCount& count) {
    send(open_.at({event.type, event.config, cpu}).get(), count);
  }
  /// As when the CPU goes offline: reads of all counters give nothing.
  void take_offline() { open_.clear(); }

  [[nodiscard]] os::PerfEventOpen opener() {
    return [this](const os::PerfEvent& event, int cpu) { return open(event, cpu); };
  }
  [[nodiscard]] const std::vector<std::pair<os::PerfEvent, int>>& opened() const { return opened_; }

 private:
  struct Key {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    int cpu = 0;
    auto operator<=>(const Key&) const = default;
  };

  static void send(int fd, const os::PerfCount& count) {
    GPUTRACE_CHECK(::write(fd, &count, sizeof(count)) == sizeof(count));
  }

  int open(const os::PerfEvent& event, int cpu) {
    if (refused_ != 0) {
      return -refused_;
    }
    if (const auto refused = refused_cpus_.find(cpu); refused != refused_cpus_.end()) {
      return -refused->second;
    }
    std::array<int, 2> ends{};
    GPUTRACE_CHECK(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    send(ends[1], first_);
    open_[{event.type, event.config, cpu}].reset(ends[1]);
    opened_.emplace_back(event, cpu);
    return ends[0];
  }

  TempDir dir_;
  int refused_ = 0;
  std::map<int, int> refused_cpus_;
  os::PerfCount first_;
  std::map<Key, UniqueFd> open_;
  std::vector<std::pair<os::PerfEvent, int>> opened_;
};

}  // namespace gputrace::test
