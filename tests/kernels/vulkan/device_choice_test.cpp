#include "kernels/vulkan/device_choice.h"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/vulkan/features.h"
#include "kernels/vulkan/queue.h"

namespace gputrace::vulkan {

namespace {

std::vector<ListedDevice> three() {
  ListedDevice software;
  software.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  software.type = "CPU";
  ListedDevice integrated;
  integrated.name = "AMD Radeon 780M (RADV GFX1103_R1)";
  integrated.type = "integrated GPU";
  integrated.pci = "0000:c4:00.0";
  ListedDevice discrete;
  discrete.name = "AMD Radeon RX 7600 (RADV NAVI33)";
  discrete.type = "discrete GPU";
  discrete.pci = "0001:03:00.0";
  return {software, integrated, discrete};
}

}  // namespace

TEST_CASE("without a choice the first device that is no CPU is taken") {
  const auto devices = three();
  CHECK(choose_device(devices, "") == 1);
  CHECK(choose_device(std::span(devices).first(1), "") == 0);
}

TEST_CASE("a device is chosen by index, PCI address or a part of its name") {
  const auto devices = three();
  CHECK(choose_device(devices, "0") == 0);
  CHECK(choose_device(devices, "2") == 2);
  CHECK(choose_device(devices, "0000:c4:00.0") == 1);
  CHECK(choose_device(devices, "C4:00.0") == 1);
  CHECK(choose_device(devices, "0001:03:00.0") == 2);
  CHECK(choose_device(devices, "LLVMpipe") == 0);
  CHECK(choose_device(devices, "rx 7600") == 2);
  // A number that is no index may still be in a name.
  CHECK(choose_device(devices, "780") == 1);
  CHECK(choose_device(devices, "7600") == 2);
}

TEST_CASE("an unknown device is an error that lists the devices") {
  const auto devices = three();
  for (const char* choice : {"9", "geforce", "03:00.0", "0000:c4:00", "-1", "1 "}) {
    const auto chosen = choose_device(devices, choice);
    REQUIRE(!chosen);
    CHECK(chosen.error().code == ErrorCode::kNotFound);
    CHECK(chosen.error().message.find("1: AMD Radeon 780M (RADV GFX1103_R1) at 0000:c4:00.0") !=
          std::string::npos);
    CHECK(chosen.error().message.find("0: llvmpipe (LLVM 15.0.6, 256 bits);") != std::string::npos);
  }
  const auto none = choose_device({}, "");
  REQUIRE(!none);
  CHECK(none.error().code == ErrorCode::kNotFound);
}

TEST_CASE("a name that fits two devices is an error that lists them") {
  const auto chosen = choose_device(three(), "radv");
  REQUIRE(!chosen);
  CHECK(chosen.error().code == ErrorCode::kInvalidArgument);
  CHECK(chosen.error().message.find("RX 7600") != std::string::npos);
}

TEST_CASE("lavapipe before Mesa 25 ends shaders after 65,535 loop trips") {
  CHECK(loop_trip_limit_of("llvmpipe", "Mesa 22.3.6 (LLVM 15.0.6)") == 65'535U);
  CHECK(loop_trip_limit_of("llvmpipe", "Mesa 24.3.1 (LLVM 19.1.5)") == 65'535U);
  CHECK(!loop_trip_limit_of("llvmpipe", "Mesa 25.0.7-2 (LLVM 19.1.7)"));
  CHECK(loop_trip_limit_of("llvmpipe", "something else") == 65'535U);
  CHECK(loop_trip_limit_of("llvmpipe", "Mesa x") == 65'535U);
  CHECK(!loop_trip_limit_of("radv", "Mesa 22.3.6"));
}

TEST_CASE("ticks are counted over a wrap of the GPU's counter") {
  const TimestampScale narrow{.valid_bits = 36, .period_ns = 10};
  CHECK(narrow.ticks(5, 12) == 7);
  CHECK(narrow.ticks((std::uint64_t{1} << 36U) - 2, 3) == 5);
  // What lies above the valid bits is not defined.
  CHECK(narrow.ticks(5 | (std::uint64_t{3} << 40U), 12) == 7);
  const TimestampScale wide{.valid_bits = 64, .period_ns = 1};
  CHECK(wide.ticks(~std::uint64_t{0}, 1) == 2);
}

}  // namespace gputrace::vulkan
