// Runs the real `gputrace record` on an idle simulated GPU, in folders of the test's own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/session_reader.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline const std::string kProbe = GPUTRACE_PROBE;

/// Of a file that must open and be finished.
inline store::SessionEnd session_end(const std::filesystem::path& file) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  GPUTRACE_CHECK(session.has_value());
  const std::optional<store::SessionEnd>& end = session->end();
  GPUTRACE_CHECK(end.has_value());
  return *end;
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
                           {"HOME", folder_.path().string()}};
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
