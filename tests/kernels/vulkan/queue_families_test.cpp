#include "kernels/vulkan/queue_families.h"

#include <doctest/doctest.h>

namespace gputrace::vulkan {

namespace {

constexpr QueueFamily kGraphics{
    .index = 0, .graphics = true, .compute = true, .transfer = true, .timestamp_bits = 64};
constexpr QueueFamily kCompute{
    .index = 1, .compute = true, .transfer = true, .queues = 4, .timestamp_bits = 64};
constexpr QueueFamily kVideo{.index = 2, .transfer = true, .special = true};
constexpr QueueFamily kTransfer{.index = 3, .transfer = true};

std::vector<std::uint32_t> chosen(const std::vector<QueueFamily>& families) {
  std::vector<std::uint32_t> indices;
  for (const QueueFamily& family : choose_queues(families)) {
    indices.push_back(family.index);
  }
  return indices;
}

}  // namespace

TEST_CASE("the queue that draws and computes comes first, then one of each lesser kind") {
  CHECK(chosen({kGraphics, kCompute, kVideo, kTransfer}) == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(chosen({kTransfer, kVideo, kCompute, kGraphics}) == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(chosen({kGraphics}) == std::vector<std::uint32_t>{0});
  // Two queues that draw are one kind.
  QueueFamily second = kGraphics;
  second.index = 4;
  CHECK(chosen({kGraphics, second}) == std::vector<std::uint32_t>{0});
}

TEST_CASE("an accelerator without a rasteriser computes on the only queue that it has") {
  CHECK(chosen({kCompute}) == std::vector<std::uint32_t>{1});
  CHECK(chosen({kTransfer, kCompute}) == std::vector<std::uint32_t>{1, 3});
  // Drawing on a queue that does not compute is of no use.
  QueueFamily draws_only = kGraphics;
  draws_only.compute = false;
  CHECK(chosen({draws_only, kCompute}) == std::vector<std::uint32_t>{1});
}

TEST_CASE("without a queue that computes there is none, and empty families do not count") {
  CHECK(chosen({}).empty());
  CHECK(chosen({kTransfer, kVideo}).empty());
  QueueFamily empty = kCompute;
  empty.queues = 0;
  CHECK(chosen({kGraphics, empty}) == std::vector<std::uint32_t>{0});
}

TEST_CASE("queues are named by the most that they do") {
  CHECK(name_of(kGraphics) == "graphics queue");
  CHECK(name_of(kCompute) == "compute queue");
  CHECK(name_of(kTransfer) == "transfer queue");
}

}  // namespace gputrace::vulkan
