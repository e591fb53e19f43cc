#include "kernels/bench/tests/icache/straight_code.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "kernels/bench/tests/icache/spirv_module.h"
#include "tests/support/temp_dir.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kOpMask = 0xffff;

/// Instructions by opcode; every length must lead to the end.
std::map<std::uint32_t, std::size_t> opcodes(const std::vector<std::uint32_t>& words) {
  std::map<std::uint32_t, std::size_t> counts;
  std::size_t at = 5;
  while (at < words.size()) {
    const std::uint32_t length = words[at] >> 16U;
    REQUIRE(length > 0);
    ++counts[words[at] & kOpMask];
    at += length;
  }
  REQUIRE(at == words.size());
  return counts;
}

std::size_t count_of(const std::map<std::uint32_t, std::size_t>& counts, SpirvOp op) {
  const auto found = counts.find(static_cast<std::uint32_t>(op));
  return found == counts.end() ? 0 : found->second;
}

TEST_CASE("a module begins with its header, and strings are whole words") {
  SpirvModule module;
  const SpirvId id = module.new_id();
  module.add(SpirvModule::Part::kEnd, SpirvOp::kReturn, {});
  module.add(SpirvModule::Part::kHead, SpirvOp::kCapability, {1});
  module.add(SpirvModule::Part::kTypes, SpirvOp::kTypeFloat, {id, 32});
  CHECK(module.words() == std::vector<std::uint32_t>{0x07230203, 0x00010300, 0, 2, 0,
                                                     2U << 16U | 17U, 1, 3U << 16U | 22U, 1, 32,
                                                     1U << 16U | 253U});
  std::vector<std::uint32_t> words;
  SpirvModule::append_string(words, "main");
  CHECK(words == std::vector<std::uint32_t>{0x6e69616d, 0});
  words.clear();
  SpirvModule::append_string(words, "abcde");
  CHECK(words == std::vector<std::uint32_t>{0x64636261, 0x65});
}

TEST_CASE("the body has exactly the operations that were asked for") {
  for (const std::uint32_t chains : {1U, 4U}) {
    CAPTURE(chains);
    const auto adds = opcodes(straight_code({.operation = StraightOperation::kAdd,
                                             .operations = 1024,
                                             .chains = chains,
                                             .group_threads = 64}));
    CHECK(count_of(adds, SpirvOp::kFSub) == 512);
    CHECK(count_of(adds, SpirvOp::kFAdd) == 512 + 2 * chains);  // and the starts
    CHECK(count_of(adds, SpirvOp::kPhi) == 2 * chains + 1);
    const auto fmas = opcodes(straight_code({.operation = StraightOperation::kFma,
                                             .operations = 1024,
                                             .chains = chains,
                                             .group_threads = 64}));
    CHECK(count_of(fmas, SpirvOp::kExtInst) == 1024);
    CHECK(count_of(fmas, SpirvOp::kFSub) == 0);
  }
}

TEST_CASE("the same shape is the same code, and ids are below the bound and defined once") {
  const StraightShape shape{.operation = StraightOperation::kAdd, .operations = 64, .chains = 4};
  const auto words = straight_code(shape);
  CHECK(words == straight_code(shape));
  // Phis with their results: of each the type, the id, two values with their blocks.
  std::map<std::uint32_t, std::size_t> defined;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
    const auto op = static_cast<SpirvOp>(words[at] & kOpMask);
    if (op == SpirvOp::kPhi || op == SpirvOp::kFAdd || op == SpirvOp::kFSub) {
      CHECK(words[at + 2] < words[3]);
      ++defined[words[at + 2]];
    }
  }
  for (const auto& [id, times] : defined) {
    CHECK(times == 1);
  }
}

/// Exit status of the tool; absent where it is not installed.
std::optional<int> run_spirv_val(const std::filesystem::path& file) {
  std::string tool = "spirv-val";
  std::string environment = "--target-env";
  std::string version = "vulkan1.1";
  std::string path = file.string();
  std::array<char*, 5> arguments{tool.data(), environment.data(), version.data(), path.data(),
                                 nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, tool.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    return std::nullopt;
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  constexpr int kNotFound = 127;
  return code == kNotFound ? std::nullopt : std::optional(code);
}

TEST_CASE("spirv-val finds nothing wrong") {
  const test::TempDir folder;
  for (const StraightOperation operation : {StraightOperation::kAdd, StraightOperation::kFma}) {
    for (const std::uint32_t chains : {1U, 3U, 4U}) {
      const auto words = straight_code({.operation = operation,
                                        .operations = 48 * chains,
                                        .chains = chains,
                                        .group_threads = 32});
      const auto file = folder.path() / "straight.spv";
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(words.data()),  // NOLINT: words as bytes
                 static_cast<std::streamsize>(words.size() * sizeof(words[0])));
      const auto status = run_spirv_val(file);
      if (!status) {
        MESSAGE("skipped: spirv-val is not installed");
        return;
      }
      CHECK(*status == 0);
    }
  }
}

}  // namespace
}  // namespace gputrace::bench
