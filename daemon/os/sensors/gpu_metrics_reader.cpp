#include "daemon/os/sensors/gpu_metrics_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/file_reader.h"
#include "regdb/gpu_metrics.h"

namespace gputrace::os {
namespace {

using regdb::CheckedMetrics;
using regdb::MetricsFault;
using regdb::MetricsField;
using sampler::SensorKind;
using sampler::SensorOutcome;

constexpr const char* kProvidesNothing = ": a table in which the driver provides nothing";

/// The file as one pread gives it: a second read of the same open would go on behind the table, and
/// Van Gogh's firmware answers a rewind with zeros.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// errno; 0 = bytes() has what there is.
  int read() noexcept {
    const ssize_t got = read_whole(file_, path_, buffer_);
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got < 0 ? errno : 0;
  }
  void close() noexcept { file_.reset(); }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::span(buffer_).first(size_);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd file_;
  /// Larger than any table, so that one that grew is seen as what it is.
  std::array<std::byte, 2 * regdb::kMaxMetricsSize> buffer_{};
  std::size_t size_ = 0;
};

/// One element of a field, or one half of a 64-bit field of bits.
struct Series {
  const MetricsField* field = nullptr;
  std::size_t element = 0;
  SensorKind kind = SensorKind::kGauge;
  unsigned shift = 0;  ///< of bits
  std::uint64_t last_raw = 0;
  double total = 0;  ///< of counters, in raw steps
};

/// Steps since the last read. 32-bit counters wrap (1.0: each 65 kJ); one that steps back began
/// anew.
std::uint64_t steps_between(std::uint64_t last, std::uint64_t now, std::size_t width) noexcept {
  if (width >= 8) {
    return now >= last ? now - last : 0;
  }
  const std::uint64_t range = std::uint64_t{1} << (8 * width);
  const std::uint64_t steps = (now + range - last) % range;
  return steps < range / 2 ? steps : 0;
}

SensorKind kind_of(const MetricsField& field) {
  if (field.value_unit == "bits") {
    return SensorKind::kBits;
  }
  return field.value_unit == "J" || field.value_unit == "count" ? SensorKind::kCounter
                                                                : SensorKind::kGauge;
}

std::string covers_of(std::uint8_t format, std::string_view sensor) {
  if (format == 1) {
    return {};
  }
  constexpr std::array<std::string_view, 4> kTogether{"package_power", "apu_power",
                                                      "dram_read_rate", "dram_write_rate"};
  if (std::find(kTogether.begin(), kTogether.end(), sensor) != kTogether.end()) {
    return "CPU and GPU together";
  }
  if (sensor.starts_with("core_") || sensor.starts_with("cpu_") || sensor.starts_with("l3_")) {
    return "CPU";
  }
  if (sensor == "skin_temperature") {
    return "the whole machine";
  }
  return sensor == "dgpu_power" ? "the other GPU" : sensor == "npu_power" ? "NPU" : std::string();
}

class GpuMetricsReader final : public sampler::SensorReader {
 public:
  GpuMetricsReader(MetricsFile file, const std::optional<regdb::GcVersion>& gc)
      : file_(std::move(file)), gc_(gc) {}

  /// The file has been read: its table is whole. It decides the series; false when it has none.
  [[nodiscard]] bool begin(const regdb::MetricsLayout& layout) {
    units_ = regdb::decide_metrics_units(file_.bytes(), layout, gc_);
    for (const MetricsField& field : layout.fields) {
      if (!field.sensor.empty() && regdb::why_unrecorded(layout, field, gc_).empty()) {
        add_series_of(layout, field);
      }
    }
    layout_ = series_.empty() ? nullptr : &layout;
    return layout_ != nullptr;
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "gpu_metrics"; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return sensors_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return true; }

  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    std::fill(values.begin(), values.end(), std::nullopt);
    error_number_ = file_.read();
    if (error_number_ != 0) {
      return SensorOutcome::kFailed;
    }
    checked_ = regdb::check_metrics(file_.bytes(), layout_ != nullptr ? &units_ : nullptr);
    if (checked_.fault != MetricsFault::kNone) {
      return SensorOutcome::kRejected;
    }
    if (layout_ == nullptr ? !begin(*checked_.layout) : checked_.layout != layout_) {
      return SensorOutcome::kRejected;
    }
    for (std::size_t i = 0; i < std::min(values.size(), series_.size()); ++i) {
      values[i] = value_of(series_[i]);
    }
    return SensorOutcome::kRead;
  }
  void release() noexcept override { file_.close(); }

  [[nodiscard]] std::string last_error() const override {
    if (error_number_ != 0) {
      return error_from_errno(error_number_, "cannot read " + file_.path().string()).message;
    }
    if (checked_.fault != MetricsFault::kNone) {
      return file_.path().string() + ": " + regdb::explain_metrics_fault(checked_, file_.bytes());
    }
    if (layout_ == nullptr) {
      return checked_.layout == nullptr ? std::string() : file_.path().string() + kProvidesNothing;
    }
    return checked_.layout == layout_
               ? std::string()
               : file_.path().string() + ": the table's revision has changed";
  }

  [[nodiscard]] sampler::SensorEvidence evidence(std::size_t sensor) const override {
    const Series& series = series_.at(sensor);
    const auto raw = regdb::raw_metric(file_.bytes(), *series.field, series.element);
    sampler::SensorEvidence evidence{.raw = raw ? std::to_string(*raw) : std::string(),
                                     .absent = last_error()};
    if (evidence.absent.empty()) {
      evidence.absent = regdb::to_string(
          regdb::decode_metric(file_.bytes(), *series.field, series.element, units_).absence);
    }
    return evidence;
  }

 private:
  void add_series_of(const regdb::MetricsLayout& layout, const MetricsField& field) {
    for (std::size_t element = 0; element < field.count; ++element) {
      if (!regdb::is_provided(file_.bytes(), field, element, units_)) {
        continue;
      }
      const std::string name =
          field.sensor + (field.count > 1 ? "_" + std::to_string(element) : "");
      const std::uint64_t raw = regdb::raw_metric(file_.bytes(), field, element).value_or(0);
      Series series{.field = &field, .element = element, .kind = kind_of(field), .last_raw = raw};
      if (series.kind == SensorKind::kBits && field.width > 4) {
        add(layout, series, name + "_low");
        series.shift = 32;
        add(layout, series, name + "_high");
      } else {
        add(layout, series, name);
      }
    }
  }

  void add(const regdb::MetricsLayout& layout, const Series& series, std::string name) {
    const MetricsField& field = *series.field;
    const regdb::MetricsScale* scale = regdb::doubtful_unit(field, units_);
    series_.push_back(series);
    sensors_.push_back(
        {.name = std::move(name),
         .source = "gpu_metrics " + field.name +
                   (field.count > 1 ? "[" + std::to_string(series.element) + "]" : ""),
         .label = {},
         .unit = regdb::metric_unit(field, units_),
         .kind = series.kind,
         .covers = covers_of(layout.format, field.sensor),
         .decision = scale != nullptr ? scale->decision : std::string()});
  }

  std::optional<double> value_of(Series& series) const noexcept {
    const auto bytes = file_.bytes();
    if (series.kind == SensorKind::kGauge) {
      return regdb::decode_metric(bytes, *series.field, series.element, units_).value;
    }
    const auto raw = regdb::raw_metric(bytes, *series.field, series.element);
    if (!raw) {
      return std::nullopt;
    }
    if (series.kind == SensorKind::kBits) {
      return static_cast<double>((*raw >> series.shift) & 0xffffffffU);
    }
    series.total += static_cast<double>(steps_between(series.last_raw, *raw, series.field->width));
    series.last_raw = *raw;
    return series.total * series.field->scale;
  }

  MetricsFile file_;
  std::optional<regdb::GcVersion> gc_;
  const regdb::MetricsLayout* layout_ = nullptr;  ///< from the first whole table on
  regdb::MetricsUnits units_;
  std::vector<Series> series_;
  std::vector<sampler::SensorDescription> sensors_;
  int error_number_ = 0;
  CheckedMetrics checked_;
};

SourceFinding finding_of_errno(int error_number, const std::filesystem::path& path) {
  SourceFinding finding{.source = "gpu_metrics",
                        .state = SourceState::kBroken,
                        .error_number = error_number,
                        .reason = error_from_errno(error_number, path.string()).message,
                        .fix = {},
                        .loses = {}};
  switch (error_number) {
    case ENOENT:
      finding.state = SourceState::kAbsent;
      finding.reason += "; amdgpu offers it from GC 9.1 on";
      break;
    case EOPNOTSUPP:
    case EINVAL:
    case ENODATA:
      finding.state = SourceState::kAbsent;
      finding.reason += "; the driver has no table for this chip";
      break;
    case EACCES:
      finding.state = SourceState::kRefused;
      finding.fix = "let the user read the file (amdgpu makes it readable by all)";
      break;
    case EPERM:
      finding.state = SourceState::kAsleep;
      finding.reason += "; the driver answers so while the GPU sleeps or is being reset";
      break;
    default:
      break;
  }
  return finding;
}

SourceFinding finding_of_fault(const CheckedMetrics& checked, const MetricsFile& file) {
  SourceFinding finding{
      .source = "gpu_metrics",
      .state = checked.fault == MetricsFault::kEmpty ? SourceState::kAbsent : SourceState::kBroken,
      .error_number = 0,
      .reason = file.path().string() + ": " + regdb::explain_metrics_fault(checked, file.bytes()),
      .fix = {},
      .loses = {}};
  if (checked.fault == MetricsFault::kUnknownRevision) {
    finding.fix = "a newer gputrace may know this revision";
  }
  return finding;
}

/// A reset, firmware that is busy, a lost message: the same file may answer a second later.
bool may_pass(int error_number) {
  constexpr std::array<int, 5> kPassing{EPERM, EBUSY, EAGAIN, ETIMEDOUT, EIO};
  return std::find(kPassing.begin(), kPassing.end(), error_number) != kPassing.end();
}

}  // namespace

std::unique_ptr<sampler::SensorReader> gpu_metrics_reader_for_later(
    const std::filesystem::path& device_dir, const std::optional<regdb::GcVersion>& gc) {
  return std::make_unique<GpuMetricsReader>(MetricsFile(device_dir / "gpu_metrics"), gc);
}

OpenedGpuMetrics open_gpu_metrics_reader(const std::filesystem::path& device_dir,
                                         const std::optional<regdb::GcVersion>& gc) {
  OpenedGpuMetrics opened;
  MetricsFile file(device_dir / "gpu_metrics");
  CheckedMetrics checked;
  // A torn table is whole at the next read; what stays wrong is wrong.
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (const int error_number = file.read(); error_number != 0) {
      opened.finding = finding_of_errno(error_number, file.path());
      if (may_pass(error_number)) {
        opened.reader = gpu_metrics_reader_for_later(device_dir, gc);
      }
      break;
    }
    checked = regdb::check_metrics(file.bytes(), nullptr);
    if (checked.fault == MetricsFault::kNone) {
      opened.is_apu = checked.layout->format >= 2;
      const std::string path = file.path().string();
      auto reader = std::make_unique<GpuMetricsReader>(std::move(file), gc);
      const bool has_series = reader->begin(*checked.layout);
      opened.reader = std::move(reader);
      opened.finding = {.source = "gpu_metrics",
                        .state = SourceState::kWorks,
                        .error_number = 0,
                        .reason = "revision " + std::to_string(checked.layout->format) + "." +
                                  std::to_string(checked.layout->content) + ", " +
                                  std::to_string(opened.reader->sensors().size()) + " series",
                        .fix = {},
                        .loses = {}};
      if (!has_series) {
        opened.reader.reset();
        opened.finding.state = SourceState::kBroken;
        opened.finding.reason = path + kProvidesNothing;
      }
      break;
    }
    opened.finding = finding_of_fault(checked, file);
  }
  if (opened.finding.state != SourceState::kWorks) {
    opened.finding.loses = kGpuMetricsLoss;
  }
  return opened;
}

}  // namespace gputrace::os
