#include "daemon/base/mapped_region.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)

namespace {

UniqueFd open_file(const std::filesystem::path& file) {
  return UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

TEST_CASE("a part of a file is mapped, wherever it begins, and shows later changes") {
  const test::TempDir folder;
  const auto file = folder.path() / "file";
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(file) << std::string(page + 100, '.') << "abc" << std::string(page, '.');
  auto region = MappedRegion::map(open_file(file).get(), page + 100, 3, "file");
  REQUIRE(region);
  REQUIRE(region->bytes().size() == 3);
  CHECK(region->bytes()[0] == std::byte{'a'});
  CHECK(region->bytes()[2] == std::byte{'c'});

  std::fstream(file, std::ios::in | std::ios::out).seekp(static_cast<long>(page) + 100) << "x";
  CHECK(region->bytes()[0] == std::byte{'x'});

  const MappedRegion moved = std::move(*region);
  CHECK(moved.bytes()[1] == std::byte{'b'});
  CHECK(region->bytes().empty());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
}

TEST_CASE("what cannot be mapped is named with its errno") {
  const test::TempDir folder;
  const UniqueFd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto region = MappedRegion::map(fd.get(), 0, 10, "the folder");
  REQUIRE_FALSE(region);
  CHECK(region.error().message.find("cannot map the folder: ") != std::string::npos);
}
