#include "cli/commands/decode/decode_sysfs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "daemon/os/sysfs.h"

namespace gputrace::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t kAmd = 0x1002;

/// A device folder, and the card's name where the path tells it.
struct Device {
  fs::path folder;
  std::string card;
};

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Files that some GPU of amdgpu has, each in its device folder.
bool looks_like_device(const fs::path& folder) {
  constexpr std::array<const char*, 4> kSigns{"hwmon", "gpu_metrics", "gpu_busy_percent", "uevent"};
  std::error_code ignored;
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](const char* name) { return fs::exists(folder / name, ignored); });
}

std::string card_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return os::number_after(name, "card") ? name : std::string();
}

/// Absolute, so that texts can be searched for it; with a name at the end.
fs::path folder_of(const std::string& stated) {
  std::error_code ignored;
  fs::path folder = fs::absolute(stated, ignored);
  while (folder.has_relative_path() && (folder.filename().empty() || folder.filename() == ".")) {
    folder = folder.parent_path();
  }
  return folder;
}

/// The cards in a copy of /sys, of what it lies in, or of its class/drm.
std::vector<Device> find_cards(const fs::path& folder) {
  std::vector<Device> cards;
  for (const char* parent : {"", "class/drm", "sys/class/drm"}) {
    for (const std::string& name : os::list_folder(folder / parent)) {
      const fs::path device = folder / parent / name / "device";
      if (os::number_after(name, "card") && is_folder(device)) {
        cards.push_back({device, name});
      }
    }
  }
  return cards;
}

Result<Device> find_device(const std::string& stated) {
  const fs::path folder = folder_of(stated);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return error ? Result<Device>(fail_errno(error.value(), "cannot look at " + stated))
                 : fail(ErrorCode::kNotFound, stated + " is no folder");
  }
  if (is_folder(folder / "device")) {
    return Device{folder / "device", card_of(folder)};
  }
  std::vector<Device> cards = find_cards(folder);
  if (cards.size() == 1) {
    return std::move(cards.front());
  }
  if (cards.size() > 1) {
    std::vector<std::string> names;
    names.reserve(cards.size());
    for (const Device& card : cards) {
      names.push_back(card.folder.parent_path().lexically_relative(folder).string());
    }
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} holds {} GPUs; state one of its folders {}", stated, cards.size(),
                            fmt::join(names, ", ")));
  }
  if (looks_like_device(folder)) {
    return Device{folder,
                  folder.filename() == "device" ? card_of(folder.parent_path()) : std::string()};
  }
  return fail(ErrorCode::kNotFound,
              stated +
                  " is no device folder of amdgpu, no cardN folder, and holds none: neither "
                  "hwmon, gpu_metrics, gpu_busy_percent nor uevent is there");
}

/// Paths of findings begin with the device folder, which has been said once.
std::string without_folder(std::string text, const fs::path& device_dir) {
  const std::string folder = device_dir.string();
  for (std::size_t at = text.find(folder + "/"); at != std::string::npos;
       at = text.find(folder + "/", at)) {
    text.erase(at, folder.size() + 1);
  }
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.replace(at, folder.size(), "the device folder");
  }
  return text;
}

void append_series(sampler::SensorReader& reader, DecodedFolder& decoded) {
  const auto sensors = reader.sensors();
  std::vector<std::optional<double>> values(sensors.size());
  const bool sleeps = os::is_asleep(decoded.gpu.runtime_status) && reader.needs_gpu_awake();
  const bool is_read = !sleeps && reader.read(values) == sampler::SensorOutcome::kRead;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    DecodedSeries series;
    series.description = sensors[i];
    if (sleeps) {
      series.absent = "not read: the GPU sleeps";
      decoded.series.push_back(std::move(series));
      continue;
    }
    sampler::SensorEvidence evidence = reader.evidence(i);
    series.raw = std::move(evidence.raw);
    series.absent = without_folder(evidence.absent, decoded.gpu.device_dir);
    if (is_read && sensors[i].kind == sampler::SensorKind::kCounter) {
      series.absent = "a counter: only its growth between two reads says something";
    } else if (is_read) {
      series.value = values[i];
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
  DecodedFolder decoded;
  decoded.folder = folder;
  decoded.gpu = os::read_device_folder(roots, device->folder);
  decoded.gpu.card = device->card;
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
  for (const os::SourceFinding& finding : opened.findings) {
    decoded.findings.push_back(finding);
    decoded.findings.back().reason = without_folder(finding.reason, device->folder);
  }
  for (const auto& reader : opened.readers) {
    append_series(*reader, decoded);
  }
  return decoded;
}

}  // namespace gputrace::commands
