#include "cli/commands/record/gpu_sources.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/recorder/real_gpu.h"
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

Result<recorder::OpenedGpu> open_simulated(const std::string& argument) {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  Result<simulated_gpu::OpenedSimulation> simulation =
      simulated_gpu::open_simulated_gpu(argument, regdb, cache_folder(), std::nullopt);
  if (!simulation) {
    return tl::unexpected(simulation.error());
  }
  const std::optional<regdb::GcVersion> gc = simulation->identity.gc;
  GPUTRACE_CHECK(gc.has_value());
  const Result<regdb::RegisterMap> map = regdb.map_for(gc.value());
  if (!map) {
    return tl::unexpected(map.error());
  }
  recorder::OpenedGpu opened;
  opened.regdb_table = map->table;
  opened.identity = std::move(simulation->identity);
  opened.reader = std::move(simulation->reader);
  opened.sensors = std::move(simulation->sensors);
  opened.machine_sensors = std::move(simulation->machine_sensors);
  opened.play = std::move(simulation->play);
  opened.load_seconds = simulation->load_seconds;
  return opened;
}

Result<recorder::OpenedGpu> open_real(const recorder::GpuRequest& request) {
  Result<recorder::OpenedGpu> opened = recorder::open_real_gpu(request, os::SystemRoots{});
  if (!opened && request.gpu.empty() && opened.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound,
                opened.error().message + ". `--gpu sim:780m` records a simulated one");
  }
  return opened;
}

Result<recorder::OpenedGpu> open_gpu(const recorder::GpuRequest& request) {
  return simulated_gpu::is_simulated_argument(request.gpu) ? open_simulated(request.gpu)
                                                           : open_real(request);
}

}  // namespace

recorder::ReaderFactory make_reader_factory() {
  return open_gpu;
}

}  // namespace gputrace::commands
