// Changes a session file as an attacker would: straight through SQLite, without our checks.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace gputrace::test {

inline void change_database(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &connection) == SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message);
  CHECK_MESSAGE(code == SQLITE_OK, (message == nullptr ? "" : message));
  sqlite3_free(message);
  sqlite3_close(connection);
}

}  // namespace gputrace::test
