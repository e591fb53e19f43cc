// A descriptor becomes a file of the user's: whole, private, under a name that was free, or not.
#include "cli/commands/session_copy.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "daemon/base/time.h"
#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Folder {
  test::TempDir dir;
  [[nodiscard]] std::filesystem::path path(const char* name) const { return dir.path() / name; }
  [[nodiscard]] std::size_t count() const {
    const std::filesystem::directory_iterator entries(dir.path());
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }
  /// 3 MB that are not the same everywhere.
  [[nodiscard]] UniqueFd source() const {
    std::string text;
    while (text.size() < 3'000'000) {
      text += std::to_string(text.size()) + " ";
    }
    std::ofstream(path("source")) << text;
    return UniqueFd(::open(path("source").c_str(), O_RDONLY | O_CLOEXEC));
  }
};

TEST_CASE("a copy is whole and private, and nothing else is left") {
  const Folder folder;
  const UniqueFd source = folder.source();
  Result<SessionCopy> copy =
      SessionCopy::prepare(folder.path("a.gputrace"), ipc::OnExisting::kRefuse);
  REQUIRE(copy);
  CHECK(folder.count() == 1);
  const auto file = copy->copy_from(source.get(), std::nullopt);
  REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().message));
  CHECK(*file == folder.path("a.gputrace"));
  CHECK(content_of(*file) == content_of(folder.path("source")));
  struct stat info{};
  REQUIRE(::stat(file->c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  CHECK(folder.count() == 2);
}

TEST_CASE("a name that is taken, before or meanwhile, gets a number") {
  const Folder folder;
  const UniqueFd source = folder.source();
  std::ofstream(folder.path("a.gputrace")) << "first";
  Result<SessionCopy> copy =
      SessionCopy::prepare(folder.path("a.gputrace"), ipc::OnExisting::kNumber);
  REQUIRE(copy);
  std::ofstream(folder.path("a-2.gputrace")) << "second";
  const auto file = copy->copy_from(source.get(), std::nullopt);
  REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().message));
  CHECK(*file == folder.path("a-3.gputrace"));
  CHECK(content_of(folder.path("a.gputrace")) == "first");
  CHECK(content_of(folder.path("a-2.gputrace")) == "second");
  CHECK(folder.count() == 4);
}

TEST_CASE("what SQLite left beside a file of that name does not become part of the new one") {
  const Folder folder;
  const UniqueFd source = folder.source();
  std::ofstream(folder.path("a.gputrace-wal")) << "of another file";
  Result<SessionCopy> copy =
      SessionCopy::prepare(folder.path("a.gputrace"), ipc::OnExisting::kRefuse);
  REQUIRE(copy);
  REQUIRE(copy->copy_from(source.get(), std::nullopt));
  CHECK_FALSE(std::filesystem::exists(folder.path("a.gputrace-wal")));
}

TEST_CASE("links, folders and names without a file are refused at once") {
  const Folder folder;
  std::filesystem::create_symlink("nowhere", folder.path("link"));
  std::filesystem::create_directory(folder.path("folder"));
  for (const auto mode :
       {ipc::OnExisting::kRefuse, ipc::OnExisting::kReplace, ipc::OnExisting::kNumber}) {
    CHECK_FALSE(SessionCopy::prepare(folder.path("link"), mode));
    CHECK_FALSE(SessionCopy::prepare(folder.path("folder"), mode));
    CHECK_FALSE(SessionCopy::prepare(folder.path("missing/a"), mode));
    CHECK_FALSE(SessionCopy::prepare(folder.path("folder/"), mode));
  }
}

TEST_CASE("a copy that would be late leaves nothing behind") {
  const Folder folder;
  const UniqueFd source = folder.source();
  Result<SessionCopy> copy =
      SessionCopy::prepare(folder.path("a.gputrace"), ipc::OnExisting::kRefuse);
  REQUIRE(copy);
  const auto file = copy->copy_from(source.get(), monotonic_now_ns() - 1);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == ErrorCode::kBusy);
  CHECK(file.error().message.find("a.gputrace") != std::string::npos);
  CHECK(folder.count() == 1);
}

TEST_CASE("only a regular file is copied") {
  const Folder folder;
  const UniqueFd null(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  Result<SessionCopy> copy =
      SessionCopy::prepare(folder.path("a.gputrace"), ipc::OnExisting::kRefuse);
  REQUIRE(copy);
  CHECK_FALSE(copy->copy_from(null.get(), std::nullopt));
  CHECK(folder.count() == 0);
}

}  // namespace
}  // namespace gputrace::commands
