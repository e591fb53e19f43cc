#include "cli/commands/decode/decode_sysfs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/value_format.h"
#include "daemon/os/sysfs.h"
#include "regdb/gpu_metrics.h"

namespace gputrace::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t kAmd = 0x1002;

/// Files that some GPU of amdgpu has, each in its device folder.
bool looks_like_device(const fs::path& folder) {
  constexpr std::array<const char*, 4> kSigns{"hwmon", "gpu_metrics", "gpu_busy_percent", "uevent"};
  std::error_code ignored;
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](const char* name) { return fs::exists(folder / name, ignored); });
}

/// The device folder that is meant, and the card's name where the path tells it.
Result<std::pair<fs::path, std::string>> find_device(const std::string& stated) {
  const fs::path folder(stated);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return error ? Result<std::pair<fs::path, std::string>>(
                       fail_errno(error.value(), "cannot look at " + stated))
                 : fail(ErrorCode::kNotFound, stated + " is no folder");
  }
  const auto card_of = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return os::number_after(name, "card") ? name : std::string();
  };
  // A trailing slash leaves an empty file name.
  const fs::path named = folder.filename().empty() ? folder.parent_path() : folder;
  if (fs::is_directory(folder / "device", error)) {
    return std::pair(folder / "device", card_of(named));
  }
  std::vector<std::string> cards;
  for (const std::string& name : os::list_folder(folder)) {
    if (os::number_after(name, "card") && fs::is_directory(folder / name / "device", error)) {
      cards.push_back(name);
    }
  }
  if (cards.size() == 1) {
    return std::pair(folder / cards.front() / "device", cards.front());
  }
  if (cards.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} holds {} GPUs; state one of {}", stated, cards.size(),
                            fmt::join(cards, ", ")));
  }
  if (looks_like_device(folder)) {
    return std::pair(folder,
                     named.filename() == "device" ? card_of(named.parent_path()) : std::string());
  }
  return fail(ErrorCode::kNotFound,
              stated +
                  " is no device folder of amdgpu, no cardN folder, and holds none: neither "
                  "hwmon, gpu_metrics, gpu_busy_percent nor uevent is there");
}

/// Paths of findings begin with the device folder, which has been said once.
std::string without_folder(std::string text, const fs::path& device_dir) {
  const std::string prefix = device_dir.string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  const std::string folder = device_dir.string();
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.replace(at, folder.size(), "the device folder");
  }
  return text;
}

/// The text of the file that a finding speaks of: a reason is its path, or begins with it and ": ".
std::string text_of(const os::SourceFinding& finding, const fs::path& device_dir) {
  const std::string path = finding.reason.substr(0, finding.reason.find(": "));
  return path.starts_with(device_dir.string() + "/")
             ? std::string(os::clean_text(os::read_text(path).value_or("")))
             : std::string();
}

/// "gpu_metrics temperature_core[3]": the number in the table that was read.
class MetricsTable {
 public:
  explicit MetricsTable(const fs::path& device_dir) {
    const UniqueFd fd(::open((device_dir / "gpu_metrics").c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = fd ? ::pread(fd.get(), bytes_.data(), bytes_.size(), 0) : 0;
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    layout_ = regdb::check_metrics(bytes(), nullptr).layout;
  }

  [[nodiscard]] std::string raw_of(std::string_view source) const {
    std::string_view name = source.substr(std::min(source.find(' ') + 1, source.size()));
    std::size_t element = 0;
    if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
      std::from_chars(name.data() + bracket + 1, name.data() + name.size(), element);
      name = name.substr(0, bracket);
    }
    const regdb::MetricsField* field = layout_ != nullptr ? layout_->find(name) : nullptr;
    const auto raw = field != nullptr ? regdb::raw_metric(bytes(), *field, element) : std::nullopt;
    return raw ? std::to_string(*raw) : std::string();
  }

 private:
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

  std::array<std::byte, regdb::kMaxMetricsSize> bytes_{};
  std::size_t size_ = 0;
  const regdb::MetricsLayout* layout_ = nullptr;
};

void append_series(sampler::SensorReader& reader, const std::string& file_text,
                   const MetricsTable& metrics, DecodedFolder& decoded) {
  const auto sensors = reader.sensors();
  std::vector<std::optional<double>> values(sensors.size());
  const sampler::SensorOutcome outcome = reader.read(values);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    DecodedSeries series;
    series.description = sensors[i];
    series.raw = reader.name() == "gpu_metrics" ? metrics.raw_of(sensors[i].source) : file_text;
    const bool is_counter = sensors[i].kind == sampler::SensorKind::kCounter;
    if (outcome == sampler::SensorOutcome::kRead && is_counter) {
      series.absent = "a counter: only its growth between two reads says something";
    } else if (outcome == sampler::SensorOutcome::kRead && values[i]) {
      series.value = values[i];
    } else {
      const std::string why = without_folder(reader.last_error(), decoded.gpu.device_dir);
      series.absent = why.empty() ? "out of range, or zero where zero cannot be" : why;
    }
    decoded.series.push_back(std::move(series));
  }
}

}  // namespace

Result<DecodedFolder> decode_device_folder(const std::string& folder,
                                           const std::optional<regdb::GcVersion>& gc,
                                           const os::SystemRoots& roots) {
  const auto device = find_device(folder);
  if (!device) {
    return tl::unexpected(device.error());
  }
  const auto& [device_dir, card] = *device;
  DecodedFolder decoded;
  decoded.folder = folder;
  decoded.gpu = os::read_device_folder(roots, device_dir);
  decoded.gpu.card = card;
  const auto& identity = decoded.gpu.identity;
  if (identity.vendor_id && *identity.vendor_id != kAmd) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is a device of vendor 0x{:04x}, not AMD (0x1002)", folder,
                            *identity.vendor_id));
  }
  decoded.gc_source = gc ? "--gc" : identity.gc ? "ip_discovery" : "";
  if (gc) {
    decoded.gpu.identity.gc = gc;
  }
  const os::OpenedSensors opened = os::open_gpu_sensors(decoded.gpu, decoded.gpu.identity.gc);
  std::map<std::string, std::string> texts;  // by name of the source
  for (const os::SourceFinding& finding : opened.findings) {
    decoded.findings.push_back(finding);
    os::SourceFinding& shown = decoded.findings.back();
    texts[finding.source] = text_of(finding, device_dir);
    shown.reason = without_folder(finding.reason, device_dir);
  }
  const MetricsTable metrics(device_dir);
  for (const auto& reader : opened.readers) {
    append_series(*reader, texts[std::string(reader->name())], metrics, decoded);
  }
  return decoded;
}

}  // namespace gputrace::commands
