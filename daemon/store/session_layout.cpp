#include "daemon/store/session_layout.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "daemon/base/unique_fd.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_kind.h"
#include "daemon/store/session_schema.h"

namespace gputrace::store {

namespace {

// Small pages waste little beside blobs of some kilobytes (docs/database.md, "Sizes").
constexpr int kPageSize = 512;
constexpr int kCheckpointPages = 4096;

Status insert_session(Database& database, const SessionDescription& description) {
  Result<Statement> insert = database.prepare(
      "INSERT INTO session (id, kind, label, origin, started_monotonic_ns, started_boottime_ns, "
      "started_realtime_ns) VALUES (1, ?, ?, ?, ?, ?, ?)");
  Result<Statement> word = database.prepare("INSERT INTO command_words (word) VALUES (?)");
  if (!insert || !word) {
    return tl::unexpected<Error>(insert ? word.error() : insert.error());
  }
  insert->bind(1, to_string(description.kind))
      .bind_optional(2, description.label)
      .bind(3, description.origin);
  if (description.started) {
    insert->bind(4, description.started->monotonic_ns)
        .bind(5, description.started->boottime_ns)
        .bind(6, description.started->realtime_ns);
  }
  if (Status status = insert->run(); !status) {
    return status;
  }
  for (const std::string& argument : description.command.value_or(std::vector<std::string>{})) {
    word->bind(1, argument);
    if (Status status = word->run(); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Status create_empty_file(const std::filesystem::path& path, OnExisting on_existing,
                         Readers readers) {
  if (on_existing == OnExisting::kReplace) {
    if (Status status = remove_session_file(path); !status) {
      return status;
    }
  }
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd && readers == Readers::kGroup && ::fchmod(fd.get(), 0640) != 0) {
    return fail_errno(errno, "cannot let the group read " + path.string());
  }
  if (fd) {
    return {};
  }
  const int error_number = errno;
  struct stat info{};
  if (error_number == EEXIST && ::lstat(path.c_str(), &info) == 0) {
    return fail(ErrorCode::kExists,
                S_ISREG(info.st_mode)
                    ? fmt::format("{} exists; --force replaces it", path.string())
                    : fmt::format("{} exists and is not a regular file", path.string()));
  }
  return fail_errno(error_number, "cannot create " + path.string());
}

Status lay_out_session(Database& database, const SessionDescription& description) {
  const std::string setup = fmt::format(
      "PRAGMA page_size={}; PRAGMA auto_vacuum=NONE; PRAGMA synchronous=FULL; BEGIN IMMEDIATE; "
      "PRAGMA application_id={}; PRAGMA user_version={};",
      kPageSize, kApplicationId, kSchemaVersion);
  if (Status status = database.execute(setup); !status) {
    return status;
  }
  if (Status status = create_schema(database, kSchemaVersion); !status) {
    return status;
  }
  if (Status status = insert_session(database, description); !status) {
    return status;
  }
  if (Status status = database.execute("COMMIT"); !status) {
    return status;
  }
  const Result<std::string> mode = database.scalar_text("PRAGMA journal_mode=WAL");
  if (!mode) {
    return tl::unexpected<Error>(mode.error());
  }
  if (*mode != "wal") {
    return fail(ErrorCode::kUnsupported,
                "this file system cannot hold a session being recorded (no shared memory for "
                "SQLite's write-ahead log); choose a local disk with -o");
  }
  return database.execute(fmt::format("PRAGMA wal_autocheckpoint={}", kCheckpointPages));
}

std::vector<BlockPart> split_block(const sampler::SampleBlock& block) {
  const std::int64_t last = block.size > 0 ? block.time_ns[block.size - 1] + 1 : block.start_ns;
  const BlockRow whole{block.start_ns, std::max(last, block.end_ns), block.missed,
                       block.dropped_ticks, block.size};
  const std::int64_t length = whole.end_ns - whole.start_ns;
  // One more period than a second may end up in a block of a second, because of rounding.
  if (block.size == 0 || (length <= kNsPerSecond + kCellNs && block.size <= kMaxBlockTicks)) {
    return {{whole, 0, block.size}};
  }
  std::vector<BlockPart> parts;
  std::size_t begin = 0;
  while (begin < block.size) {
    const std::int64_t second = (block.time_ns[begin] - whole.start_ns) / kNsPerSecond;
    BlockRow row;
    row.start_ns = whole.start_ns + second * kNsPerSecond;
    row.end_ns = row.start_ns + kNsPerSecond;
    std::size_t end = begin;
    while (end < block.size && block.time_ns[end] < row.end_ns && end - begin < kMaxBlockTicks) {
      ++end;
    }
    end = std::max(end, begin + 1);
    if (parts.empty()) {
      row.missed = whole.missed;
      row.dropped_ticks = whole.dropped_ticks;
    }
    parts.push_back({row, begin, end});
    begin = end;
  }
  parts.back().row.end_ns = std::min(parts.back().row.end_ns, whole.end_ns);
  return parts;
}

}  // namespace gputrace::store
