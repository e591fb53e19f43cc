#include "kernels/bench/kernel_case.h"

#include <doctest/doctest.h>

using namespace gputrace;
using bench::KernelCase;
using bench::Launch;

TEST_CASE("shader_code has SPIR-V of each shader by its file name") {
  const auto code = bench::shader_code("alu_fp32.comp:FMA");
  REQUIRE(code.size() > 5);
  CHECK(code[0] == 0x07230203);  // SPIR-V 2.3: the magic number
}

TEST_CASE("shader_code of a name that no shader has is empty") {
  CHECK(bench::shader_code("alu_fp32.comp").empty());
  CHECK(bench::shader_code("").empty());
}

TEST_CASE(
    "work of a compute case is that of all trips, threads and repeats, and what is done once") {
  KernelCase kernel;
  kernel.group_threads = 64;
  kernel.flops_per_trip = 32;
  kernel.flops_once = 3;
  kernel.read_bytes_per_trip = 16;
  kernel.read_bytes_once = 4;
  kernel.written_bytes_once = 8;
  const Launch launch{.groups = 10, .trips = 7, .repeats = 2};
  CHECK(threads_of(kernel, launch) == 640);
  CHECK(flops_of(kernel, launch) == 1280.0 * (32 * 7 + 3));
  CHECK(read_bytes_of(kernel, launch) == 1280.0 * (16 * 7 + 4));
  CHECK(written_bytes_of(kernel, launch) == 1280.0 * 8);
}

TEST_CASE("threads of a pixel case are the pixels of its target, for each time it is drawn over") {
  KernelCase kernel;
  kernel.target = vulkan::TargetDescription{.width = 1920, .height = 1080};
  CHECK(threads_of(kernel, {.groups = 3}) == 3.0 * 1920 * 1080);
}
