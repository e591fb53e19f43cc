#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "kernels/vulkan/host_pages.h"
#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

constexpr std::uint64_t kBytes = 70'001;  // no whole pages, words or atoms

std::vector<std::byte> counted(std::uint64_t bytes, unsigned salt) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>(i * 31 + salt);
  }
  return data;
}

/// Both ways, on every queue that there is.
void check_copies(Device& device, const Buffer& mapped) {
  const Buffer other = take(device.create_buffer(kBytes, device.facts().memory_kinds.front()));
  for (std::size_t queue = 0; queue < device.facts().queues.size(); ++queue) {
    const auto there = counted(kBytes, 7 + static_cast<unsigned>(queue));
    std::memcpy(mapped.mapped().data(), there.data(), kBytes);
    REQUIRE(device.flush(mapped, kBytes));
    const Work to = Copy{.from = &mapped, .to = &other, .bytes = kBytes, .repeat = 3};
    REQUIRE(device.run({&to, 1}, kTestTimeoutNs, {.queue = queue}));
    CHECK(take(device.download(other, 0, kBytes)) == there);

    const auto back = counted(kBytes, 91 + static_cast<unsigned>(queue));
    REQUIRE(device.upload(other, back));
    const Work from = Copy{.from = &other, .to = &mapped, .bytes = kBytes};
    REQUIRE(device.run({&from, 1}, kTestTimeoutNs, {.queue = queue}));
    REQUIRE(device.invalidate(mapped, kBytes));
    CHECK(std::ranges::equal(mapped.mapped(), back));
  }
}

}  // namespace

TEST_CASE("every kind of memory that the CPU sees is copied to and from on every queue") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  REQUIRE(!device->facts().memory_kinds.empty());
  REQUIRE(!device->facts().queues.empty());
  for (const MemoryKind& kind : device->facts().memory_kinds) {
    CAPTURE(name_of(kind));
    const Buffer buffer = take(device->create_buffer(kBytes, kind));
    REQUIRE(buffer.mapped().empty() == !kind.host_visible);
    if (kind.host_visible) {
      REQUIRE(buffer.mapped().size() == kBytes);
      CHECK(std::ranges::all_of(buffer.mapped(), [](std::byte b) { return b == std::byte{0}; }));
      check_copies(*device, buffer);
    }
  }
}

TEST_CASE("a GPU works on pages of this process where the driver takes them") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const auto imported = device->create_imported_buffer(kBytes);
  if (!device->facts().host_import_alignment) {
    REQUIRE(!imported);
    CHECK(imported.error().code == ErrorCode::kUnsupported);
    CHECK(imported.error().message.find("VK_EXT_external_memory_host") != std::string::npos);
    return;
  }
  REQUIRE_MESSAGE(imported, imported.error().message);
  CHECK(imported->mapped().size() == kBytes);
  CHECK(std::ranges::all_of(imported->mapped(), [](std::byte b) { return b == std::byte{0}; }));
  check_copies(*device, *imported);
}

TEST_CASE("pages are aligned as a GPU asks, in size too, and are zeros") {
  constexpr std::uint64_t kAlignment = 65'536;
  const Result<HostPages> pages = HostPages::map(kBytes, kAlignment);
  REQUIRE(pages);
  CHECK(pages->bytes().size() == 2 * kAlignment);
  CHECK(reinterpret_cast<std::uintptr_t>(pages->bytes().data()) % kAlignment == 0);
  CHECK(pages->bytes().back() == std::byte{0});
  for (const std::uint64_t bytes : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 62U}) {
    const Result<HostPages> none = HostPages::map(bytes, kAlignment);
    REQUIRE(!none);
    CHECK(none.error().code == ErrorCode::kNoSpace);
  }
}

TEST_CASE("what a device does not have is refused by name") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  MemoryKind unknown;
  unknown.type = 31;
  const auto nowhere = device->create_buffer(16, unknown);
  REQUIRE(!nowhere);
  CHECK(nowhere.error().code == ErrorCode::kUnsupported);
  const auto no_queue = device->run({}, kTestTimeoutNs, {.queue = device->facts().queues.size()});
  REQUIRE(!no_queue);
  CHECK(no_queue.error().code == ErrorCode::kInvalidArgument);
  const Buffer unseen = take(device->create_buffer(16, MemoryUse::kDevice));
  CHECK(!device->flush(unseen, 16));
  CHECK(!device->invalidate(unseen, 16));
  const Buffer seen = take(device->create_buffer(16, MemoryUse::kReadBack));
  CHECK(device->flush(seen, 16));
  CHECK(!device->flush(seen, 17));
}

TEST_CASE("the CPU works on while the GPU does, once a submission") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Buffer one = take(device->create_buffer(4096, MemoryUse::kDevice));
  const Buffer other = take(device->create_buffer(4096, MemoryUse::kDevice));
  const Work copy = Copy{.from = &one, .to = &other, .bytes = 4096};
  int called = 0;
  REQUIRE(device->run({&copy, 1}, kTestTimeoutNs, {.while_running = [&] { ++called; }}));
  CHECK(called == 1);
  // Refused before it is submitted: there is nothing to work beside.
  const Work wrong = Copy{.from = &one, .to = &one, .bytes = 4096};
  CHECK(!device->run({&wrong, 1}, kTestTimeoutNs, {.while_running = [&] { ++called; }}));
  CHECK(called == 1);
}

TEST_CASE("repeats without barriers between them are all done when the run ends") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Buffer buffer = take(device->create_buffer(kThreads * 4, MemoryUse::kDevice));
  const Pipeline pipeline = take(device->create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}}));
  for (const bool barriers : {true, false}) {
    const Work work = Dispatch{.pipeline = &pipeline,
                               .bindings = {.storage = {&buffer}},
                               // 0 times what was there, plus 5 or 6: the order does not matter.
                               .push = push_values<std::uint32_t>({0, barriers ? 5U : 6U, 1}),
                               .repeat = 20,
                               .barriers = barriers};
    REQUIRE(device->run({&work, 1}, kTestTimeoutNs));
    CHECK(words_in(*device, buffer) == std::vector<std::uint32_t>(kThreads, barriers ? 5U : 6U));
  }
}

}  // namespace gputrace::vulkan
