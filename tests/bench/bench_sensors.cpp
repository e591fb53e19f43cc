// CPU time of the slow loop at 10 Hz with all sources of a GPU and its machine, and of a peer in
// the same run: what radeontop-like monitors do, open, read and close of the same files at each
// tick. Run inside with_gpu.sh (SIMULATED): the files are served through FUSE, by another process
// whose time is not counted.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/sensors.h"
#include "daemon/sampler/sensor_loop.h"

namespace gputrace::bench {
namespace {

constexpr double kRateHz = 10;
constexpr double kTarget = 0.003;  // of a core

class Counting final : public sampler::SensorSink {
 public:
  void take(std::vector<sampler::SensorReading> readings,
            std::vector<sampler::SensorNotice> notices,
            std::span<const sampler::SensorSourceState> /*states*/) override {
    const std::scoped_lock lock(mutex_);
    readings_ += readings.size();
    for (const sampler::SensorNotice& notice : notices) {
      fmt::print("  {}: {}\n", notice.kind, notice.text);
    }
  }
  [[nodiscard]] std::size_t readings() {
    const std::scoped_lock lock(mutex_);
    return readings_;
  }

 private:
  std::mutex mutex_;
  std::size_t readings_ = 0;
};

/// What this process has open under /sys: the files that the sources keep.
std::set<std::filesystem::path> open_sysfs_files() {
  std::set<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::filesystem::path target = std::filesystem::read_symlink(fd, ignored);
    if (target.string().starts_with("/sys/") && std::filesystem::is_regular_file(target, ignored)) {
      files.insert(target);
    }
  }
  return files;
}

void read_all_anew(const std::set<std::filesystem::path>& files) {
  std::array<char, 4096> bytes{};
  for (const std::filesystem::path& file : files) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::read(fd.get(), bytes.data(), bytes.size()) < 0) {
      fmt::print("  cannot read {}\n", file.string());
    }
  }
}

/// Share of a core.
double measure(double seconds, const std::function<void(std::int64_t until_ns)>& work) {
  const std::int64_t cpu_ns = process_cpu_time_ns();
  const std::int64_t start_ns = monotonic_now_ns();
  work(start_ns + static_cast<std::int64_t>(seconds * 1e9));
  return static_cast<double>(process_cpu_time_ns() - cpu_ns) /
         static_cast<double>(monotonic_now_ns() - start_ns);
}

int run(double seconds) {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus({});
  if (!gpus || gpus->empty()) {
    fmt::print("left out: no GPU; run this through tests/rig/with_gpu.sh\n");
    return 0;
  }
  const os::GpuDevice& gpu = gpus->front();
  os::OpenedSensors sensors = os::open_gpu_sensors(gpu, gpu.identity.gc);
  os::OpenedSensors machine = os::open_machine_sensors({});
  for (auto& reader : machine.readers) {
    sensors.readers.push_back(std::move(reader));
  }
  const std::size_t sources = sensors.readers.size();
  Counting sink;
  MonotonicClock clock;
  std::set<std::filesystem::path> files;
  const double share = measure(seconds, [&](std::int64_t until_ns) {
    sampler::SensorLoopOptions options;
    options.rate_hz = kRateHz;
    const sampler::SensorLoop loop(std::move(sensors.readers), std::move(options), sink);
    clock.sleep_until(until_ns);
    files = open_sysfs_files();
  });
  const double peer = measure(seconds, [&](std::int64_t until_ns) {
    const std::int64_t start_ns = monotonic_now_ns();
    for (int tick = 1; monotonic_now_ns() < until_ns; ++tick) {
      read_all_anew(files);
      clock.sleep_until(start_ns + static_cast<std::int64_t>(tick * 1e9 / kRateHz));
    }
  });
  fmt::print(
      "slow loop, {:.0f} Hz, {} sources, {} readings: {:.3f} % of a core (target {:.1f} %)\n",
      kRateHz, sources, sink.readings(), share * 100, kTarget * 100);
  fmt::print("open, read, close of its {} files at each tick: {:.3f} %\n", files.size(),
             peer * 100);
  return 0;
}

}  // namespace
}  // namespace gputrace::bench

int main(int argc, char** argv) {
  try {
    return gputrace::bench::run(argc > 1 ? std::atof(argv[1]) : 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_sensors: %s\n", error.what());
    return 1;
  }
}
