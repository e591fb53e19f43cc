#include "daemon/base/unique_fd.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <utility>

using gputrace::UniqueFd;

namespace {
bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}
int open_null() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}
}  // namespace

TEST_CASE("a descriptor is closed with its owner, and once") {
  int number = -1;
  {
    const UniqueFd fd(open_null());
    number = fd.get();
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("moving hands the descriptor over and closes what the target held") {
  UniqueFd first(open_null());
  UniqueFd second(open_null());
  const int first_number = first.get();
  const int second_number = second.get();
  second = std::move(first);
  CHECK(second.get() == first_number);
  CHECK(is_open(first_number));
  CHECK_FALSE(is_open(second_number));
  const UniqueFd third(std::move(second));
  CHECK(third.get() == first_number);
}

TEST_CASE("a released descriptor stays open and the owner is empty") {
  UniqueFd fd(open_null());
  const UniqueFd keeper(fd.release());
  CHECK_FALSE(static_cast<bool>(fd));
  CHECK(is_open(keeper.get()));
}
