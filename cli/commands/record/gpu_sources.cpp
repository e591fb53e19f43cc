#include "cli/commands/record/gpu_sources.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/os/render_node.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

namespace {

std::filesystem::path folder_from_environment(const char* name) {
  const char* value = std::getenv(name);
  const std::filesystem::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : std::filesystem::path();
}

/// Empty when there is none: tapes are then built each time.
std::filesystem::path cache_folder() {
  if (::geteuid() == 0 && std::getenv("SUDO_UID") != nullptr) {
    // The variables may be those of the user who called sudo, in whose folders root must not write.
    std::vector<char> text(16384);
    passwd entry{};
    passwd* found = nullptr;
    ::getpwuid_r(0, &entry, text.data(), text.size(), &found);
    return found == nullptr ? "" : std::filesystem::path(found->pw_dir) / ".cache/gputrace";
  }
  if (const auto folder = folder_from_environment("XDG_CACHE_HOME"); !folder.empty()) {
    return folder / "gputrace";
  }
  const auto home = folder_from_environment("HOME");
  return home.empty() ? home : home / ".cache/gputrace";
}

/// What this path cannot read of what the GPU has, so that nobody takes it for idle.
std::vector<std::string> describe_missing(const regdb::RegisterMap& map,
                                          std::span<const sampler::OfferedRegister> offered) {
  std::string names;
  for (const regdb::Register& reg : map.registers) {
    const bool read = std::any_of(offered.begin(), offered.end(),
                                  [&](const auto& offer) { return offer.name == reg.name; });
    // Shader engines beyond those that this GPU has are not missing.
    if (!read && !reg.unprivileged && reg.name.find("_SE") == std::string::npos) {
      names += (names.empty() ? "" : ", ") + reg.name;
    }
  }
  if (names.empty()) {
    return {};
  }
  return {
      fmt::format("not recorded: {} (the kernel lets only root read it, and this version reads "
                  "as a user)",
                  names)};
}

Result<recorder::OpenedGpu> open_simulated(const std::string& argument,
                                           const regdb::RegisterDatabase& regdb) {
  Result<simulated_gpu::OpenedSimulation> simulation =
      simulated_gpu::open_simulated_gpu(argument, regdb, cache_folder(), std::nullopt);
  if (!simulation) {
    return tl::unexpected(simulation.error());
  }
  recorder::OpenedGpu opened;
  opened.identity = std::move(simulation->identity);
  opened.reader = std::move(simulation->reader);
  opened.load_seconds = simulation->load_seconds;
  return opened;
}

Result<recorder::OpenedGpu> open_real(const std::string& selector,
                                      const regdb::RegisterDatabase& regdb) {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(os::SystemRoots{});
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  if (gpus->empty()) {
    return fail(ErrorCode::kNotFound,
                "no AMD GPU found: nothing under /sys/class/drm is bound to the amdgpu driver. "
                "`--gpu sim:780m` records a simulated one");
  }
  const Result<os::GpuDevice> gpu = os::select_gpu(*gpus, selector);
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  Result<os::OpenedRenderNode> node = os::open_render_node(*gpu, regdb);
  if (!node) {
    return tl::unexpected(node.error());
  }
  recorder::OpenedGpu opened;
  opened.identity = std::move(node->identity);
  opened.reader = std::move(node->reader);
  opened.notes = std::move(node->notes);
  return opened;
}

Result<recorder::OpenedGpu> open_gpu(const recorder::GpuRequest& request) {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const bool simulated = simulated_gpu::is_simulated_argument(request.gpu);
  Result<recorder::OpenedGpu> opened =
      simulated ? open_simulated(request.gpu, regdb) : open_real(request.gpu, regdb);
  if (!opened) {
    return opened;
  }
  const std::optional<regdb::GcVersion> gc = opened->identity.gc;
  if (!gc) {
    return fail(ErrorCode::kUnsupported,
                opened->identity.name + " does not say which graphics core it has");
  }
  const Result<regdb::RegisterMap> map = regdb.map_for(*gc);
  if (!map) {
    return tl::unexpected(map.error());
  }
  opened->regdb_table = map->table;
  for (std::string& note : describe_missing(*map, opened->reader->registers())) {
    opened->notes.push_back(std::move(note));
  }
  return opened;
}

}  // namespace

recorder::ReaderFactory make_reader_factory() {
  return open_gpu;
}

}  // namespace gputrace::commands
