// One hour at 1 kHz with three registers: how long `gputrace import` and `gputrace report` take and
// how much memory they need. Usage: bench_import GPUTRACE [FOLDER]; FOLDER should be on the disk
// that sessions go to.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace gputrace {
namespace {

constexpr std::int64_t kRows = 3'600'000;
constexpr double kMegabyte = 1e6;

/// Status words whose bits change on their own, each busy about half of the time, every 0.5 to 8
/// ms.
class Words {
 public:
  std::array<std::uint32_t, 3> next() {
    constexpr std::array<std::uint32_t, 3> kBits = {0xf7f0c000, 0x33f30000, 0x00000fe6};
    for (std::size_t reg = 0; reg < words_.size(); ++reg) {
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        const double mean_ms = 0.5 + 7.5 * bit / 31;
        if (((kBits[reg] >> bit) & 1U) != 0 && uniform_(random_) < 0.5 / mean_ms) {
          words_[reg] ^= 1U << bit;
        }
      }
    }
    return words_;
  }

 private:
  std::mt19937 random_{1};
  std::uniform_real_distribution<double> uniform_;
  std::array<std::uint32_t, 3> words_{};
};

void write_csv(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                             std::fclose);
  GPUTRACE_CHECK(file != nullptr);
  fmt::print(file.get(),
             "# gputrace-regs v1\n# gc=11.0.1\n# rate_hz=1000\n"
             "time_ns,GRBM_STATUS,GRBM_STATUS2,GRBM_STATUS3\n");
  Words words;
  std::mt19937 random(2);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto [status, status2, status3] = words.next();
    fmt::print(
        file.get(), "{},0x{:08x},0x{:08x},0x{:08x}\n",
        1'000 * kNsPerSecond + row * kNsPerMs + static_cast<std::int64_t>(random() % 1'000'000),
        status, status2, status3);
  }
}

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
  double peak_mb = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Runs a command with its output thrown away.
Cost run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const std::int64_t start_ns = monotonic_now_ns();
  pid_t pid = 0;
  GPUTRACE_CHECK(::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage{};
  GPUTRACE_CHECK(::wait4(pid, &status, 0, &usage) == pid);
  GPUTRACE_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return {static_cast<double>(monotonic_now_ns() - start_ns) * 1e-9,
          seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) * 1024 / kMegabyte};
}

void print(const char* what, const Cost& cost) {
  fmt::print("{:<8} {:7.3f} s wall, {:7.3f} s CPU, peak {:6.1f} MB\n", what, cost.wall_s,
             cost.cpu_s, cost.peak_mb);
}

}  // namespace
}  // namespace gputrace

int main(int argc, char** argv) {
  using namespace gputrace;
  if (argc < 2) {
    std::fputs("usage: bench_import GPUTRACE [FOLDER]\n", stderr);
    return 2;
  }
  const std::string program = argv[1];
  const std::filesystem::path parent = argc > 2 ? argv[2] : std::filesystem::temp_directory_path();
  std::string folder = parent / "gputrace-bench-XXXXXX";
  GPUTRACE_CHECK(::mkdtemp(folder.data()) != nullptr);
  const std::filesystem::path csv = std::filesystem::path(folder) / "hour.csv";
  const std::filesystem::path session = std::filesystem::path(folder) / "hour.gputrace";
  write_csv(csv);
  const Cost import = run({program, "import", csv.string(), "-o", session.string()});
  const Cost report = run({program, "report", session.string()});
  fmt::print("{} rows of 3 registers, {:.0f} MB of CSV in {}\n", kRows,
             static_cast<double>(std::filesystem::file_size(csv)) / kMegabyte, folder);
  print("import", import);
  print("report", report);
  fmt::print("session  {:.1f} MB, {:.2f} bytes a tick\n",
             static_cast<double>(std::filesystem::file_size(session)) / kMegabyte,
             static_cast<double>(std::filesystem::file_size(session)) / kRows);
  fmt::print("wanted: import under 10 s, report under 0.5 s and 100 MB\n");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
