#include "daemon/base/result.h"

#include <cerrno>
#include <system_error>

namespace gputrace {

tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

tl::unexpected<Error> fail(const Error& cause, std::string_view context) {
  return fail(cause.code, std::string(context) + ": " + cause.message);
}

namespace {
ErrorCode code_from_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ESRCH:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOTTY:
      return ErrorCode::kUnsupported;
    case EBUSY:
    case EAGAIN:
    case ETXTBSY:
      return ErrorCode::kBusy;
    case EEXIST:
      return ErrorCode::kExists;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorCode::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kIo;
  }
}
}  // namespace

Error error_from_errno(int error_number, std::string_view what) {
  // std::strerror is not safe with threads; the generic category is.
  return {code_from_errno(error_number),
          std::string(what) + ": " + std::generic_category().message(error_number)};
}

tl::unexpected<Error> fail_errno(int error_number, std::string_view what) {
  return tl::unexpected<Error>(error_from_errno(error_number, what));
}

}  // namespace gputrace
