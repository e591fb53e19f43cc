#include "cli/commands/write_document.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace gputrace {
namespace {

using commands::write_document;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("a document is written, and replaces one of its kind or an empty file") {
  const test::TempDir folder;
  const auto path = folder.path() / "a.html";
  REQUIRE(write_document(path, "<!DOCTYPE html>one"));
  CHECK(text_of(path) == "<!DOCTYPE html>one");
  REQUIRE(write_document(path, "<!DOCTYPE html>two"));
  CHECK(text_of(path) == "<!DOCTYPE html>two");
  put(path, "");
  CHECK(write_document(path, "<!DOCTYPE html>three"));
}

TEST_CASE("a recording under that name is left alone") {
  const test::TempDir folder;
  const auto path = folder.path() / "game.gputrace";
  put(path, "SQLite format 3");
  const Status refused = write_document(path, "<!DOCTYPE html>");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(refused.error().message.find("game.gputrace") != std::string::npos);
  CHECK(text_of(path) == "SQLite format 3");
  put(path, "<!");  // shorter than the beginning
  CHECK_FALSE(write_document(path, "<!DOCTYPE html>"));
}

TEST_CASE("links, folders and pipes are not written to") {
  const test::TempDir folder;
  const auto target = folder.path() / "target";
  put(target, "<!DOCTYPE html>kept");
  std::filesystem::create_symlink(target, folder.path() / "link");
  CHECK_FALSE(write_document(folder.path() / "link", "<!DOCTYPE html>"));
  CHECK(text_of(target) == "<!DOCTYPE html>kept");
  CHECK_FALSE(write_document(folder.path(), "<!DOCTYPE html>"));
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(write_document(folder.path() / "pipe", "<!DOCTYPE html>"));
  CHECK_FALSE(write_document(folder.path() / "no" / "folder.html", "<!DOCTYPE html>"));
  CHECK_FALSE(write_document("", "<!DOCTYPE html>"));
}

}  // namespace
}  // namespace gputrace
