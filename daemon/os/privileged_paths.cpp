#include "daemon/os/privileged_paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "daemon/os/debugfs_registers.h"
#include "daemon/os/register_bar.h"

namespace gputrace::os {

namespace {

using sampler::SampleState;

// Before, a further ioctl did not push the 100 ms back: GFXOFF came that long after the first of
// several ("drm/amdgpu: Cancel delayed work when GFXOFF is disabled", amdgpu_gfx.c).
constexpr KernelVersion kFirstWithGuard{5, 15};

constexpr int kProbes = 3;  // a loaded machine may be late once

Status check_machine(const PathRequest& request, const GuardAccess& access) {
  if (request.kernel < kFirstWithGuard) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("debugfs and the register BAR are read only from Linux {}.{} on, and "
                            "this is {}.{}: the older driver may power the graphics core down in "
                            "the middle of such a read, which can hang the machine",
                            kFirstWithGuard.major, kFirstWithGuard.minor, request.kernel.major,
                            request.kernel.minor));
  }
  if (access.power() == PowerState::kUnclear) {
    return fail(ErrorCode::kUnsupported,
                (request.gpu.device_dir / "power/runtime_status").string() +
                    " does not say that the GPU is active; debugfs and the register BAR are not "
                    "read without knowing");
  }
  return {};
}

Result<std::unique_ptr<PrivilegedRegisters>> open_path(PrivilegedPath path,
                                                       const PathRequest& request) {
  if (path == PrivilegedPath::kBar) {
    return open_register_bar(request.gpu, request.gc, request.wanted, request.roots);
  }
  const Result<std::filesystem::path> folder = find_debugfs_folder(request.gpu, request.roots);
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  return path == PrivilegedPath::kRegs2 ? open_debugfs_regs2(*folder) : open_debugfs_regs(*folder);
}

/// One guarded sample. A reset or a late guard proves nothing against the path.
Status probe(RenderNodeReader& node, GuardedWords& words, const GuardAccess& access) {
  std::array<std::uint32_t, sampler::kMaxRegisters> read{};
  std::array<SampleState, sampler::kMaxRegisters> states{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns{};
  const auto first = [&](std::size_t count) {
    return sampler::ReadBuffer{std::span(read).first(count), std::span(states).first(count),
                               std::span(cost_ns).first(count)};
  };
  for (int i = 0; i < kProbes; ++i) {
    const IoctlAnswer answer = read_ioctl(node, access.now_ns(), first(node.registers().size()));
    const sampler::ReadBuffer out = first(words.registers().size());
    words.read(answer, out);
    if (words.has_ended()) {
      return tl::unexpected(words.end_error());
    }
    if (std::find(out.states.begin(), out.states.end(), SampleState::kGuardLate) ==
        out.states.end()) {
      break;
    }
  }
  return {};
}

bool ends_in(const Error& error, int error_number) {
  return error.message.ends_with(error_from_errno(error_number, "").message);
}

}  // namespace

std::string to_string(PrivilegedPath path) {
  switch (path) {
    case PrivilegedPath::kRegs2:
      return "debugfs regs2";
    case PrivilegedPath::kRegs:
      return "debugfs regs";
    case PrivilegedPath::kBar:
      break;
  }
  return "bar";
}

PathSearch find_privileged_path(std::span<const PrivilegedPath> order, const PathRequest& request,
                                RenderNodeReader& node, const GuardAccess& access) {
  PathSearch search;
  if (const Status status = check_machine(request, access); !status) {
    search.failed.push_back({"", status.error()});
    return search;
  }
  for (const PrivilegedPath path : order) {
    Result<std::unique_ptr<PrivilegedRegisters>> opened = open_path(path, request);
    if (!opened) {
      search.failed.push_back({to_string(path), explain_lockdown(opened.error(), request.roots)});
      continue;
    }
    std::vector<sampler::OfferedRegister> registers = request.wanted;
    for (sampler::OfferedRegister& offered : registers) {
      offered.source = to_string(path);
    }
    auto words = std::make_unique<GuardedWords>(std::move(registers), std::move(*opened), access);
    if (const Status status = probe(node, *words, access); !status) {
      search.failed.push_back({to_string(path), explain_lockdown(status.error(), request.roots)});
      continue;
    }
    search.words = std::move(words);
    break;
  }
  return search;
}

Error explain_lockdown(Error error, const SystemRoots& roots) {
  // EPERM, unlike EACCES, comes to root too (security_locked_down, security/lockdown/lockdown.c).
  if (const auto mode = lockdown_mode(roots); mode && ends_in(error, EPERM)) {
    error.message += fmt::format(" (kernel lockdown '{}', as Secure Boot sets it)", *mode);
  }
  return error;
}

std::string describe(std::span<const FailedPath> failed) {
  std::string text;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    std::string names = failed[i].name;
    while (i + 1 < failed.size() && failed[i + 1].error.message == failed[i].error.message) {
      names += " and " + failed[++i].name;
    }
    text += text.empty() ? "" : "; ";
    text += names.empty() ? failed[i].error.message : names + ": " + failed[i].error.message;
  }
  return text;
}

bool only_root_is_missing(std::span<const FailedPath> failed) {
  return ::geteuid() != 0 && std::all_of(failed.begin(), failed.end(), [](const FailedPath& path) {
           return ends_in(path.error, EACCES);
         });
}

}  // namespace gputrace::os
