#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)

namespace {

/// The error of a call that must fail.
Error error_of(const std::vector<std::string>& words) {
  const Result<int> status = commands::run_report(words);
  REQUIRE_FALSE(status);
  return status.error();
}

}  // namespace

TEST_CASE("report refuses wrong command lines as usage errors") {
  const std::vector<std::vector<std::string>> wrong{{"--no-such-option"},
                                                    {"a.gputrace", "b.gputrace"},
                                                    {"--from"},
                                                    {"--from", "soon"},
                                                    {"--from", "2", "--to", "1"},
                                                    {"--from", "1", "--to", "1"},
                                                    {"--color=perhaps"},
                                                    {"--json=yes", "a", "b", "c"},
                                                    {"--html"},
                                                    {"--html", "a.html", "--json"},
                                                    {"--html", "a.html", "--since", "1 h ago"}};
  for (const std::vector<std::string>& words : wrong) {
    CAPTURE(words.front());
    CHECK(error_of(words).code == ErrorCode::kUsage);
  }
}

TEST_CASE("report names the file that it cannot open") {
  const Error error = error_of({"/nonexistent/x.gputrace"});
  CHECK(error.code == ErrorCode::kNotFound);
  CHECK(error.message.find("/nonexistent/x.gputrace") != std::string::npos);
}

TEST_CASE("report names the regdb folder that it cannot read") {
  const Error error = error_of({"--regdb", "/nonexistent/regdb", "x.gputrace"});
  CHECK(error.message.find("/nonexistent/regdb") != std::string::npos);
}

TEST_CASE("report refuses a span that begins after the session's end") {
  const test::TempDir folder;
  const std::string path = (folder.path() / "s.gputrace").string();
  REQUIRE(test::make_session(path, {}));
  const Error error = error_of({"--from", "1:00", path});
  CHECK(error.code == ErrorCode::kInvalidArgument);
  CHECK(error.message == "--from 1:00 is not inside the session, which is 2.0 s long");
}

TEST_CASE("report --html writes a page, and never over the recording") {
  const test::TempDir folder;
  const std::string path = (folder.path() / "s.gputrace").string();
  REQUIRE(test::make_session(path, {}));
  const std::string page = (folder.path() / "s.html").string();
  REQUIRE(commands::run_report({"--html", page, path}) == 0);
  std::ostringstream text;
  text << std::ifstream(page, std::ios::binary).rdbuf();
  CHECK(text.str().starts_with("<!DOCTYPE html>"));
  CHECK(text.str().find("How this was measured") != std::string::npos);
  CHECK(error_of({"--html", path, path}).code == ErrorCode::kExists);
  const std::string link = (folder.path() / "link.html").string();
  std::filesystem::create_symlink(page, link);
  CHECK(error_of({"--html", link, path}).message.find("symbolic link") != std::string::npos);
}
