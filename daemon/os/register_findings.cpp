#include "daemon/os/register_findings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/debugfs_registers.h"
#include "daemon/os/drm_clients.h"
#include "daemon/os/privileged_paths.h"
#include "daemon/os/render_node.h"
#include "daemon/os/runtime_status.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;

constexpr std::string_view kIoctl = "drm ioctl";
constexpr std::array kPaths{PrivilegedPath::kRegs2, PrivilegedPath::kRegs, PrivilegedPath::kBar};

SourceState state_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kPermissionDenied:
      return SourceState::kRefused;
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
      return SourceState::kAbsent;
    default:
      return SourceState::kBroken;
  }
}

std::vector<std::string> names_of(std::span<const OfferedRegister> registers) {
  std::vector<std::string> names;
  names.reserve(registers.size());
  for (const OfferedRegister& offered : registers) {
    names.push_back(offered.name);
  }
  return names;
}

/// One sample, and what it took.
struct TimedSample {
  explicit TimedSample(std::size_t count) : count_(count) {}
  [[nodiscard]] sampler::ReadBuffer buffer() {
    return {std::span(words_).first(count_), std::span(states_).first(count_),
            std::span(cost_ns_).first(count_)};
  }

 private:
  std::size_t count_;
  std::array<std::uint32_t, sampler::kMaxRegisters> words_{};
  std::array<sampler::SampleState, sampler::kMaxRegisters> states_{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns_{};
};

std::vector<OfferedRegister> not_offered(const regdb::RegisterMap& map, unsigned shader_engines,
                                         std::span<const OfferedRegister> offered) {
  std::vector<OfferedRegister> missing;
  for (const regdb::Register& reg : map.registers) {
    const bool is_offered = std::any_of(offered.begin(), offered.end(),
                                        [&](const auto& offer) { return offer.name == reg.name; });
    if (!is_offered && is_in_gpu(reg, shader_engines)) {
      missing.push_back({reg.name, reg.dword_offset, ""});
    }
  }
  return missing;
}

RegisterFinding try_path(PrivilegedPath path, const PathRequest& request, RenderNodeReader& node,
                         const GuardAccess& access) {
  RegisterFinding finding;
  finding.source = to_string(path);
  const PathSearch search = find_privileged_path({&path, 1}, request, node, access);
  if (search.words == nullptr) {
    const Error& error = search.failed.front().error;
    finding.state = state_of(error);
    finding.reason = error.message;
    return finding;
  }
  TimedSample ioctl(node.registers().size());
  TimedSample sample(search.words->registers().size());
  const IoctlAnswer answer = read_ioctl(node, monotonic_now_ns(), ioctl.buffer());
  const std::int64_t begin_ns = monotonic_now_ns();
  search.words->read(answer, sample.buffer());
  finding.cost_ns = monotonic_now_ns() - begin_ns;
  finding.state = SourceState::kWorks;
  finding.registers = names_of(search.words->registers());
  return finding;
}

void refuse_paths(SourceState state, const std::string& reason, RegisterFindings& findings) {
  for (const PrivilegedPath path : kPaths) {
    findings.sources.push_back({to_string(path), state, {}, std::nullopt, reason});
  }
}

/// What can be told of a sleeping GPU: the permissions of its node, which wake nothing.
RegisterFindings of_sleeping(const GpuDevice& gpu) {
  RegisterFindings findings;
  findings.device = gpu;
  RegisterFinding node;
  node.source = kIoctl;
  node.state = SourceState::kAsleep;
  node.reason = "not opened: that would wake the GPU";
  const std::string path = gpu.render_node.string();
  if (!path.empty() && ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
    const Error error = error_from_errno(errno, "cannot open " + path);
    node.state = state_of(error);
    node.reason = error.message;
  }
  findings.sources.push_back(std::move(node));
  refuse_paths(SourceState::kAsleep, "not opened: that would wake the GPU", findings);
  return findings;
}

void find_privileged(const regdb::RegisterMap& map, OpenedRenderNode& node,
                     const SystemRoots& roots, RegisterFindings& findings) {
  std::vector<OfferedRegister> wanted =
      not_offered(map, node.shader_engines, node.reader->registers());
  if (wanted.empty()) {
    refuse_paths(SourceState::kAbsent, "not needed: the ioctl gives every register", findings);
    return;
  }
  const Result<KernelVersion> kernel = running_kernel();
  if (!kernel) {
    refuse_paths(SourceState::kBroken, kernel.error().message, findings);
    return;
  }
  const GuardAccess access{[status = std::make_shared<RuntimeStatus>(findings.device.device_dir)] {
                             return status->look();
                           },
                           [] { return monotonic_now_ns(); }};
  const std::optional<regdb::GcVersion> gc = node.identity.gc;
  GPUTRACE_CHECK(gc.has_value());
  const PathRequest request{findings.device, roots, gc.value(), *kernel, wanted};
  bool any = false;
  for (const PrivilegedPath path : kPaths) {
    findings.sources.push_back(try_path(path, request, *node.reader, access));
    any = any || findings.sources.back().state == SourceState::kWorks;
  }
  if (!any) {
    findings.missing = names_of(wanted);
  }
}

Result<unsigned> read_gfxoff_status(const GpuDevice& gpu, const SystemRoots& roots) {
  const Result<std::filesystem::path> folder = find_debugfs_folder(gpu, roots);
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  const std::filesystem::path file = *folder / "amdgpu_gfxoff_status";
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail_errno(errno, "cannot open " + file.string());
  }
  std::uint32_t value = 0;
  const ssize_t size = ::pread(fd.get(), &value, sizeof value, 0);
  if (size < 0) {
    return fail_errno(errno, errno == EINVAL || errno == EOPNOTSUPP
                                 ? "this chip's driver does not say (" + file.string() + ")"
                                 : "cannot read " + file.string());
  }
  if (size != sizeof value || value > 3) {
    return fail(ErrorCode::kCorrupt, file.string() + " holds something else than 0 to 3");
  }
  return value;
}

}  // namespace

RegisterFindings find_register_sources(const GpuDevice& gpu, const regdb::RegisterDatabase& regdb,
                                       const SystemRoots& roots) {
  if (is_asleep(gpu.runtime_status)) {
    return of_sleeping(gpu);
  }
  RegisterFindings findings;
  findings.device = gpu;
  RegisterFinding ioctl;
  ioctl.source = kIoctl;
  Result<OpenedRenderNode> node = open_render_node(gpu, regdb);
  if (!node) {
    ioctl.state = state_of(node.error());
    ioctl.reason = node.error().message;
    findings.sources.push_back(std::move(ioctl));
    refuse_paths(
        SourceState::kAbsent,
        "not tried: each of its reads needs the ioctl first, which keeps the graphics core "
        "powered",
        findings);
    return findings;
  }
  findings.device.identity = node->identity;
  findings.device.shader_engines = node->shader_engines;
  ioctl.state = SourceState::kWorks;
  ioctl.registers = names_of(node->reader->registers());
  TimedSample sample(node->reader->registers().size());
  const std::int64_t begin_ns = monotonic_now_ns();
  node->reader->read(begin_ns, sample.buffer());
  ioctl.cost_ns = monotonic_now_ns() - begin_ns;
  findings.sources.push_back(std::move(ioctl));

  const std::optional<regdb::GcVersion> gc = node->identity.gc;
  const auto map =
      gc ? regdb.map_for(*gc) : Result<regdb::RegisterMap>(fail(ErrorCode::kNotFound, ""));
  if (map) {
    find_privileged(*map, *node, roots, findings);
  }
  return findings;
}

PowerFindings find_power_settings(const GpuDevice& gpu, const SystemRoots& roots) {
  PowerFindings power;
  power.may_suspend = has_runtime_power_management(gpu);
  power.autosuspend_ms = autosuspend_delay_ms(gpu);
  const std::filesystem::path options = roots.sys / "module/amdgpu/parameters";
  if (const auto mask = read_number(options / "ppfeaturemask", 0xffff'ffff)) {
    power.gfxoff_allowed = (*mask & 0x8000U) != 0;  // PP_GFXOFF_MASK, amd_shared.h
  }
  if (read_text(options / "dpm") == "0") {
    power.options.emplace_back("amdgpu.dpm=0: without power management there are no sensors");
  }
  if (read_text(options / "runpm") == "0") {
    power.options.emplace_back("amdgpu.runpm=0: the GPU never suspends");
  }
  if (is_asleep(gpu.runtime_status)) {
    power.gfxoff_status_unknown = "not read while the GPU sleeps";
    return power;
  }
  if (const Result<unsigned> status = read_gfxoff_status(gpu, roots)) {
    power.gfxoff_status = *status;
  } else {
    power.gfxoff_status_unknown = status.error().message;
  }
  return power;
}

}  // namespace gputrace::os
