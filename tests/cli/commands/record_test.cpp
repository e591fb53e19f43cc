// The real program on a simulated GPU: exit statuses, words, when it ends.
#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/store/session_reader.h"
#include "tests/cli/commands/record/record_rig.h"

namespace gputrace::test {
namespace {

TEST_CASE("the exit status is the command's, and the file says it") {
  struct Row {
    std::vector<std::string> words;
    int status;
  };
  const std::vector<Row> rows{
      {{"exit", "0"}, 0},
      {{"exit", "1"}, 1},
      {{"exit", "23"}, 23},
      {{"exit", "255"}, 255},
      {{"raise", std::to_string(SIGTERM)}, 128 + SIGTERM},
      {{"raise", std::to_string(SIGKILL)}, 128 + SIGKILL},
      {{"raise", std::to_string(SIGSEGV)}, 128 + SIGSEGV},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    const RecordRig rig;
    const Finished finished = Program(rig.probe(row.words), rig.options()).finish();
    CHECK(finished.status() == row.status);
    CHECK_FALSE(finished.signal);
    const store::SessionEnd end = end_of(open_session(rig.file()));
    CHECK(end.exit_code ==
          (row.status < 256 && row.words[0] == "exit" ? std::optional(row.status) : std::nullopt));
    CHECK(end.signal == (row.words[0] == "raise" ? std::optional(row.status - 128) : std::nullopt));
  }
}

TEST_CASE("a command that is not found is 127, one that cannot be executed 126") {
  const RecordRig rig;
  const auto file = rig.folder() / "not-executable";
  std::ofstream(file) << "text";
  for (const auto& [word, status] :
       std::vector<std::pair<std::string, int>>{{"gputrace-no-such-command", 127},
                                                {"", 127},
                                                {(rig.folder() / "missing").string(), 127},
                                                {file.string(), 126},
                                                {rig.folder().string(), 126}}) {
    CAPTURE(word);
    const Finished finished = rig.run({"-o", rig.file().string(), "--", word});
    CHECK(finished.status() == status);
    CHECK(contains(finished.err, "cannot run '" + word + "'"));
    CHECK_FALSE(std::filesystem::exists(rig.file()));
  }
}

TEST_CASE("the command's words arrive byte for byte") {
  const RecordRig rig;
  const std::vector<std::string> words{"a,b", "", "--", "-o", "--force", "\xff", "x y", "a=b"};
  std::vector<std::string> command{"words"};
  command.insert(command.end(), words.begin(), words.end());
  std::string expected;
  for (const std::string& word : words) {
    expected += "<" + std::to_string(word.size()) + ":" + word + ">\n";
  }
  const Finished finished = Program(rig.probe(command), rig.options()).finish();
  CHECK(finished.out == expected);
  command.insert(command.begin(), kProbe);
  CHECK(open_session(rig.file()).description().command == command);
}

TEST_CASE("Steam's %command% with its own two -- is passed on") {
  const RecordRig rig;
  const Finished finished = Program(rig.probe({"words", "SteamLaunch", "AppId=1", "--", "entry",
                                               "--verb=run", "--", "game", "-w"}),
                                    rig.options())
                                .finish();
  CHECK(finished.out ==
        "<11:SteamLaunch>\n<7:AppId=1>\n<2:-->\n<5:entry>\n<10:--verb=run>\n<2:-->\n<4:game>\n"
        "<2:-w>\n");
}

TEST_CASE("the summary follows the command's output, says SIMULATED, and -q silences it") {
  const RecordRig rig;
  const Finished loud = Program(rig.probe({"words", "x"}), rig.options()).finish();
  CHECK(loud.out == "<1:x>\n");
  CHECK(contains(loud.err, "SIMULATED"));
  CHECK(contains(loud.err, " sample"));  // a command this short may leave time for one, or none
  CHECK(contains(loud.err, "report with: gputrace report " + rig.file().string()));
  const Finished quiet =
      rig.run({"-q", "-o", (rig.folder() / "b.gputrace").string(), "--", kProbe, "words", "x"});
  CHECK(quiet.out == "<1:x>\n");
  CHECK(quiet.err.empty());
}

TEST_CASE("without a GPU the command is not started and the message says what to do") {
  const auto gpus = os::list_gpus(os::SystemRoots{});
  if (gpus && !gpus->empty()) {
    MESSAGE("skipped: this machine has an AMD GPU");
    return;
  }
  const RecordRig rig;
  const Finished finished =
      Program({GPUTRACE_BINARY, "record", "-o", rig.file().string(), "--", kProbe, "words", "x"},
              rig.options())
          .finish();
  CHECK(finished.status() == 1);
  CHECK(finished.out.empty());
  CHECK(contains(finished.err, "no AMD GPU"));
  CHECK_FALSE(std::filesystem::exists(rig.file()));
}

TEST_CASE("a wrong command line is exit status 2 and starts nothing") {
  const RecordRig rig;
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"--rate", "0", kProbe, "words"}, {"--nonsense", kProbe, "words"}}) {
    const Finished finished = rig.run(words);
    CHECK(finished.status() == 2);
    CHECK(finished.out.empty());
    CHECK(contains(finished.err, "--help"));
  }
}

TEST_CASE("--help explains every option") {
  const Finished finished = Program({GPUTRACE_BINARY, "record", "--help"}).finish();
  CHECK(finished.status() == 0);
  for (const char* option : {"--output", "--force", "--label", "--quiet", "--gpu", "--rate",
                             "--source", "--wait", "--duration", "--pid", "127", "126"}) {
    CHECK(contains(finished.out, option));
  }
}

TEST_CASE("--duration without a command records that long and exits with 0") {
  const RecordRig rig;
  const Finished finished = rig.run({"--duration", "0.3", "-o", rig.file().string()});
  CHECK(finished.status() == 0);
  CHECK(contains(finished.err, "Ctrl-C ends it"));
  const store::SessionReader session = open_session(rig.file());
  CHECK_FALSE(session.description().command);
  CHECK_FALSE(end_of(session).exit_code);
  const std::optional<store::TimeSpan> span = session.span();
  GPUTRACE_CHECK(span.has_value());
  CHECK(span->end_ns - span->start_ns > 250 * kNsPerMs);
}

TEST_CASE("--duration with a command ends the recording, not the command") {
  const RecordRig rig;
  Program program(
      rig.command({"--duration", "0.001", "-o", rig.file().string(), "--", kProbe, "wait"}),
      rig.options());
  REQUIRE(program.read_line() == "ready");
  // The journal mode changes when the recorder has closed the file: it then opens as finished.
  const auto finished_early = [&] {
    const auto session = store::SessionReader::open(rig.file());
    return session && session->end().has_value();
  };
  while (!finished_early()) {
    REQUIRE(program.runs());
  }
  CHECK(program.runs());
  CHECK(program.finish().status() == 0);
  CHECK_FALSE(end_of(open_session(rig.file())).exit_code);
}

TEST_CASE("--pid records until that process ends") {
  const RecordRig rig;
  Program watched({kProbe, "wait"});
  REQUIRE(watched.read_line() == "ready");
  Program program(rig.command({"--pid", std::to_string(watched.pid()), "-o", rig.file().string()}),
                  rig.options());
  REQUIRE(contains(program.read_error_line(), "recording"));
  CHECK(program.runs());
  CHECK(watched.finish().status() == 0);
  CHECK(program.finish().status() == 0);
  CHECK(end_of(open_session(rig.file())).end_ns > 0);
}

TEST_CASE("--pid of gputrace itself is an error, that of a zombie ends at once") {
  const RecordRig rig;
  const Finished itself =
      Program({"sh", "-c", R"(exec "$0" record --gpu sim:780m:idle --pid $$ -o "$1")",
               GPUTRACE_BINARY, rig.file().string()},
              rig.options())
          .finish();
  CHECK(itself.status() == 1);
  CHECK(contains(itself.err, "gputrace itself"));

  Program zombie({kProbe, "exit", "0"});
  while (zombie.runs()) {
  }
  CHECK(rig.run({"--pid", std::to_string(zombie.pid()), "-o", rig.file().string()}).status() == 0);
}

TEST_CASE("--pid of a process that does not exist is an error") {
  const RecordRig rig;
  Program gone({kProbe, "exit", "0"});
  REQUIRE(gone.finish().status() == 0);
  const Finished finished =
      rig.run({"--pid", std::to_string(gone.pid()), "-o", rig.file().string()});
  CHECK(finished.status() == 1);
  CHECK(contains(finished.err, std::to_string(gone.pid())));
}

TEST_CASE("a closed standard error costs the summary and nothing else") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [] {
    ::close(STDERR_FILENO);
    ::close(STDIN_FILENO);
  };
  CHECK(Program(rig.probe({"exit", "23"}), options).finish().status() == 23);
  CHECK(end_of(open_session(rig.file())).exit_code == 23);

  options.before_exec = [] {
    Pipe broken;
    broken.read_end.reset();
    ::dup2(broken.write_end.get(), STDERR_FILENO);
  };
  CHECK(rig.run({"--force", "-o", rig.file().string(), kProbe, "exit", "24"}).status() == 24);
}

}  // namespace
}  // namespace gputrace::test
