// The kernel's account of a DRM client.
#include "cli/commands/record/drm_fdinfo.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/cli/commands/record/fake_proc.h"

namespace gputrace::commands {
namespace {

using test::fixture_text;

std::string fdinfo(const std::string& line) {
  return "drm-driver:\tamdgpu\n" + line + "\n";
}

std::optional<std::uint64_t> vram(const std::string& value) {
  return parse_drm_fdinfo(fdinfo("drm-memory-vram:\t" + value)).value().vram_bytes;
}

TEST_CASE("the text of a kernel with memory alone is read") {
  const DrmFdinfo info = parse_drm_fdinfo(fixture_text("amdgpu_old.txt")).value();
  CHECK(info.driver == "amdgpu");
  CHECK(info.pdev == "0000:08:00.0");
  CHECK(info.client_id == 217);
  CHECK(info.vram_bytes == 2068 * 1024);
  CHECK(info.gtt_bytes == 8192 * 1024);
  CHECK(info.engine_ns == std::map<std::string, std::uint64_t>{{"gfx", 107'322'799}});
}

TEST_CASE("of a newer kernel the memory that is resident counts, not what was asked for") {
  const DrmFdinfo info = parse_drm_fdinfo(fixture_text("amdgpu_new.txt")).value();
  CHECK(info.client_id == 48);
  CHECK(info.vram_bytes == std::uint64_t{1'032'192} * 1024);
  CHECK(info.gtt_bytes == 10 * 1024 * 1024);
  CHECK(info.engine_ns ==
        std::map<std::string, std::uint64_t>{
            {"gfx", 123'456'789'012}, {"compute", 4321}, {"dma", 98'765}, {"enc_1", 17}});
}

TEST_CASE("another driver is named, and its capacities are no engines") {
  const DrmFdinfo info = parse_drm_fdinfo(fixture_text("i915.txt")).value();
  CHECK(info.driver == "i915");
  CHECK(info.engine_ns == std::map<std::string, std::uint64_t>{
                              {"render", 25'662'044'495}, {"copy", 0}, {"video", 0}});
  CHECK_FALSE(info.vram_bytes);
}

TEST_CASE("a file that is none of DRM, or of a kernel that does not say so, is nothing") {
  CHECK_FALSE(parse_drm_fdinfo(""));
  CHECK_FALSE(parse_drm_fdinfo("pos:\t0\nflags:\t0100002\nmnt_id:\t25\n"));
  CHECK_FALSE(parse_drm_fdinfo("drm-pdev:\t0000:08:00.0\ndrm-client-id:\t1\n"));
  CHECK_FALSE(parse_drm_fdinfo("drm-driver:\t\n"));
  CHECK_FALSE(parse_drm_fdinfo("drm-driver:\tam\x1b[2Jdgpu\n"));
}

TEST_CASE("sizes have the unit that they name, and one that is not known is no size") {
  CHECK(vram("4096") == 4096);
  CHECK(vram("3 KiB") == 3 * 1024);
  CHECK(vram("  3\tMiB ") == 3 * 1024 * 1024);
  for (const char* value :
       {"", "KiB", "3 kB", "-3 KiB", "3.5 MiB", "3KiB", "0x10 KiB", "9223372036854775808",
        "9223372036854775807 KiB", "99999999999999999999999 KiB"}) {
    CAPTURE(value);
    CHECK_FALSE(vram(value));
  }
}

TEST_CASE("total stands for a driver that does not tell what is resident") {
  CHECK(parse_drm_fdinfo(fdinfo("drm-total-vram:\t5 KiB")).value().vram_bytes == 5 * 1024);
  CHECK(parse_drm_fdinfo(fdinfo("drm-total-gtt:\t5 KiB\ndrm-resident-gtt:\t0")).value().gtt_bytes ==
        0);
}

TEST_CASE("engine times in another unit, or with another name, are left out") {
  for (const char* line :
       {"drm-engine-gfx:\t12", "drm-engine-gfx:\t12 us", "drm-engine-gfx:\t-12 ns",
        "drm-engine-gfx:\t1e3 ns", "drm-engine-:\t12 ns", "drm-engine-GFX:\t12 ns",
        "drm-engine-gfx 12 ns", "drm-engine-gfx:\t9223372036854775808 ns"}) {
    CAPTURE(line);
    CHECK(parse_drm_fdinfo(fdinfo(line)).value().engine_ns.empty());
  }
}

TEST_CASE("engines that share a name add up, and one that would overflow is left out") {
  const auto gfx_ns = [](const std::string& second) {
    return parse_drm_fdinfo(fdinfo("drm-engine-dec:\t10 ns\ndrm-engine-dec:\t" + second + " ns"))
        .value()
        .engine_ns.at("dec");
  };
  CHECK(gfx_ns("32") == 42);
  CHECK(gfx_ns("9223372036854775807") == 10);
}

TEST_CASE("no more engines are taken than a message has room for") {
  std::string text = fdinfo("");
  for (int i = 0; i < 100; ++i) {
    text += "drm-engine-ring_" + std::to_string(i) + ":\t1 ns\n";
  }
  CHECK(parse_drm_fdinfo(text).value().engine_ns.size() == 16);
}

TEST_CASE("ids and addresses that make no sense are absent") {
  const DrmFdinfo info =
      parse_drm_fdinfo(fdinfo("drm-client-id:\t12 apples\ndrm-pdev:\t../../etc")).value();
  CHECK_FALSE(info.client_id);
  CHECK(info.pdev.empty());
}

}  // namespace
}  // namespace gputrace::commands
