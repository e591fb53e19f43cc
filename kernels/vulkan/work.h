// What a submission consists of, and the buffers it works on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "kernels/vulkan/pipeline.h"

namespace gputrace::vulkan {

class AccelerationStructure;

/// Move-only.
class Buffer {
 public:
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::uint64_t size() const;
  /// For shaders; 0 without DeviceFacts::buffer_addresses.
  [[nodiscard]] std::uint64_t address() const;
  /// What the CPU sees of it; empty where the memory is not host-visible.
  [[nodiscard]] std::span<std::byte> mapped() const;
  /// It lies in pages of this process.
  [[nodiscard]] bool is_imported() const;

  struct Impl;
  explicit Buffer(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// What a shader sees. Bindings that are not given hold a small dummy: lavapipe of Mesa 22 crashes
/// on one that was never written, used or not.
struct Bindings {
  std::array<const Buffer*, kStorageBindings> storage{};
  const Buffer* uniform = nullptr;
  const Buffer* texel = nullptr;
  const Texture* image = nullptr;
  /// Has no dummy: only kernels that ask rays look at it.
  const AccelerationStructure* scene = nullptr;

  friend bool operator==(const Bindings&, const Bindings&) = default;
};

using PushConstants = std::array<std::byte, kPushBytes>;

struct Dispatch {
  const Pipeline* pipeline = nullptr;
  Bindings bindings = {};
  PushConstants push{};
  std::uint32_t groups_x = 1;
  std::uint32_t groups_y = 1;
  std::uint32_t groups_z = 1;
  std::uint32_t repeat = 1;
  bool barriers = true;  ///< behind each repeat; else behind the last
};

/// One render pass over the whole target.
struct Draw {
  const Pipeline* pipeline = nullptr;
  const RenderTarget* target = nullptr;
  const Texture* image = nullptr;  ///< binding 6
  PushConstants push{};
  std::uint32_t instances = 1;  ///< full-screen triangles over each other
  bool clear = true;            ///< else what the target held is not needed
};

struct Copy {
  const Buffer* from = nullptr;
  const Buffer* to = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t repeat = 1;  ///< with a barrier behind each
};

struct Work : std::variant<Dispatch, Draw, Copy> {
  using variant::variant;
};

}  // namespace gputrace::vulkan
