#include "daemon/os/ip_discovery.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGcHwId = "11";  // include/soc15_hw_ip.h of Linux amdgpu

std::optional<std::uint8_t> parse_part(const std::optional<std::string>& text) {
  const auto number = text ? parse_number(*text, 0xff) : std::nullopt;
  return number ? std::optional(static_cast<std::uint8_t>(*number)) : std::nullopt;
}

std::optional<regdb::GcVersion> parse_version(const IpInstanceText& instance) {
  const auto major = parse_part(instance.major);
  const auto minor = parse_part(instance.minor);
  const auto revision = parse_part(instance.revision);
  if (!major || !minor || !revision) {
    return std::nullopt;
  }
  return regdb::GcVersion{*major, *minor, *revision};
}

}  // namespace

std::optional<regdb::GcVersion> choose_ip_version(std::span<const IpInstanceText> instances) {
  std::optional<regdb::GcVersion> fused_off;
  for (const IpInstanceText& instance : instances) {
    const auto version = parse_version(instance);
    if (!version) {
      continue;
    }
    if (parse_part(instance.harvest).value_or(0) == 0) {
      return version;
    }
    fused_off = fused_off.value_or(*version);
  }
  return fused_off;
}

std::vector<unsigned> numbers_among(std::span<const std::string> names) {
  std::vector<unsigned> numbers;
  for (const std::string& name : names) {
    if (const auto number = number_after(name, "")) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::optional<regdb::GcVersion> discovered_gc(const fs::path& device_dir) {
  std::vector<IpInstanceText> instances;
  const fs::path dies = device_dir / "ip_discovery" / "die";
  for (const unsigned die : numbers_among(list_folder(dies))) {
    const fs::path gc = dies / std::to_string(die) / kGcHwId;
    for (const unsigned number : numbers_among(list_folder(gc))) {
      const fs::path folder = gc / std::to_string(number);
      instances.push_back({read_text(folder / "major"), read_text(folder / "minor"),
                           read_text(folder / "revision"), read_text(folder / "harvest")});
    }
  }
  return choose_ip_version(instances);
}

}  // namespace gputrace::os
