#include "kernels/vulkan/memory_kinds.h"

#include <doctest/doctest.h>

namespace gputrace::vulkan {

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

MemoryKind kind(std::uint32_t type, bool device_local, std::string_view host, std::uint64_t bytes) {
  return {.type = type,
          .device_local = device_local,
          .host_visible = !host.empty(),
          .host_coherent = host.find('o') != std::string_view::npos,
          .host_cached = host.find('c') != std::string_view::npos,
          .heap_bytes = bytes};
}

}  // namespace

TEST_CASE("a kind of memory is named by who reaches it and how") {
  CHECK(name_of(kind(0, true, "", kGiB)) == "device");
  CHECK(name_of(kind(0, true, "vo", kGiB)) == "device, mapped");
  CHECK(name_of(kind(0, true, "voc", kGiB)) == "device, cached");
  CHECK(name_of(kind(0, false, "voc", kGiB)) == "host, cached");
  CHECK(name_of(kind(0, false, "vo", kGiB)) == "host, uncached");
  CHECK(name_of(kind(0, false, "vc", kGiB)) == "host, cached, not coherent");
  CHECK(name_of(kind(0, true, "v", kGiB)) == "device, mapped, not coherent");
}

TEST_CASE("kinds that differ in their heap alone are one, of the largest heap") {
  // As RADV lists a discrete GPU with a BAR of 256 MiB.
  const std::vector<MemoryKind> all{
      kind(0, true, "", 8 * kGiB),     kind(1, true, "", kGiB / 4),
      kind(2, false, "vo", 16 * kGiB), kind(3, true, "vo", kGiB / 4),
      kind(4, true, "vo", kGiB / 4),   kind(5, false, "voc", 16 * kGiB),
      kind(6, true, "", 9 * kGiB)};
  const std::vector<MemoryKind> kinds = distinct_kinds(all);
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[0].type == 6);
  CHECK(kinds[1].type == 2);
  CHECK(kinds[2].type == 3);
  CHECK(kinds[3].type == 5);
}

TEST_CASE("a null device has no kinds of memory") {
  CHECK(distinct_kinds({}).empty());
}

}  // namespace gputrace::vulkan
