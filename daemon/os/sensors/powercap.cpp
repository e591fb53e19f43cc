#include "daemon/os/sensors/powercap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/processor.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

constexpr std::string_view kName = "powercap";
// The registers move once a ms, and a read may see what was counted shortly before its interval.
constexpr double kSlackSeconds = 0.1;
constexpr std::uint64_t kMaxMicrojoules = std::numeric_limits<std::uint64_t>::max() / 4;

struct Zone {
  std::filesystem::path file;  // energy_uj
  std::uint64_t range_uj = 0;  // it wraps above; 0 = not known
  UniqueFd fd;
  std::uint64_t last_uj = 0;
  std::int64_t last_ns = 0;
};

enum class Problem { kNone, kErrno, kNoNumber, kImpossible };

class PowercapReader final : public sampler::SensorReader {
 public:
  PowercapReader(std::string name, sampler::SensorDescription sensor, std::vector<Zone> zones,
                 std::function<std::int64_t()> now_ns)
      : name_(std::move(name)),
        sensor_(std::move(sensor)),
        zones_(std::move(zones)),
        now_ns_(std::move(now_ns)) {}

  /// Takes the readings from which everything is counted.
  bool begin() {
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      const auto energy_uj = read_zone(i);
      if (!energy_uj) {
        return false;
      }
      zones_[i].last_uj = *energy_uj;
      zones_[i].last_ns = now_ns_();
    }
    return true;
  }

  [[nodiscard]] int error_number() const noexcept { return error_; }
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return {&sensor_, 1};
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return false; }

  [[nodiscard]] sampler::SensorOutcome read(
      std::span<std::optional<double>> values) noexcept override {
    values[0].reset();
    problem_ = Problem::kNone;
    double joules = 0;
    bool is_possible = true;
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      const auto energy_uj = read_zone(i);
      if (!energy_uj) {
        return problem_ == Problem::kErrno ? sampler::SensorOutcome::kFailed
                                           : sampler::SensorOutcome::kRejected;
      }
      const std::optional<double> step = advance(zones_[i], *energy_uj);
      if (!step) {
        problem_ = Problem::kImpossible;
        failed_ = i;
        is_possible = false;
      }
      joules += step.value_or(0);
    }
    total_j_ += joules;
    if (!is_possible) {
      return sampler::SensorOutcome::kRejected;
    }
    values[0] = total_j_;
    return sampler::SensorOutcome::kRead;
  }

  [[nodiscard]] std::string last_error() const override {
    const std::string file = zones_[failed_].file.string();
    switch (problem_) {
      case Problem::kNone:
        return "";
      case Problem::kErrno:
        return error_from_errno(error_, "cannot read " + file).message;
      case Problem::kNoNumber:
        return file + " holds no number";
      case Problem::kImpossible:
        break;
    }
    return file +
           " moved by more than there can be since the last read: it began anew, or wrapped "
           "more than once";
  }

 private:
  std::optional<std::uint64_t> read_zone(std::size_t index) noexcept {
    std::array<char, 32> text{};
    ssize_t size = 0;
    do {
      size = ::pread(zones_[index].fd.get(), text.data(), text.size(), 0);
    } while (size < 0 && errno == EINTR);
    failed_ = index;
    if (size < 0) {
      problem_ = Problem::kErrno;
      error_ = errno;
      return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
    if (error != std::errc() || end == text.data() || value > kMaxMicrojoules) {
      problem_ = Problem::kNoNumber;
      return std::nullopt;
    }
    return value;
  }

  /// Joules since the last read of the zone; absent when they cannot be told.
  std::optional<double> advance(Zone& zone, std::uint64_t energy_uj) noexcept {
    const std::int64_t now = now_ns_();
    const double seconds = static_cast<double>(now - std::exchange(zone.last_ns, now)) * 1e-9;
    const std::uint64_t last = std::exchange(zone.last_uj, energy_uj);
    const double most_j = kMostPackageWatts * (seconds + kSlackSeconds);
    const double range_j = static_cast<double>(zone.range_uj) * 1e-6;
    if (zone.range_uj != 0 && kMostPackageWatts * seconds > range_j) {
      return std::nullopt;  // it may have wrapped more than once
    }
    if (energy_uj < last && zone.range_uj < last) {
      return std::nullopt;
    }
    const std::uint64_t moved =
        energy_uj >= last ? energy_uj - last : zone.range_uj - last + energy_uj;
    const double joules = static_cast<double>(moved) * 1e-6;
    return joules <= most_j ? std::optional(joules) : std::nullopt;
  }

  std::string name_;
  sampler::SensorDescription sensor_;
  std::vector<Zone> zones_;
  std::function<std::int64_t()> now_ns_;
  double total_j_ = 0;
  Problem problem_ = Problem::kNone;
  std::size_t failed_ = 0;
  int error_ = 0;
};

bool is_wanted(EnergyZone zone, std::string_view driver_name) {
  return zone == EnergyZone::kPackage ? driver_name.starts_with("package") : driver_name == "core";
}

/// Folders like intel-rapl:0 (packages) or intel-rapl:0:0 (their parts).
std::vector<std::filesystem::path> find_zones(EnergyZone zone, const SystemRoots& roots) {
  std::vector<std::filesystem::path> found;
  const std::filesystem::path folder = roots.sys / "class/powercap";
  for (const std::string& name : list_folder(folder)) {
    if (name.starts_with("intel-rapl:") &&
        is_wanted(zone, read_text(folder / name / "name").value_or(""))) {
      found.push_back(folder / name);
    }
  }
  return found;
}

}  // namespace

sampler::SensorDescription describe_energy(EnergyZone zone) {
  sampler::SensorDescription sensor;
  const bool is_package = zone == EnergyZone::kPackage;
  sensor.name = is_package ? "package_energy" : "core_energy";
  sensor.unit = "J";
  sensor.kind = sampler::SensorKind::kCounter;
  sensor.covers = is_package ? "CPU package, on an APU the GPU too" : "all CPU cores";
  return sensor;
}

std::string lost_without(EnergyZone zone) {
  return zone == EnergyZone::kPackage ? "energy of the CPU package" : "energy of the CPU's cores";
}

OpenedSensors open_powercap(EnergyZone zone, const SystemRoots& roots,
                            std::function<std::int64_t()> now_ns) {
  OpenedSensors opened;
  sampler::SensorDescription sensor = describe_energy(zone);
  const std::string name =
      fmt::format("{} {}", kName, zone == EnergyZone::kPackage ? "package" : "core");
  SourceFinding finding{name, SourceState::kAbsent, 0, "", "", lost_without(zone)};
  const auto finish = [&](SourceState state, std::string reason) {
    finding.state = state;
    finding.reason = std::move(reason);
    opened.findings.push_back(finding);
    return std::move(opened);
  };

  std::vector<Zone> zones;
  for (const std::filesystem::path& folder : find_zones(zone, roots)) {
    Zone found;
    found.file = folder / "energy_uj";
    found.range_uj = read_number(folder / "max_energy_range_uj", kMaxMicrojoules).value_or(0);
    found.fd.reset(::open(found.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!found.fd) {
      finding.error_number = errno;
      const bool refused = errno == EACCES || errno == EPERM;
      if (refused) {
        finding.fix = "start gputraced, or use sudo: the file is root's alone";
      }
      return finish(refused ? SourceState::kRefused : SourceState::kBroken,
                    error_from_errno(errno, "cannot open " + found.file.string()).message);
    }
    zones.push_back(std::move(found));
  }
  if (zones.empty()) {
    return finish(SourceState::kAbsent,
                  fmt::format("no zone for it in {} (the intel_rapl_msr driver makes them)",
                              (roots.sys / "class/powercap").string()));
  }
  sensor.source = fmt::format("{} energy_uj", name);
  const auto processor = read_processor(roots);
  if (zone == EnergyZone::kCore && processor && processor->vendor == "AuthenticAMD") {
    // MSR_AMD_CORE_ENERGY_STATUS is each core's own, and the driver reads it on one CPU of the
    // package (rapl_read_data_raw() of drivers/powercap/intel_rapl_common.c).
    sensor.covers = "one core of each CPU package";
  }
  auto reader = std::make_unique<PowercapReader>(name, std::move(sensor), std::move(zones),
                                                 std::move(now_ns));
  if (!reader->begin()) {
    finding.error_number = reader->error_number();
    return finish(SourceState::kBroken, reader->last_error());
  }
  opened.readers.push_back(std::move(reader));
  finding.loses.clear();
  return finish(SourceState::kWorks, "");
}

}  // namespace gputrace::os
