// The first steps of a session file: the file itself, its schema, its session row; and how a block
// of samples is divided for it.
#pragma once

#include <vector>

#include "daemon/store/block_codec.h"
#include "daemon/store/database.h"
#include "daemon/store/session_writer.h"

namespace gputrace::store {

/// Mode 0600, or 0640 whatever the umask says when the group shall read it; exclusive, never
/// through a symbolic link. SQLite gives the files beside it the same mode (findCreateFileMode,
/// os_unix.c).
enum class Readers { kOwner, kGroup };
[[nodiscard]] Status create_empty_file(const std::filesystem::path& path, OnExisting on_existing,
                                       Readers readers);

/// The header and the schema reach the main file before WAL begins, so that whoever finds a cut
/// file can tell from its first bytes that it is ours.
[[nodiscard]] Status lay_out_session(Database& database, const SessionDescription& description);

/// Parts of at most a second each; a part without ticks is left out unless it is the only one.
[[nodiscard]] std::vector<BlockPart> split_block(const sampler::SampleBlock& block);

}  // namespace gputrace::store
