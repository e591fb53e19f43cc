// Runs the real `gputrace record` on an idle simulated GPU, in folders of the test's own.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/session_reader.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline const std::string kProbe = GPUTRACE_PROBE;

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Of a file that must open.
inline store::SessionReader open_session(const std::filesystem::path& file) {
  Result<store::SessionReader> session = store::SessionReader::open(file);
  REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  return std::move(*session);
}

/// Of a session that must be finished.
inline store::SessionEnd end_of(const store::SessionReader& session) {
  const std::optional<store::SessionEnd>& end = session.end();
  GPUTRACE_CHECK(end.has_value());
  return *end;
}

inline store::SessionEnd session_end(const std::filesystem::path& file) {
  return end_of(open_session(file));
}

class RecordRig {
 public:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "a.gputrace"; }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path sessions() const {
    return folder_.path() / "gputrace/sessions";
  }

  [[nodiscard]] Program::Options options() const {
    Program::Options options;
    options.environment = {{"XDG_DATA_HOME", folder_.path().string()},
                           {"XDG_CACHE_HOME", folder_.path().string()},
                           {"HOME", folder_.path().string()},
                           {"GPUTRACE_SOCKET", (folder_.path() / "no-daemon").string()}};
    return options;
  }

  /// gputrace record --gpu sim:780m:idle `words`...
  [[nodiscard]] static std::vector<std::string> command(const std::vector<std::string>& words) {
    std::vector<std::string> all{GPUTRACE_BINARY, "record", "--gpu", "sim:780m:idle"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  /// ... -o FILE -- PROBE `words`...
  [[nodiscard]] std::vector<std::string> probe(const std::vector<std::string>& words) const {
    std::vector<std::string> all = command({"-o", file().string(), "--", kProbe});
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  [[nodiscard]] Finished run(const std::vector<std::string>& words) const {
    return Program(command(words), options()).finish();
  }

 private:
  TempDir folder_;
};

}  // namespace gputrace::test
