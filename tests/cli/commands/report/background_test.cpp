// `gputrace report --since` on the day files that background monitoring leaves.
#include <doctest/doctest.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/store/session_writer.h"
#include "tests/support/make_session.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

constexpr std::int64_t kStart = 1'790'000'000 * kNsPerSecond;  // 2026-09-21T14:13:20Z

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class DataFolder {
 public:
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path background() const { return root() / "background"; }

  void add(const std::string& gpu, const std::string& name, std::int64_t after_s,
           double seconds) const {
    std::filesystem::create_directories(background() / gpu);
    const std::filesystem::path file = background() / gpu / (name + ".gputrace");
    SessionRecipe recipe;
    recipe.seconds = seconds;
    recipe.start_realtime_ns = kStart + after_s * kNsPerSecond;
    recipe.gpu_name = gpu;
    REQUIRE(make_session(file, recipe));
  }

  [[nodiscard]] Program::Options options() const {
    Program::Options options;
    options.environment = {{"GPUTRACE_DATA_DIR", root().string()}, {"TZ", "UTC"}};
    return options;
  }
  [[nodiscard]] Finished since(const std::string& time, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{GPUTRACE_BINARY, "report", "--since", time};
    words.insert(words.end(), more.begin(), more.end());
    return Program(words, options()).finish();
  }

 private:
  TempDir folder_;
};

std::vector<nlohmann::json> documents(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    all.push_back(nlohmann::json::parse(line, nullptr, false));
    CHECK_FALSE(all.back().is_discarded());
  }
  return all;
}

TEST_CASE("since: every file that speaks for the time, in order, and only from then on") {
  const DataFolder data;
  data.add("0000:c4:00.0", "2026-09-21", 0, 10);
  data.add("0000:c4:00.0", "2026-09-22", 100, 3);
  data.add("0000:03:00.0", "2026-09-21", 4, 8);
  const Finished all = data.since("2026-09-01", {"--json"});
  CHECK(all.status() == 0);
  CHECK(documents(all.out).size() == 3);

  const Finished some = data.since("2026-09-21T14:13:26Z", {"--json"});
  CHECK(some.status() == 0);
  const std::vector<nlohmann::json> reports = documents(some.out);
  REQUIRE(reports.size() == 3);
  CHECK(reports[0]["gpu"]["name"] == "0000:c4:00.0");
  CHECK(reports[0]["sampling"]["samples"] == 4000);
  CHECK(reports[1]["gpu"]["name"] == "0000:03:00.0");
  CHECK(reports[1]["sampling"]["samples"] == 6000);
  CHECK(reports[2]["sampling"]["samples"] == 3000);

  const Finished last = data.since("2026-09-21 14:14:00");
  CHECK(last.status() == 0);
  CHECK(contains(last.out, "2026-09-21 14:15:00 UTC"));
  CHECK_FALSE(contains(last.out, "2026-09-21 14:13:2"));
}

TEST_CASE("since: a file that cannot be read is named, the others are reported") {
  const DataFolder data;
  data.add("0000:c4:00.0", "2026-09-21", 0, 2);
  std::ofstream(data.background() / "0000:c4:00.0/2026-09-20.gputrace") << "damaged";
  const Finished finished = data.since("2026-09-01", {"--json"});
  CHECK(finished.status() == 0);
  CHECK(documents(finished.out).size() == 1);
  CHECK(contains(finished.err, "2026-09-20.gputrace"));
}

TEST_CASE("since: without files it says that monitoring is off, and how to turn it on") {
  const DataFolder data;
  const Finished none = data.since("2 h ago");
  CHECK(none.status() == 1);
  CHECK(contains(none.err, "off unless"));
  CHECK(contains(none.err, "gputraced.toml"));
  data.add("0000:c4:00.0", "2026-09-21", 0, 2);
  const Finished later = data.since("2026-09-22");
  CHECK(later.status() == 1);
  CHECK(contains(later.err, "was recorded since 2026-09-22T00:00:00"));
}

TEST_CASE("since: it is neither for a file nor beside --from") {
  const DataFolder data;
  CHECK(data.since("2 h ago", {"x.gputrace"}).status() == 2);
  CHECK(data.since("2 h ago", {"--from", "1"}).status() == 2);
  CHECK(data.since("soon").status() == 2);
}

TEST_CASE(
    "since: one who is not in the group is told about it; a member reads what is being written") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can become a member of a group");
    return;
  }
  constexpr uid_t kUser = 65534;
  constexpr gid_t kGroup = 65533;
  const DataFolder data;
  std::filesystem::permissions(
      data.root(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  const std::filesystem::path folder = data.background() / "0000:c4:00.0";
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "2026-09-21.gputrace";
  SessionRecipe recipe;
  store::SessionDescription description;
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, kStart};
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(file, store::OnExisting::kRefuse, description);
  REQUIRE(writer);
  REQUIRE(writer->begin_segment(segment_of(recipe)));
  REQUIRE(writer->write_block(block_of(recipe, 0, 1000)));
  REQUIRE(writer->commit());
  for (const auto& path : {data.background(), folder}) {
    REQUIRE(::chown(path.c_str(), 0, kGroup) == 0);
    REQUIRE(::chmod(path.c_str(), 0750) == 0);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string path = file.string() + suffix;
    REQUIRE(::chown(path.c_str(), 0, kGroup) == 0);
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
  }
  for (const gid_t group : {kGroup, gid_t{kUser}}) {
    Program::Options options = data.options();
    options.before_exec = [group] {
      if (::setgroups(1, &group) != 0 || ::setresgid(kUser, kUser, kUser) != 0 ||
          ::setresuid(kUser, kUser, kUser) != 0 || ::access(GPUTRACE_BINARY, X_OK) != 0) {
        ::_exit(98);
      }
    };
    const Finished finished =
        Program({GPUTRACE_BINARY, "report", "--since", "2026-09-21", "--json"}, options).finish();
    if (finished.exit_code == 98) {
      MESSAGE("skipped: another user cannot execute " << GPUTRACE_BINARY);
      return;
    }
    if (group == kGroup) {
      CHECK(finished.status() == 0);
      CHECK(finished.err.empty());
      const auto reports = documents(finished.out);
      REQUIRE(reports.size() == 1);
      CHECK(reports[0]["sampling"]["samples"] == 1000);
    } else {
      CHECK(finished.status() == 1);
      CHECK(contains(finished.err, "usermod -aG gputrace"));
    }
  }
}

}  // namespace
}  // namespace gputrace::test
