#include "daemon/os/register_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/os/privileged_paths.h"
#include "daemon/os/render_node.h"
#include "daemon/os/runtime_status.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;

constexpr std::array kAllPaths{PrivilegedPath::kRegs2, PrivilegedPath::kRegs, PrivilegedPath::kBar};

std::span<const PrivilegedPath> paths_of(RegisterSource source) {
  switch (source) {
    case RegisterSource::kAuto:
      return kAllPaths;
    case RegisterSource::kDrm:
      return {};
    case RegisterSource::kDebugfs:
      return std::span(kAllPaths).first(2);
    case RegisterSource::kBar:
      break;
  }
  return std::span(kAllPaths).last(1);
}

/// Of the registers that the GPU has, those that `node` does not offer.
std::vector<OfferedRegister> not_offered(const regdb::RegisterMap& map,
                                         const OpenedRenderNode& node) {
  std::vector<OfferedRegister> missing;
  for (const regdb::Register& reg : map.registers) {
    const auto offered = node.reader->registers();
    const bool is_offered = std::any_of(offered.begin(), offered.end(),
                                        [&](const auto& offer) { return offer.name == reg.name; });
    if (!is_offered && is_in_gpu(reg, node.shader_engines)) {
      missing.push_back({reg.name, reg.dword_offset, ""});
    }
  }
  return missing;
}

std::vector<OfferedRegister> all_of(const regdb::RegisterMap& map, unsigned shader_engines) {
  std::vector<OfferedRegister> registers;
  for (const regdb::Register& reg : map.registers) {
    if (is_in_gpu(reg, shader_engines)) {
      registers.push_back({reg.name, reg.dword_offset, ""});
    }
  }
  return registers;
}

std::string missing_note(std::span<const OfferedRegister> missing,
                         std::span<const FailedPath> failed) {
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const OfferedRegister& reg : missing) {
    names.push_back(reg.name);
  }
  const std::string what = fmt::format("not recorded: {}", fmt::join(names, ", "));
  if (failed.empty()) {
    return what + " (--source drm reads what the kernel gives to every user)";
  }
  if (only_root_is_missing(failed)) {
    return what + " (only root may read " + (names.size() == 1 ? "it" : "them") +
           "). Start gputraced, or use sudo";
  }
  return fmt::format("{} (the kernel's ioctl does not give {}). {}", what,
                     names.size() == 1 ? "it" : "them", describe(failed));
}

tl::unexpected<Error> fail_explicit(std::string_view source, const GpuDevice& gpu,
                                    std::span<const FailedPath> failed) {
  const bool needs_root = only_root_is_missing(failed);
  return fail(needs_root ? ErrorCode::kPermissionDenied : ErrorCode::kUnsupported,
              fmt::format("--source {} is not possible for {} ({}): {}{}", source,
                          gpu.identity.name, gpu.identity.pci, describe(failed),
                          needs_root ? ". Run it as root, or use --source auto"
                                     : ". --source auto takes what works"));
}

std::string_view name_of(RegisterSource source) {
  switch (source) {
    case RegisterSource::kAuto:
      return "auto";
    case RegisterSource::kDrm:
      return "drm";
    case RegisterSource::kDebugfs:
      return "debugfs";
    case RegisterSource::kBar:
      break;
  }
  return "bar";
}

GuardAccess make_guard_access(const GpuDevice& gpu) {
  // Opened for this search and whichever path it finds.
  return {[status = std::make_shared<RuntimeStatus>(gpu.device_dir)] { return status->look(); },
          [] { return monotonic_now_ns(); }};
}

}  // namespace

Result<RegisterSource> parse_register_source(std::string_view name) {
  for (const RegisterSource source : {RegisterSource::kAuto, RegisterSource::kDrm,
                                      RegisterSource::kDebugfs, RegisterSource::kBar}) {
    if (name == name_of(source)) {
      return source;
    }
  }
  return fail(ErrorCode::kUsage,
              fmt::format("source '{}' is not one of auto, drm, debugfs and bar", name));
}

Result<OpenedRegisters> open_registers(const GpuDevice& gpu, RegisterSource source,
                                       const regdb::RegisterDatabase& regdb,
                                       const SystemRoots& roots) {
  const bool is_explicit = source == RegisterSource::kDebugfs || source == RegisterSource::kBar;
  Result<OpenedRenderNode> node = open_render_node(gpu, regdb);
  if (!node) {
    return is_explicit
               ? fail(node.error(), fmt::format("--source {} needs the render node too, whose "
                                                "ioctl keeps the graphics core powered",
                                                name_of(source)))
               : tl::unexpected(node.error());
  }
  OpenedRegisters opened;
  opened.identity = node->identity;
  opened.shader_engines = node->shader_engines;
  const std::optional<regdb::GcVersion> gc = opened.identity.gc;
  GPUTRACE_CHECK(gc.has_value());
  const Result<regdb::RegisterMap> map = regdb.map_for(gc.value());
  if (!map) {
    return tl::unexpected(map.error());
  }
  opened.regdb_table = map->table;

  std::vector<OfferedRegister> wanted =
      is_explicit ? all_of(*map, node->shader_engines) : not_offered(*map, *node);
  PathSearch search;
  if (!wanted.empty() && source != RegisterSource::kDrm) {
    const Result<KernelVersion> kernel = running_kernel();
    if (!kernel) {
      return tl::unexpected(kernel.error());
    }
    if (is_explicit) {
      node->reader->keep_first();
    }
    const GuardAccess access = make_guard_access(gpu);
    search = find_privileged_path(paths_of(source), {gpu, roots, gc.value(), *kernel, wanted},
                                  *node->reader, access);
  }
  if (search.words != nullptr) {
    opened.reader = std::make_unique<GuardedReader>(
        std::move(node->reader), std::move(search.words),
        is_explicit ? GuardedReader::Offer::kGuardedOnly : GuardedReader::Offer::kBoth);
    return opened;
  }
  if (is_explicit) {
    return fail_explicit(name_of(source), gpu, search.failed);
  }
  opened.reader = std::move(node->reader);
  if (!wanted.empty()) {
    opened.notes.push_back(missing_note(wanted, search.failed));
  }
  return opened;
}

}  // namespace gputrace::os
