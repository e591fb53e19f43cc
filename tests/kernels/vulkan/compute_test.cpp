#include <doctest/doctest.h>

#include <array>

#include "kernels/vulkan/device.h"
#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/in_child.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

Pipeline count_pipeline(Device& device) {
  return take(device.create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}}));
}

}  // namespace

TEST_CASE("a shader sees its buffers, its constants and what is pushed") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  constexpr std::uint32_t kCount = 1000;
  constexpr std::uint64_t kCountBytes = std::uint64_t{kCount} * 4;
  const Buffer source = buffer_of(*device, counting(kCount, 5));
  const Buffer target = take(device->create_buffer(kCountBytes, MemoryUse::kDevice));
  const Buffer block = buffer_of(*device, counting(4, 40));
  const Buffer texels = buffer_of(*device, counting(kCount, 100));
  const Pipeline pipeline = take(device->create_pipeline(
      ComputeShader{.spirv = test_shader("double.comp"), .constants = {kThreads, 7}}));
  Dispatch dispatch{.pipeline = &pipeline,
                    .bindings = {.storage = {&source, &target}},
                    .push = push_values<std::uint32_t>({3, kCount, 0}),
                    .groups_x = (kCount + kThreads - 1) / kThreads};
  run(*device, dispatch);
  CHECK(words_in(*device, target)[0] == 5 * 7 + 3);
  CHECK(words_in(*device, target)[999] == 1004 * 7 + 3);
  dispatch.push = push_values<std::uint32_t>({3, kCount, 1});
  dispatch.bindings.uniform = &block;
  dispatch.bindings.texel = &texels;
  run(*device, dispatch);
  CHECK(words_in(*device, target)[999] == 1004 * 7 + 3 + 42 + 1099);
}

TEST_CASE("repeated dispatches wait for each other, and so does what follows them") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  constexpr std::uint32_t kCount = 256;
  constexpr std::uint64_t kCountBytes = std::uint64_t{kCount} * 4;
  const Buffer words = buffer_of(*device, counting(kCount, 0));
  const Buffer copied = take(device->create_buffer(kCountBytes, MemoryUse::kReadBack));
  const Pipeline pipeline = count_pipeline(*device);
  const Dispatch dispatch{.pipeline = &pipeline,
                          .bindings = {.storage = {&words}},
                          .push = push_values<std::uint32_t>({3, 1, 1}),
                          .groups_x = kCount / kThreads,
                          .repeat = 4};
  Dispatch other = dispatch;
  other.push = push_values<std::uint32_t>({2, 5, 1});
  other.repeat = 1;
  const std::array<Work, 3> work{dispatch, other,
                                 Copy{.from = &words, .to = &copied, .bytes = kCountBytes}};
  take(device->run(work, kTestTimeoutNs));
  const std::vector<std::uint32_t> got = words_in(*device, copied);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    CHECK(got[i] == (i * 81 + 40) * 2 + 5);
  }
}

TEST_CASE("timestamps lie within the wall clock's time, and longer work takes longer") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  if (!device->facts().timestamp_period_ns) {
    MESSAGE("skipped: the device has no timestamps");
    return;
  }
  const Buffer words = buffer_of(*device, counting(std::size_t{kThreads} * 64, 0));
  const Pipeline pipeline = count_pipeline(*device);
  Dispatch dispatch{.pipeline = &pipeline,
                    .bindings = {.storage = {&words}},
                    .push = push_values<std::uint32_t>({3, 1, 2000}),
                    .groups_x = 64};
  const RunTime brief = run(*device, dispatch);
  dispatch.repeat = 20;
  const RunTime longer = run(*device, dispatch);
  for (const RunTime& time : {brief, longer}) {
    REQUIRE(time.gpu_ns);
    REQUIRE(time.ticks);
    CHECK(*time.gpu_ns > 0);
    CHECK(*time.gpu_ns ==
          doctest::Approx(static_cast<double>(*time.ticks) * *device->facts().timestamp_period_ns));
    CHECK(*time.gpu_ns < time.wall_ns);
  }
  CHECK(*longer.gpu_ns > *brief.gpu_ns);
}

TEST_CASE("many submissions of changing bindings leave nothing behind") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const std::array<Buffer, 3> buffers{buffer_of(*device, counting(kThreads, 0)),
                                      buffer_of(*device, counting(kThreads, 0)),
                                      buffer_of(*device, counting(kThreads, 0))};
  const Pipeline pipeline = count_pipeline(*device);
  std::vector<Work> work;
  for (int i = 0; i < 40; ++i) {  // more than the usual number of sets
    for (const Buffer& buffer : buffers) {
      work.emplace_back(Dispatch{.pipeline = &pipeline,
                                 .bindings = {.storage = {&buffer}},
                                 .push = push_values<std::uint32_t>({1, 1, 1})});
    }
  }
  constexpr std::uint32_t kRuns = 50;
  for (std::uint32_t i = 0; i < kRuns; ++i) {
    take(device->run(work, kTestTimeoutNs));
  }
  for (const Buffer& buffer : buffers) {
    CHECK(words_in(*device, buffer).back() == kThreads - 1 + kRuns * 40);
  }
}

TEST_CASE("work that no device can do is refused by name") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const DeviceFacts& facts = device->facts();
  const Buffer words = buffer_of(*device, counting(kThreads, 0));
  const Pipeline pipeline = count_pipeline(*device);
  const auto error_of = [&](const Work& work) {
    const auto result = device->run({&work, 1}, kTestTimeoutNs);
    REQUIRE(!result);
    return result.error();
  };
  if (facts.max_groups_x < ~std::uint32_t{0}) {
    const Error groups =
        error_of(Dispatch{.pipeline = &pipeline, .groups_x = facts.max_groups_x + 1});
    CHECK(groups.code == ErrorCode::kUnsupported);
    CHECK(groups.message.find(std::to_string(facts.max_groups_x)) != std::string::npos);
  }
  CHECK(error_of(Dispatch{}).code == ErrorCode::kInvalidArgument);
  CHECK(error_of(Draw{.pipeline = &pipeline}).code == ErrorCode::kInvalidArgument);
  CHECK(error_of(Copy{.from = &words, .to = &words, .bytes = 4}).code ==
        ErrorCode::kInvalidArgument);
  const auto odd_size = device->create_pipeline(ComputeShader{
      .spirv = test_shader("count.comp"), .constants = {kThreads}, .subgroup_size = 7});
  REQUIRE(!odd_size);
  CHECK(odd_size.error().code == ErrorCode::kUnsupported);
  const auto no_code = device->create_pipeline(ComputeShader{});
  REQUIRE(!no_code);
  CHECK(no_code.error().code == ErrorCode::kInvalidArgument);
  // What was refused did no harm.
  run(*device, Dispatch{.pipeline = &pipeline,
                        .bindings = {.storage = {&words}},
                        .push = push_values<std::uint32_t>({1, 1, 1})});
  CHECK(words_in(*device, words)[5] == 6);
}

TEST_CASE("a subgroup size that the device offers is granted") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Buffer words = buffer_of(*device, counting(kThreads, 0));
  for (const std::uint32_t size : device->facts().subgroup_sizes) {
    const Pipeline pipeline = take(device->create_pipeline(ComputeShader{
        .spirv = test_shader("count.comp"), .constants = {kThreads}, .subgroup_size = size}));
    run(*device, Dispatch{.pipeline = &pipeline,
                          .bindings = {.storage = {&words}},
                          .push = push_values<std::uint32_t>({1, 1, 1})});
  }
  CHECK(words_in(*device, words)[0] == device->facts().subgroup_sizes.size());
}

TEST_CASE("work that does not end in time is told, and the device is given up") {
  if (!test::lavapipe_or_skip()) {
    return;
  }
  // In a child: what still runs cannot be destroyed.
  const std::string told = test::in_child([] {
    Result<Device> device = Device::open("", false);
    if (!device) {
      return device.error().message;
    }
    const auto pipeline = device->create_pipeline(
        ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}});
    const auto words =
        device->create_buffer(std::uint64_t{kThreads} * 4096 * 4, MemoryUse::kDevice);
    if (!pipeline || !words) {
      return std::string("cannot prepare");
    }
    const Work work = Dispatch{.pipeline = &*pipeline,
                               .bindings = {.storage = {&*words}},
                               .push = push_values<std::uint32_t>({3, 1, 60'000}),
                               .groups_x = 4096,
                               .repeat = 50};
    const auto first = device->run({&work, 1}, 1000);
    const auto second = device->run({&work, 1}, kTestTimeoutNs);
    const auto third = device->create_buffer(4, MemoryUse::kDevice);
    std::string text;
    for (const ErrorCode code : {first ? ErrorCode::kIo : first.error().code,
                                 second ? ErrorCode::kIo : second.error().code,
                                 third ? ErrorCode::kIo : third.error().code}) {
      text += code == ErrorCode::kBusy ? "busy " : "other ";
    }
    return text + (first ? "" : first.error().message);
  });
  CHECK(told.starts_with("busy busy busy the GPU did not finish within"));
}

}  // namespace gputrace::vulkan
