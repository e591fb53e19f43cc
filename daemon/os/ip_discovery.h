// What amdgpu shows of the GPU's own list of its blocks: ip_discovery/die/D/HW_ID/I/FILE in the
// device folder (amdgpu_discovery.c of Linux). Reading it never touches the device.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regdb/gc_version.h"

namespace gputrace::os {

/// The files of one instance of a block; absent = not there.
struct IpInstanceText {
  std::optional<std::string> major;
  std::optional<std::string> minor;
  std::optional<std::string> revision;
  std::optional<std::string> harvest;  ///< other than zero: fused off
};

/// The version of the first instance that is whole and not fused off, else of the first that is
/// whole. All instances of one GPU have the same version.
[[nodiscard]] std::optional<regdb::GcVersion> choose_ip_version(
    std::span<const IpInstanceText> instances);

/// Of the graphics core; absent on chips without IP discovery (before GC 10, and some after).
[[nodiscard]] std::optional<regdb::GcVersion> discovered_gc(
    const std::filesystem::path& device_dir);

/// Names that are numbers, in numeric order: sorting text would put die 10 before die 2.
[[nodiscard]] std::vector<unsigned> numbers_among(std::span<const std::string> names);

}  // namespace gputrace::os
