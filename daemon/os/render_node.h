// Status registers through the render node: ioctl AMDGPU_INFO / READ_MMR_REG. No privilege needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/os/render_node_reader.h"

namespace gputrace::os {

struct OpenedRenderNode {
  sampler::GpuIdentity identity;  ///< completed: marketing name, GC version, driver version
  std::unique_ptr<RenderNodeReader> reader;
  unsigned shader_engines = 0;
  std::vector<std::string> notes;  ///< registers that this kernel refused
};

/// Opens the node and offers every register that the built-in regdb allows an unprivileged reader
/// on this GC version and that the GPU has (shader engines). Refuses a runtime-suspended device
/// with kBusy instead of waking it. EACCES names the file and the group to join.
[[nodiscard]] Result<OpenedRenderNode> open_render_node(const GpuDevice& gpu,
                                                        const regdb::RegisterDatabase& regdb);

/// Whether this process may open the node, by its permissions: nothing is opened. EACCES names the
/// file and the group to join.
[[nodiscard]] Status check_render_node(const GpuDevice& gpu);

/// False for a shader engine beyond those that the GPU has.
[[nodiscard]] bool is_in_gpu(const regdb::Register& reg, unsigned shader_engines);

}  // namespace gputrace::os
