#include "daemon/base/mapped_region.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;

namespace {
Result<MappedRegion> map(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return MappedRegion::map_file(fd.get(), path.string());
}
}  // namespace

TEST_CASE("a mapping shows the file's bytes after the descriptor is closed and the map moved") {
  const test::TempDir folder;
  std::ofstream(folder.path() / "file") << "GRBM";
  auto mapped = map(folder.path() / "file");
  REQUIRE(mapped);
  const MappedRegion moved = std::move(*mapped);
  REQUIRE(moved.bytes().size() == 4);
  CHECK(std::memcmp(moved.bytes().data(), "GRBM", 4) == 0);
}

TEST_CASE("an empty file, a folder and a bad descriptor are errors that name the file") {
  const test::TempDir folder;
  const std::ofstream created(folder.path() / "empty");
  const auto empty = map(folder.path() / "empty");
  REQUIRE_FALSE(empty);
  CHECK(empty.error().code == ErrorCode::kCorrupt);
  CHECK(empty.error().message.find("/empty") != std::string::npos);
  const auto directory = map(folder.path());
  CHECK_FALSE(directory);
  const auto bad = MappedRegion::map_file(-1, "nothing");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "cannot stat nothing: Bad file descriptor");
}
