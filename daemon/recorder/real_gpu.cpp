#include "daemon/recorder/real_gpu.h"

#include <utility>

#include "daemon/os/register_source.h"
#include "regdb/register_database.h"

namespace gputrace::recorder {

Result<OpenedGpu> open_real_gpu(const GpuRequest& request, const os::SystemRoots& roots) {
  const Result<os::RegisterSource> source = os::parse_register_source(request.source);
  if (!source) {
    return tl::unexpected(source.error());
  }
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots);
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  if (gpus->empty()) {
    return fail(ErrorCode::kNotFound, "no AMD GPU found: nothing under " +
                                          (roots.sys / "class/drm").string() +
                                          " is bound to the amdgpu driver");
  }
  const Result<os::GpuDevice> gpu = os::select_gpu(*gpus, request.gpu);
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  Result<os::OpenedRegisters> opened =
      os::open_registers(*gpu, *source, regdb::RegisterDatabase::built_in(), roots);
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  OpenedGpu result;
  result.identity = std::move(opened->identity);
  result.regdb_table = std::move(opened->regdb_table);
  result.reader = std::move(opened->reader);
  result.notes = std::move(opened->notes);
  return result;
}

}  // namespace gputrace::recorder
