// The message of a Result for REQUIRE_MESSAGE. doctest evaluates messages of successes too (-s),
// and there error() must not be called.
#pragma once

#include <string>

#include "daemon/base/result.h"

namespace gputrace::test {

template <class T>
[[nodiscard]] std::string error_text(const Result<T>& result) {
  return result ? std::string("no error") : result.error().message;
}

}  // namespace gputrace::test
