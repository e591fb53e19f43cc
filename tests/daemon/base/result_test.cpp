#include "daemon/base/result.h"

#include <doctest/doctest.h>

#include <cerrno>

using namespace gputrace;

TEST_CASE("an errno becomes a code and a sentence with what was tried") {
  struct Row {
    int error_number;
    ErrorCode code;
  };
  for (const Row& row :
       {Row{ENOENT, ErrorCode::kNotFound}, Row{ENODEV, ErrorCode::kNotFound},
        Row{EACCES, ErrorCode::kPermissionDenied}, Row{EPERM, ErrorCode::kPermissionDenied},
        Row{EROFS, ErrorCode::kPermissionDenied}, Row{ENOSYS, ErrorCode::kUnsupported},
        Row{EBUSY, ErrorCode::kBusy}, Row{EEXIST, ErrorCode::kExists},
        Row{EINVAL, ErrorCode::kInvalidArgument}, Row{ENOSPC, ErrorCode::kNoSpace},
        Row{EIO, ErrorCode::kIo}, Row{EFAULT, ErrorCode::kIo}}) {
    CAPTURE(row.error_number);
    CHECK(error_from_errno(row.error_number, "x").code == row.code);
  }
  CHECK(error_from_errno(ENOENT, "cannot open /a").message ==
        "cannot open /a: No such file or directory");
}

TEST_CASE("context is put in front and the code is kept") {
  const Result<int> inner = fail_errno(EACCES, "cannot open /dev/dri/renderD128");
  const Result<int> outer = fail(inner.error(), "cannot record");
  REQUIRE_FALSE(outer);
  CHECK(outer.error().code == ErrorCode::kPermissionDenied);
  CHECK(outer.error().message ==
        "cannot record: cannot open /dev/dri/renderD128: Permission denied");
}
