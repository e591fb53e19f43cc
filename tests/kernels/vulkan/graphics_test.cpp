#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

Pipeline paint(Device& device, Format target, bool from_texture = false, bool blend = false) {
  return take(device.create_pipeline(PixelShader{.vertex_spirv = test_shader("triangle.vert"),
                                                 .fragment_spirv = test_shader("paint.frag"),
                                                 .constants = {from_texture ? 1U : 0U},
                                                 .target = target,
                                                 .blend = blend}));
}

/// color = (x, y, 1, 1) * scale + offset
PushConstants push(std::array<float, 4> scale, std::array<float, 4> offset) {
  return push_values<float>(
      {scale[0], scale[1], scale[2], scale[3], offset[0], offset[1], offset[2], offset[3]});
}

std::vector<std::uint8_t> bytes_in(Device& device, const RenderTarget& target) {
  return values_of<std::uint8_t>(take(device.download(target)));
}

std::vector<std::byte> texels(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>((i * 37 + i / 256) & 0xffU);
  }
  return data;
}

}  // namespace

TEST_CASE("a target holds what its pixels were painted with, row by row") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  constexpr std::uint32_t kWidth = 61;
  constexpr std::uint32_t kHeight = 33;
  const Pipeline pipeline = paint(*device, Format::kRgba8);
  const RenderTarget target =
      take(device->create_target({.width = kWidth, .height = kHeight, .format = Format::kRgba8}));
  run(*device,
      Draw{.pipeline = &pipeline,
           .target = &target,
           .push = push({1 / 255.0F, 1 / 255.0F, 0, 0}, {-0.5F / 255, -0.5F / 255, 0.2F, 1})});
  const std::vector<std::uint8_t> got = bytes_in(*device, target);
  REQUIRE(got.size() == std::size_t{kWidth} * kHeight * 4);
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      const std::uint8_t* const pixel = &got[(std::size_t{y} * kWidth + x) * 4];
      const bool good = pixel[0] == x && pixel[1] == y && pixel[2] == 51 && pixel[3] == 255;
      REQUIRE_MESSAGE(good, "pixel ", x, ", ", y);
    }
  }
}

TEST_CASE("every format of a target takes its values") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const auto first_bytes = [&](Format format) {
    const Pipeline pipeline = paint(*device, format);
    const RenderTarget target =
        take(device->create_target({.width = 8, .height = 8, .format = format}));
    run(*device, Draw{.pipeline = &pipeline,
                      .target = &target,
                      .push = push({0, 0, 0, 0}, {0.5F, 1, 2, 0.25F}),
                      .clear = false});
    return take(device->download(target));
  };
  CHECK(first_bytes(Format::kR8).size() == 64);
  CHECK(std::abs(values_of<std::uint8_t>(first_bytes(Format::kR8)).back() - 127.5) < 1);
  CHECK(values_of<std::uint16_t>(first_bytes(Format::kR16f)).back() == 0x3800);
  const auto half = values_of<std::uint16_t>(first_bytes(Format::kRgba16f));
  CHECK(std::vector(half.end() - 4, half.end()) ==
        std::vector<std::uint16_t>{0x3800, 0x3c00, 0x4000, 0x3400});
  // 5 bits of exponent, no sign; 6, 6 and 5 bits of mantissa from the lowest bit on.
  CHECK(values_of<std::uint32_t>(first_bytes(Format::kR11G11B10f)).back() ==
        ((14U << 6U) | (15U << 6U) << 11U | (16U << 5U) << 22U));
  CHECK(values_of<float>(first_bytes(Format::kRg32f)) == [] {
    std::vector<float> all;
    for (int i = 0; i < 64; ++i) {
      all.insert(all.end(), {0.5F, 1.0F});
    }
    return all;
  }());
}

TEST_CASE("a depth target takes the depth that a shader writes") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Pipeline pipeline =
      take(device->create_pipeline(PixelShader{.vertex_spirv = test_shader("triangle.vert"),
                                               .fragment_spirv = test_shader("depth.frag"),
                                               .target = Format::kD32f}));
  const RenderTarget target =
      take(device->create_target({.width = 16, .height = 4, .format = Format::kD32f}));
  // Larger and smaller than what was there: no test keeps a pixel out.
  for (const float scale : {1 / 64.0F, 1 / 32.0F, 1 / 128.0F}) {
    run(*device, Draw{.pipeline = &pipeline,
                      .target = &target,
                      .push = push({scale, scale / 4, 0, 0}, {0.125F, 0, 0, 0}),
                      .clear = false});
    const std::vector<float> got = values_of<float>(take(device->download(target)));
    REQUIRE(got.size() == 64);
    CHECK(got[0] == 0.5F * scale + 0.5F * scale / 4 + 0.125F);
    CHECK(got[63] == 15.5F * scale + 3.5F * scale / 4 + 0.125F);
  }
}

TEST_CASE("instances draw over each other, and blending mixes them") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Pipeline pipeline = paint(*device, Format::kRgba8, false, true);
  const RenderTarget target =
      take(device->create_target({.width = 4, .height = 4, .format = Format::kRgba8}));
  run(*device, Draw{.pipeline = &pipeline,
                    .target = &target,
                    .push = push({0, 0, 0, 0}, {1, 0.5F, 0, 0.5F}),
                    .instances = 3});
  const std::vector<std::uint8_t> got = bytes_in(*device, target);
  CHECK(std::abs(got[0] - 255 * 0.875) < 2.5);  // 1 - 1 / 8 of black
  CHECK(std::abs(got[1] - 255 * 0.4375) < 2.5);
  CHECK(got[2] == 0);
}

TEST_CASE("texels come out of a texture as they went in, whatever its size") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Pipeline pipeline = paint(*device, Format::kRgba8, true);
  // The last one is uploaded and downloaded in more than one part.
  for (const auto& [width, height] :
       {std::pair<std::uint32_t, std::uint32_t>{1, 1}, {37, 5}, {2100, 2099}}) {
    const std::vector<std::byte> data = texels(std::size_t{width} * height * 4);
    const Texture texture = take(device->create_texture({.width = width, .height = height}, data));
    const RenderTarget target =
        take(device->create_target({.width = width, .height = height, .format = Format::kRgba8}));
    run(*device,
        Draw{.pipeline = &pipeline,
             .target = &target,
             .image = &texture,
             .push = push({1 / static_cast<float>(width), 1 / static_cast<float>(height), 0, 0},
                          {0, 0, 0, 0})});
    CHECK(take(device->download(target)) == data);
  }
}

TEST_CASE("a bilinear texture mixes four texels and repeats at its edges") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  std::vector<std::byte> data(16);
  data[0] = std::byte{200};  // red of one texel in four
  const Pipeline pipeline = paint(*device, Format::kRgba8, true);
  const RenderTarget target =
      take(device->create_target({.width = 2, .height = 2, .format = Format::kRgba8}));
  const auto red_of_first = [&](bool bilinear, float offset) {
    const Texture texture =
        take(device->create_texture({.width = 2, .height = 2, .bilinear = bilinear}, data));
    run(*device, Draw{.pipeline = &pipeline,
                      .target = &target,
                      .image = &texture,
                      .push = push({0.5F, 0.5F, 0, 0}, {offset, offset, 0, 0})});
    return bytes_in(*device, target)[0];
  };
  CHECK(red_of_first(false, 0) == 200);
  CHECK(std::abs(red_of_first(true, 0.25F) - 50) <= 1);
  CHECK(std::abs(red_of_first(true, -0.25F) - 50) <= 1);
}

TEST_CASE("textures of half floats and of BC7 blocks are read as such") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Pipeline pipeline = paint(*device, Format::kRgba8, true);
  const RenderTarget target =
      take(device->create_target({.width = 4, .height = 4, .format = Format::kRgba8}));
  const auto painted = [&](const Texture& texture) {
    run(*device, Draw{.pipeline = &pipeline,
                      .target = &target,
                      .image = &texture,
                      .push = push({0.25F, 0.25F, 0, 0}, {0, 0, 0, 0})});
    return bytes_in(*device, target);
  };
  const std::vector<std::uint16_t> ones(16, 0x3c00);
  const Texture half = take(device->create_texture(
      {.width = 4, .height = 4, .format = Format::kR16f}, std::as_bytes(std::span(ones))));
  CHECK(painted(half)[60] == 255);
  if (!device->facts().bc_textures) {
    MESSAGE("skipped: the device has no BC textures");
    return;
  }
  // Mode 6 has its bit at 6; red's first end point follows it, of 7 bits over one shared by all
  // colours (Khronos Data Format, BPTC). The weights are 0: each texel is the first end point.
  std::vector<std::byte> block(16);
  block[0] = std::byte{0x40 | 0x80};
  const Texture bc7 =
      take(device->create_texture({.width = 4, .height = 4, .format = Format::kBc7}, block));
  const std::vector<std::uint8_t> got = painted(bc7);
  CHECK(std::vector(got.begin(), got.begin() + 4) == std::vector<std::uint8_t>{2, 0, 0, 0});
}

TEST_CASE("a dispatch after a draw is timed as one before it") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  if (!device->facts().timestamp_period_ns) {
    MESSAGE("skipped: the device has no timestamps");
    return;
  }
  const Pipeline pixels = paint(*device, Format::kRgba8);
  const RenderTarget target = take(device->create_target({.width = 64, .height = 64}));
  run(*device, Draw{.pipeline = &pixels, .target = &target});
  const Pipeline count = take(device->create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}}));
  const Buffer words = buffer_of(*device, counting(std::size_t{kThreads} * 64, 0));
  const Dispatch dispatch{.pipeline = &count,
                          .bindings = {.storage = {&words}},
                          .push = push_values<std::uint32_t>({3, 1, 2000}),
                          .groups_x = 64,
                          .repeat = 10};
  run(*device, dispatch);  // compiles
  // What is not between the timestamps is the submission; on a busy machine a thread may have to
  // wait there, but not each time.
  double best_share = 0;
  for (int i = 0; i < 10; ++i) {
    const RunTime time = run(*device, dispatch);
    REQUIRE(time.gpu_ns);
    best_share = std::max(best_share, *time.gpu_ns / time.wall_ns);
  }
  CHECK(best_share > 0.5);
}

TEST_CASE("images that cannot be are refused") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const auto code = [](const auto& result) {
    REQUIRE(!result);
    return result.error().code;
  };
  const std::uint32_t side = device->facts().max_image_side;
  CHECK(code(device->create_target({.width = side + 1, .height = 1})) == ErrorCode::kUnsupported);
  CHECK(code(device->create_target({.width = 0, .height = 1})) == ErrorCode::kInvalidArgument);
  CHECK(code(device->create_target({.width = 4, .height = 4, .format = Format::kBc7})) ==
        ErrorCode::kUnsupported);
  CHECK(code(device->create_texture({.width = 4, .height = 4}, std::vector<std::byte>(63))) ==
        ErrorCode::kInvalidArgument);
  CHECK(code(device->create_texture(
            {.width = 4, .height = 4, .format = Format::kR32ui, .bilinear = true},
            std::vector<std::byte>(64))) == ErrorCode::kUnsupported);
  const Pipeline pipeline = paint(*device, Format::kR8);
  const RenderTarget target = take(device->create_target({.width = 4, .height = 4}));
  const Work work = Draw{.pipeline = &pipeline, .target = &target};
  CHECK(code(device->run({&work, 1}, kTestTimeoutNs)) == ErrorCode::kInvalidArgument);
}

}  // namespace gputrace::vulkan
