// What the kernel tells of a DRM client, or whatever else a descriptor is: what is taken from it
// can be sent to the recorder.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/commands/record/drm_fdinfo.h"
#include "daemon/ipc/message.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gputrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<commands::DrmFdinfo> info = commands::parse_drm_fdinfo(text);
  if (!info) {
    return 0;
  }
  GPUTRACE_CHECK(!info->driver.empty() && text.find(info->driver) != std::string_view::npos);
  if (info->pdev.empty() || !info->client_id) {
    return 0;
  }
  const ipc::ProcessesOrder order{1,
                                  {{1, "game", info->pdev, *info->client_id, info->engine_ns,
                                    info->vram_bytes, info->gtt_bytes}},
                                  0,
                                  0};
  const Result<std::string> message = ipc::encode(ipc::Order(order));
  GPUTRACE_CHECK(message.has_value());
  const Result<ipc::Order> back = ipc::decode_order(*message);
  GPUTRACE_CHECK(back.has_value() && *back == ipc::Order(order));
  return 0;
}
