// The one way in which gputrace reports failure: a fallible function returns Result<T>, callers add
// context, only main prints. "No value" is not a failure: that is std::optional in data.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace gputrace {

enum class ErrorCode {
  kNotFound,
  kPermissionDenied,
  kUnsupported,
  kBusy,
  kExists,
  kCorrupt,
  kInvalidArgument,
  kUsage,  ///< wrong command line: exit status 2 instead of 1
  kNoSpace,
  kIo,
};

/// `message` says what failed, on what and why: "cannot open /sys/...: No such file or directory".
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::kNotFound, "no GPU ...");` from any function that returns a Result.
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, std::string message);

/// Passes an error on with what was being done put in front: "cannot read session x: <message>".
[[nodiscard]] tl::unexpected<Error> fail(const Error& cause, std::string_view context);

/// The only place where errno becomes an Error: "`what`: <strerror>".
[[nodiscard]] Error error_from_errno(int error_number, std::string_view what);
[[nodiscard]] tl::unexpected<Error> fail_errno(int error_number, std::string_view what);

}  // namespace gputrace

/// A broken invariant is our fault, never the user's: say where and abort, in Release too.
#define GPUTRACE_CHECK(condition)                                                           \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "gputrace: internal error: %s at %s:%d\n", #condition, __FILE__, \
                   __LINE__);                                                               \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
