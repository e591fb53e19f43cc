// Two programs that know nothing of each other read the same GPU: Debian's radeontop, unmodified,
// and gputrace's sampling loop. Both must find what the rig knows to be true.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/os/render_node.h"
#include "daemon/sampler/sampling_loop.h"
#include "tests/rig/start_or_skip.h"

namespace gputrace::rig {
namespace {

constexpr std::uint32_t kGrbmStatus = 0x2004;
constexpr std::int64_t kSlotNs = 200'000;  // shorter than a tick: samples are independent
constexpr std::uint64_t kSeed = 20'040;

// radeontop's bits are the same for every chip (detect.c); a bit a column.
struct Column {
  std::string_view name;
  unsigned bit;
  double duty;
};
constexpr auto kColumns = std::to_array<Column>({
    {"gpu", 31, 0.95},
    {"ee", 10, 0.50},
    {"vgt", 17, 0.07},
    {"sx", 20, 0.33},
    {"spi", 22, 0.61},
    {"sc", 24, 0.02},
    {"pa", 25, 0.80},
    {"db", 26, 0.45},
    {"cb", 30, 0.20},
});

std::shared_ptr<SlottedWords> column_words() {
  std::vector<SlottedBit> bits;
  bits.reserve(kColumns.size());
  for (const Column& column : kColumns) {
    bits.push_back({kGrbmStatus, column.bit, column.duty, kSlotNs});
  }
  return std::make_shared<SlottedWords>(std::move(bits), kSeed);
}

// Exit status of radeontop; absent when there is none.
std::optional<int> run_radeontop(const std::filesystem::path& node,
                                 const std::filesystem::path& dump) {
  std::vector<std::string> words{"radeontop", "-p", node.string(), "-t",         "1000",
                                 "-l",        "3",  "-d",          dump.string()};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, "radeontop", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return std::nullopt;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// "1795992846.599476: bus ff, gpu 74.10%, ee 0.00%, ..." of the last line.
std::map<std::string, double> last_percentages(const std::filesystem::path& dump) {
  std::ifstream file(dump);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    last = line;
  }
  std::map<std::string, double> result;
  std::istringstream items(last);
  for (std::string item; std::getline(items, item, ',');) {
    std::istringstream words(item);
    std::string name;
    double percent = 0;
    if (words >> name >> percent) {
      result[name] = percent / 100;
    }
  }
  return result;
}

// Busy samples of each column and samples in all, of GRBM_STATUS.
struct Tally {
  std::array<std::uint64_t, kColumns.size()> busy{};
  std::uint64_t samples = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

void add_block(Tally& tally, const sampler::SampleBlock& block, std::size_t status_index) {
  const auto words = block.words_of(status_index);
  const auto states = block.states_of(status_index);
  for (std::size_t tick = 0; tick < block.size; ++tick) {
    if (states[tick] != sampler::SampleState::kValid) {
      continue;
    }
    tally.first_ns = tally.samples == 0 ? block.time_ns[tick] : tally.first_ns;
    tally.last_ns = block.time_ns[tick];
    ++tally.samples;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      tally.busy.at(i) += (words[tick] >> kColumns.at(i).bit) & 1U;
    }
  }
}

// Samples at 1 kHz while `meanwhile` runs.
template <class Function>
Tally sample_during(sampler::RegisterReader& reader, const Function& meanwhile) {
  std::size_t status_index = 0;
  const auto offered = reader.registers();
  for (std::size_t i = 0; i < offered.size(); ++i) {
    status_index = offered[i].dword_offset == kGrbmStatus ? i : status_index;
  }
  const sampler::SamplingOptions options;
  sampler::BlockQueue queue(8, offered.size(), sampler::block_capacity(options));
  MonotonicClock clock;
  sampler::SamplingLoop loop(reader, queue, clock, options);
  Tally tally;
  std::thread counting([&] {
    while (!queue.closed()) {
      if (sampler::SampleBlock* block = queue.pop(kNsPerSecond); block != nullptr) {
        add_block(tally, *block, status_index);
        queue.release(block);
      }
    }
  });
  std::jthread sampling([&](const std::stop_token& stop) { loop.run(stop); });
  meanwhile();
  sampling.request_stop();
  sampling.join();
  counting.join();
  return tally;
}

// Five standard errors of a mean of n independent samples: one false alarm in 100,000 runs.
double five_sigma(double truth, double n) {
  return 5 * std::sqrt(truth * (1 - truth) / n);
}

}  // namespace

TEST_CASE("radeontop and gputrace agree with each other and with the truth") {
  RigOptions options;
  const auto truth = column_words();
  options.words = truth;
  const auto rig = start_or_skip(options);
  if (!rig) {
    return;
  }
  const auto gpus = os::list_gpus({rig->sys(), rig->dev()});
  REQUIRE(gpus.has_value());
  REQUIRE(gpus->size() == 1);
  const auto opened = os::open_render_node(gpus->front(), regdb::RegisterDatabase::built_in());
  REQUIRE(opened.has_value());

  const test::TempDir folder;
  const auto dump = folder.path() / "dump.txt";
  std::optional<int> status;
  const Tally tally =
      sample_during(*opened->reader, [&] { status = run_radeontop(rig->render_node(), dump); });
  if (!status || *status == 127) {
    MESSAGE("skipped: radeontop is not installed");
    return;
  }
  REQUIRE(*status == 0);
  const auto percentages = last_percentages(dump);
  REQUIRE(tally.samples > 100);

  const double radeontop_samples = 1000;  // of one dump interval at -t 1000
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const Column& column = kColumns.at(i);
    CAPTURE(column.name);
    const auto found = percentages.find(std::string(column.name));
    REQUIRE(found != percentages.end());
    const double exact = truth->true_busy(i, tally.first_ns, tally.last_ns);
    const auto n = static_cast<double>(tally.samples);
    const double ours = static_cast<double>(tally.busy.at(i)) / n;
    CHECK(std::abs(ours - exact) <= five_sigma(column.duty, n));
    // Its window is somewhere inside ours, so the two truths differ a little too; and its last
    // digit is 0.1 % of 1000 samples.
    CHECK(std::abs(found->second - exact) <=
          2 * five_sigma(column.duty, radeontop_samples) + 0.001);
    MESSAGE(column.name << ": truth " << exact << ", gputrace " << ours << " (n " << n
                        << "), radeontop " << found->second);
  }
}

}  // namespace gputrace::rig
