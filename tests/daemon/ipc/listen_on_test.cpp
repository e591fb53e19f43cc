#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "daemon/ipc/control_server.h"
#include "tests/daemon/ipc/control_support.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::ipc {
namespace {

using test::error_text;

constexpr auto kOwnGroup = static_cast<gid_t>(-1);

struct stat look_at(const std::filesystem::path& path) {
  struct stat info{};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info;
}

TEST_CASE("the socket is for its group alone, whatever the umask, which stays") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const mode_t before = ::umask(0);
  const Result<UniqueFd> listener = listen_on(path, kOwnGroup);
  CHECK(::umask(before) == 0);
  REQUIRE_MESSAGE(listener, error_text(listener));
  CHECK((look_at(path).st_mode & 07777U) == 0660U);
  CHECK(connect_raw(path));
}

TEST_CASE("the socket is given to the group that is asked for") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const gid_t group = ::geteuid() == 0 ? 4321 : ::getegid();
  const Result<UniqueFd> listener = listen_on(path, group);
  REQUIRE_MESSAGE(listener, error_text(listener));
  CHECK(look_at(path).st_gid == group);
}

TEST_CASE("a group that may not be given leaves no socket behind") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may give files to any group");
    return;
  }
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const Result<UniqueFd> listener = listen_on(path, 0);
  REQUIRE_FALSE(listener);
  CHECK(listener.error().code == ErrorCode::kPermissionDenied);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a socket that nobody listens on any more is replaced, one in use is not") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  {
    const Result<UniqueFd> first = listen_on(path, kOwnGroup);
    REQUIRE(first);
    const Result<UniqueFd> second = listen_on(path, kOwnGroup);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::kBusy);
    CHECK(second.error().message.find(path.string()) != std::string::npos);
    CHECK(connect_raw(path));
  }
  CHECK_FALSE(connect_raw(path));
  const Result<UniqueFd> third = listen_on(path, kOwnGroup);
  REQUIRE_MESSAGE(third, error_text(third));
  CHECK(connect_raw(path));
}

TEST_CASE("a socket of another kind that is in use is not replaced") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  const UniqueFd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.native().size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  REQUIRE(::bind(stream.get(), generic, sizeof(address)) == 0);
  REQUIRE(::listen(stream.get(), 1) == 0);
  CHECK(listen_on(path, kOwnGroup).error().code == ErrorCode::kBusy);
}

TEST_CASE("a file or symbolic link of that name is left alone") {
  const test::TempDir dir;
  const auto path = dir.path() / "socket";
  std::ofstream(path) << "precious";
  CHECK(listen_on(path, kOwnGroup).error().code == ErrorCode::kExists);
  CHECK(std::filesystem::file_size(path) == 8);
  const auto link = dir.path() / "link";
  std::filesystem::create_symlink(dir.path() / "elsewhere", link);
  CHECK(listen_on(link, kOwnGroup).error().code == ErrorCode::kExists);
  CHECK_FALSE(std::filesystem::exists(dir.path() / "elsewhere"));
}

TEST_CASE("a path that cannot be a socket's is refused with the reason") {
  const test::TempDir dir;
  const auto too_long = listen_on(dir.path() / std::string(200, 'x'), kOwnGroup);
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().code == ErrorCode::kInvalidArgument);
  CHECK(too_long.error().message.find("107") != std::string::npos);
  CHECK(listen_on("", kOwnGroup).error().code == ErrorCode::kInvalidArgument);
  CHECK(listen_on(dir.path() / "no" / "socket", kOwnGroup).error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace gputrace::ipc
