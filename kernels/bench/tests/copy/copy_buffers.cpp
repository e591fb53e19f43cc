#include "kernels/bench/tests/copy/copy_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/bench/tests/copy/copy.h"
#include "kernels/bench/tests/copy/copy_proof.h"

namespace gputrace::bench {

namespace {

/// Less than this says nothing of memory.
constexpr std::uint64_t kLeast = std::uint64_t{64} * 1024;

Status copy(vulkan::Device& device, const vulkan::Buffer& from, const vulkan::Buffer& to,
            std::uint64_t count) {
  const vulkan::Work work = vulkan::Copy{.from = &from, .to = &to, .bytes = count};
  if (const auto ran = device.run({&work, 1}, kCopyTimeoutNs); !ran) {
    return tl::unexpected(ran.error());
  }
  return {};
}

}  // namespace

Result<CopyBuffers> CopyBuffers::create(vulkan::Device& gpu, std::uint64_t bytes) {
  const vulkan::DeviceFacts& facts = gpu.facts();
  const vulkan::MemoryKind* const host = vulkan::host_side(facts.memory_kinds);
  const vulkan::MemoryKind* const own = vulkan::device_side(facts.memory_kinds);
  if (host == nullptr || own == nullptr) {
    return fail(ErrorCode::kUnsupported,
                facts.listed.name + " has no memory that the CPU sees (host-visible)");
  }
  auto on_device = gpu.create_buffer(bytes, *own);
  if (!on_device) {
    return tl::unexpected(on_device.error());
  }
  auto witness = gpu.create_buffer(bytes, vulkan::MemoryUse::kReadBack);
  if (!witness) {
    return tl::unexpected(witness.error());
  }
  CopyBuffers made{.mapped = {},
                   .host = 0,
                   .device = std::move(*on_device),
                   .witness = std::move(*witness),
                   .plain = std::vector<std::byte>(bytes),
                   .bytes = bytes,
                   .note = {}};
  for (const vulkan::MemoryKind& kind : facts.memory_kinds) {
    if (!kind.host_visible) {
      continue;
    }
    auto buffer = gpu.create_buffer(bytes, kind);
    // Kinds that buffers cannot have are not of this test.
    if (!buffer && buffer.error().code == ErrorCode::kUnsupported && &kind != host) {
      continue;
    }
    if (!buffer) {
      return tl::unexpected(buffer.error());
    }
    if (&kind == host) {
      made.host = made.mapped.size();
    }
    made.mapped.push_back({.kind = kind, .buffer = std::move(*buffer)});
  }
  fill_pattern(made.plain);
  std::ranges::copy(made.plain, made.witness.mapped().begin());
  for (const MappedBuffer& mapped : made.mapped) {
    if (const Status filled = gpu.upload(mapped.buffer, made.plain); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  return made;
}

Result<CopyBuffers> create_where_it_fits(
    std::uint64_t bytes, const std::function<Result<CopyBuffers>(std::uint64_t)>& make) {
  const std::uint64_t wanted = bytes;
  auto made = make(bytes);
  while (!made && made.error().code == ErrorCode::kNoSpace && bytes >= 2 * kLeast) {
    bytes /= 2;
    made = make(bytes);
  }
  if (made && bytes < wanted) {
    made->note =
        fmt::format("too little memory for {} KiB: {} KiB instead", wanted / 1024, bytes / 1024);
  }
  return made;
}

Status CopyBuffers::put(vulkan::Device& gpu, const vulkan::Buffer& to, std::uint64_t count) const {
  return copy(gpu, witness, to, count);
}

Status CopyBuffers::get(vulkan::Device& gpu, const vulkan::Buffer& from,
                        std::uint64_t count) const {
  return copy(gpu, from, witness, count);
}

}  // namespace gputrace::bench
