// The whole way through libdrm and the kernel's FUSE to the rig's render node.
#include "daemon/os/render_node.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "tests/rig/rig.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::os;       // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)

namespace {

std::unique_ptr<rig::Rig> start_or_skip(std::string_view model) {
  rig::RigOptions options;
  options.gpu = rig::find_gpu_model(model).value_or(rig::GpuModel{});
  REQUIRE(options.gpu.key == model);
  options.words =
      rig::words_from([](std::uint32_t offset, std::int64_t) { return 0xab000000U | offset; });
  auto started = rig::Rig::start(options);
  if (!started) {
    MESSAGE("skipped: " << started.error().message);
    return nullptr;
  }
  return std::move(*started);
}

GpuDevice only_gpu(const rig::Rig& rig) {
  const auto gpus = list_gpus({.sys = rig.sys(), .dev = rig.dev(), .ids = "/nowhere"});
  REQUIRE_MESSAGE(gpus, gpus.error().message);
  REQUIRE(gpus->size() == 1);
  return gpus->front();
}

OpenedRenderNode open_or_fail(const GpuDevice& gpu) {
  auto opened = open_render_node(gpu, regdb::RegisterDatabase::built_in());
  REQUIRE_MESSAGE(opened, opened.error().message);
  return std::move(*opened);
}

Error open_error(const GpuDevice& gpu) {
  const auto opened = open_render_node(gpu, regdb::RegisterDatabase::built_in());
  REQUIRE_FALSE(opened);
  return opened.error();
}

std::vector<std::string> names(const RegisterReader& reader) {
  std::vector<std::string> result;
  for (const OfferedRegister& reg : reader.registers()) {
    result.push_back(reg.name);
  }
  std::sort(result.begin(), result.end());
  return result;
}

struct Sample {
  std::vector<std::uint32_t> words;
  std::vector<SampleState> states;
  std::vector<std::uint32_t> cost_ns;

  [[nodiscard]] bool all(SampleState state) const {
    return std::count(states.begin(), states.end(), state) ==
           static_cast<std::ptrdiff_t>(states.size());
  }
};

Sample read_once(RegisterReader& reader) {
  const std::size_t count = reader.registers().size();
  Sample sample{std::vector<std::uint32_t>(count), std::vector<SampleState>(count),
                std::vector<std::uint32_t>(count)};
  reader.read(monotonic_now_ns(), {sample.words, sample.states, sample.cost_ns});
  return sample;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the 780M offers STATUS, STATUS2 and its one shader engine in two calls a tick") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  CHECK(names(*opened.reader) ==
        std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS_SE0"});
  CHECK(opened.notes.empty());
  CHECK(opened.shader_engines == 1);
  CHECK(opened.identity.gc == regdb::GcVersion{11, 0, 1});
  CHECK(opened.identity.pci == "0000:c4:00.0");
  CHECK(opened.identity.driver == "amdgpu 3.58");
  // From libdrm's amdgpu.ids, or from our list where that is too old.
  CHECK(opened.identity.name == "AMD Radeon 780M Graphics");

  const std::uint64_t before = rig->control().ioctls;
  const Sample sample = read_once(*opened.reader);
  CHECK(rig->control().ioctls == before + 2);
  REQUIRE(sample.all(SampleState::kValid));
  for (std::size_t i = 0; i < sample.words.size(); ++i) {
    CHECK(sample.words[i] == (0xab000000U | opened.reader->registers()[i].dword_offset));
    CHECK(opened.reader->registers()[i].source == "drm ioctl");
    CHECK(sample.cost_ns[i] > 0);
  }
}

TEST_CASE("a GPU with six shader engines offers the four that the kernel reads") {
  const auto rig = start_or_skip("rx7900xtx");
  if (!rig) {
    return;
  }
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  CHECK(names(*opened.reader) == std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2",
                                                          "GRBM_STATUS_SE0", "GRBM_STATUS_SE1",
                                                          "GRBM_STATUS_SE2", "GRBM_STATUS_SE3"});
  CHECK(opened.shader_engines == 6);
  const std::uint64_t before = rig->control().ioctls;
  CHECK(read_once(*opened.reader).all(SampleState::kValid));
  CHECK(rig->control().ioctls == before + 3);
}

TEST_CASE("every GPU that the rig knows opens with the GC version it has") {
  for (const rig::GpuModel& model : rig::gpu_models()) {
    CAPTURE(std::string(model.key));
    const auto rig = start_or_skip(model.key);
    if (!rig) {
      return;
    }
    OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
    CHECK(opened.identity.gc == model.gc);
    CHECK(read_once(*opened.reader).all(SampleState::kValid));
  }
}

TEST_CASE("a register that this kernel refuses is left out and noted") {
  const auto rig = start_or_skip("rx7900xtx");
  if (!rig) {
    return;
  }
  rig->control().denied_offset = 0x2005;
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  CHECK(names(*opened.reader).size() == 5);
  REQUIRE(opened.notes.size() == 1);
  CHECK(has(opened.notes[0], "GRBM_STATUS_SE0 (0x2005)"));
  CHECK(read_once(*opened.reader).all(SampleState::kValid));
}

TEST_CASE("a suspended device is neither opened nor read, and not woken") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  const GpuDevice gpu = only_gpu(*rig);
  OpenedRenderNode opened = open_or_fail(gpu);
  rig->control().suspended = 1;
  const Error error = open_error(gpu);
  CHECK(error.code == ErrorCode::kBusy);
  CHECK(has(error.message, "asleep"));
  CHECK(is_asleep(only_gpu(*rig).runtime_status));
  CHECK(read_once(*opened.reader).all(SampleState::kAsleep));
  CHECK(rig->control().touched_while_suspended == 0);
  CHECK(rig->control().suspended == 1);
}

TEST_CASE("a reset, all ones and an unplugged device are told apart while reading") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  rig->control().read_errno = ENOENT;
  CHECK(read_once(*opened.reader).all(SampleState::kReset));
  rig->control().read_errno = EIO;
  CHECK(read_once(*opened.reader).all(SampleState::kReadError));
  CHECK(has(opened.reader->last_error(), "Input/output error"));
  rig->control().read_errno = 0;
  rig->control().all_ones = 1;
  CHECK(read_once(*opened.reader).words == std::vector<std::uint32_t>(3, 0xffffffff));
  rig->control().all_ones = 0;
  CHECK(read_once(*opened.reader).all(SampleState::kValid));
  rig->control().unplugged = 1;
  CHECK(read_once(*opened.reader).all(SampleState::kLost));
  CHECK(opened.reader->drop_lost().size() == 3);
  CHECK(opened.reader->registers().empty());
  const auto gpus = list_gpus({.sys = rig->sys(), .dev = rig->dev(), .ids = "/nowhere"});
  REQUIRE(gpus);
  CHECK(gpus->empty());
}

TEST_CASE("a register refused in mid-run takes its call's registers with it, the others go on") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  rig->control().denied_offset = 0x2002;
  static_cast<void>(read_once(*opened.reader));
  const auto lost = opened.reader->drop_lost();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].name == "GRBM_STATUS2");
  CHECK(read_once(*opened.reader).all(SampleState::kValid));
}

TEST_CASE("a server that dies behind the node loses all registers") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  OpenedRenderNode opened = open_or_fail(only_gpu(*rig));
  rig->kill_server();
  CHECK(read_once(*opened.reader).all(SampleState::kLost));
  const auto lost = opened.reader->drop_lost();
  REQUIRE(lost.size() == 3);
  CHECK(has(lost[0].reason, "renderD128"));
}

TEST_CASE("a kernel without register reads is unsupported") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  rig->control().no_read_mmr = 1;
  const Error error = open_error(only_gpu(*rig));
  CHECK(error.code == ErrorCode::kUnsupported);
  CHECK(has(error.message, "READ_MMR_REG"));
}

TEST_CASE("a GPU that is being reset is busy, not missing") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  rig->control().read_errno = ENOENT;
  const Error error = open_error(only_gpu(*rig));
  CHECK(error.code == ErrorCode::kBusy);
  CHECK(has(error.message, "being reset"));
}

TEST_CASE("no permission names the file, its group and what to type") {
  const auto rig = start_or_skip("780m");
  if (!rig) {
    return;
  }
  rig->control().open_errno = EACCES;
  const Error error = open_error(only_gpu(*rig));
  CHECK(error.code == ErrorCode::kPermissionDenied);
  CHECK(has(error.message, rig->render_node().string()));
  CHECK(has(error.message, "Permission denied"));
  CHECK(has(error.message, "sudo usermod -aG "));
  CHECK_FALSE(has(error.message, "-aG root"));
}

TEST_CASE("what is no render node is refused with its path") {
  GpuDevice gpu;
  gpu.card = "card0";
  CHECK(open_error(gpu).code == ErrorCode::kUnsupported);
  CHECK(has(open_error(gpu).message, "card0 has no render node"));

  gpu.render_node = "/nowhere/renderD128";
  CHECK(open_error(gpu).code == ErrorCode::kNotFound);
  CHECK(has(open_error(gpu).message, "/nowhere/renderD128"));

  const test::TempDir folder;
  gpu.render_node = folder.path() / "renderD128";
  std::ofstream(gpu.render_node) << "a plain file";
  CHECK(has(open_error(gpu).message, gpu.render_node.string()));
}
