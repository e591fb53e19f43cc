#include "cli/commands/record/record_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>
#include <limits>
#include <string_view>

#include "cli/commands/arguments.h"
#include "daemon/ipc/message.h"
#include "daemon/os/register_source.h"
#include "daemon/sampler/sampling_loop.h"
#include "daemon/simulated_gpu/simulated_gpu.h"

namespace gputrace::commands {

namespace {

constexpr std::array<std::string_view, 9> kLongWithValue{
    "output", "label", "rate", "sensor-rate", "gpu", "source", "duration", "pid", "wait"};
constexpr char kShortWithValue = 'o';
constexpr double kMaxDurationS = 1e9;

bool takes_value(std::string_view long_name) {
  for (const std::string_view name : kLongWithValue) {
    if (name == long_name) {
      return true;
    }
  }
  return false;
}

/// Appends the long option `word` and its value; returns how many words that took.
std::size_t cut_long(const std::vector<std::string>& words, std::size_t at,
                     std::vector<std::string>& options) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  const std::string_view name = std::string_view(word).substr(2, equals - 2);
  if (!takes_value(name)) {
    options.push_back(word);
    return 1;
  }
  if (equals != std::string::npos) {
    // cxxopts splits at '=' with a regex in which '.' is not a newline.
    options.push_back(word.substr(0, equals));
    options.push_back(word.substr(equals + 1));
    return 1;
  }
  options.push_back(word);
  if (at + 1 < words.size()) {
    options.push_back(words[at + 1]);
    return 2;
  }
  return 1;
}

/// The same for "-q", "-o FILE", "-oFILE" and "-qoFILE".
std::size_t cut_short(const std::vector<std::string>& words, std::size_t at,
                      std::vector<std::string>& options) {
  const std::string& word = words[at];
  for (std::size_t i = 1; i < word.size(); ++i) {
    options.push_back({'-', word[i]});
    if (word[i] != kShortWithValue) {
      continue;
    }
    if (i + 1 < word.size()) {
      options.push_back(word.substr(i + 1));
      return 1;
    }
    if (at + 1 < words.size()) {
      options.push_back(words[at + 1]);
      return 2;
    }
  }
  return 1;
}

tl::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::kUsage, std::move(message));
}

Result<double> parse_number(const std::string& text, const char* option, double min, double max,
                            const char* unit) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= min && value <= max)) {
    return usage(
        fmt::format("{} '{}' is not a number from {:g} to {:g} {}", option, text, min, max, unit));
  }
  return value;
}

Result<pid_t> parse_pid(const std::string& text) {
  pid_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value <= 0) {
    return usage(fmt::format("--pid '{}' is not a process number", text));
  }
  return value;
}

Status check_source(const RecordOptions& options) {
  if (!os::parse_register_source(options.source)) {
    return usage(
        fmt::format("--source '{}' is not one of auto, drm, debugfs and bar", options.source));
  }
  if (options.source != "auto" && simulated_gpu::is_simulated_argument(options.gpu)) {
    return usage(fmt::format("--source {} is a path to a real GPU, and --gpu {} is simulated",
                             options.source, options.gpu));
  }
  return {};
}

/// What must or must not come together.
Status check_combination(const RecordOptions& options, bool wait_given) {
  if (options.command && options.pid) {
    return usage("give either a command or --pid, not both");
  }
  if (!options.command && !options.pid && !options.duration_s) {
    return usage("nothing to record: give a command, --duration SECONDS or --pid PID");
  }
  if (!options.command && wait_given) {
    return usage("--wait says when a command has ended, and there is no command");
  }
  if (options.force && !options.output) {
    return usage("--force replaces the file that -o names, and there is no -o");
  }
  if (options.output && options.output->empty()) {
    return usage("-o needs the name of a file");
  }
  if (options.output == "-") {
    return usage("-o - : a session is a database and cannot go to standard output; name a file");
  }
  if (options.output && options.output->native().size() > ipc::kMaxPathBytes) {
    return usage(fmt::format("-o is longer than {} bytes", ipc::kMaxPathBytes));
  }
  if (options.gpu.size() > ipc::kMaxPathBytes) {
    return usage(fmt::format("--gpu is longer than {} bytes", ipc::kMaxPathBytes));
  }
  if (options.label && options.label->size() > ipc::kMaxLabelBytes) {
    return usage(fmt::format("--label is longer than {} bytes", ipc::kMaxLabelBytes));
  }
  return check_source(options);
}

cxxopts::Options make_parser() {
  cxxopts::Options parser("gputrace record");
  // clang-format off
  parser.add_options()
    ("o,output", "", cxxopts::value<std::string>())
    ("force", "")
    ("label", "", cxxopts::value<std::string>())
    ("rate", "", cxxopts::value<std::string>())
    ("sensor-rate", "", cxxopts::value<std::string>())
    ("gpu", "", cxxopts::value<std::string>())
    ("source", "", cxxopts::value<std::string>())
    ("duration", "", cxxopts::value<std::string>())
    ("pid", "", cxxopts::value<std::string>())
    ("wait", "", cxxopts::value<std::string>())
    ("no-daemon", "")
    ("q,quiet", "")
    ("h,help", "");
  // clang-format on
  return parser;
}

std::string text_or(const cxxopts::ParseResult& parsed, const char* name, const char* otherwise) {
  return parsed.count(name) > 0 ? parsed[name].as<std::string>() : otherwise;
}

/// 0 is none.
Result<double> parse_sensor_rate(const std::string& text) {
  const Result<double> rate = parse_number(text, "--sensor-rate", 0, kMaxSensorRateHz, "Hz");
  if (!rate || (*rate > 0 && *rate < kMinSensorRateHz)) {
    return usage(
        fmt::format("--sensor-rate '{}' is neither 0 (no sensors) nor a number from {:g} "
                    "to {:g} Hz",
                    text, kMinSensorRateHz, kMaxSensorRateHz));
  }
  return *rate;
}

Status read_numbers(const cxxopts::ParseResult& parsed, RecordOptions& options) {
  options.rate_hz = sampler::kDefaultRateHz;
  if (parsed.count("rate") > 0) {
    const Result<double> rate = parse_number(parsed["rate"].as<std::string>(), "--rate",
                                             sampler::kMinRateHz, sampler::kMaxRateHz, "Hz");
    if (!rate) {
      return tl::unexpected(rate.error());
    }
    options.rate_hz = *rate;
  }
  if (parsed.count("sensor-rate") > 0) {
    const Result<double> rate = parse_sensor_rate(parsed["sensor-rate"].as<std::string>());
    if (!rate) {
      return tl::unexpected(rate.error());
    }
    options.sensor_rate_hz = *rate;
  }
  if (parsed.count("duration") > 0) {
    const Result<double> duration = parse_number(parsed["duration"].as<std::string>(), "--duration",
                                                 0.001, kMaxDurationS, "seconds");
    if (!duration) {
      return tl::unexpected(duration.error());
    }
    options.duration_s = *duration;
  }
  if (parsed.count("pid") > 0) {
    const Result<pid_t> pid = parse_pid(parsed["pid"].as<std::string>());
    if (!pid) {
      return tl::unexpected(pid.error());
    }
    options.pid = *pid;
  }
  return {};
}

Result<WaitFor> read_wait(const cxxopts::ParseResult& parsed) {
  const std::string text = text_or(parsed, "wait", "child");
  if (text == "child") {
    return WaitFor::kChild;
  }
  if (text == "tree") {
    return WaitFor::kTree;
  }
  return usage(fmt::format("--wait '{}' is neither child nor tree", text));
}

}  // namespace

CutArguments cut_command(const std::vector<std::string>& arguments) {
  CutArguments cut;
  std::size_t at = 0;
  while (at < arguments.size()) {
    const std::string& word = arguments[at];
    if (word == "--") {
      cut.command.emplace(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
      return cut;
    }
    if (word.size() < 2 || word.front() != '-') {
      cut.command.emplace(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
      return cut;
    }
    at += word[1] == '-' ? cut_long(arguments, at, cut.options)
                         : cut_short(arguments, at, cut.options);
  }
  return cut;
}

Result<RecordOptions> parse_record_options(const std::vector<std::string>& arguments) {
  CutArguments cut = cut_command(arguments);
  cxxopts::Options parser = make_parser();
  const Result<cxxopts::ParseResult> parsed = parse_arguments(parser, cut.options);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  RecordOptions options;
  options.help = parsed->count("help") > 0;
  if (options.help) {
    return options;
  }
  if (cut.command && cut.command->empty()) {
    return usage("there is no command after --");
  }
  options.command = std::move(cut.command);
  options.force = parsed->count("force") > 0;
  options.quiet = parsed->count("quiet") > 0;
  options.no_daemon = parsed->count("no-daemon") > 0;
  options.gpu = text_or(*parsed, "gpu", "");
  options.source = text_or(*parsed, "source", "auto");
  if (parsed->count("output") > 0) {
    options.output = (*parsed)["output"].as<std::string>();
  }
  if (parsed->count("label") > 0) {
    options.label = (*parsed)["label"].as<std::string>();
  }
  if (const Status status = read_numbers(*parsed, options); !status) {
    return tl::unexpected(status.error());
  }
  const Result<WaitFor> wait = read_wait(*parsed);
  if (!wait) {
    return tl::unexpected(wait.error());
  }
  options.wait = *wait;
  if (const Status status = check_combination(options, parsed->count("wait") > 0); !status) {
    return tl::unexpected(status.error());
  }
  return options;
}

std::string record_help() {
  return R"(Records how busy each unit of the GPU is while a command runs.

Usage: gputrace record [OPTIONS] [--] CMD [ARGUMENTS...]
       gputrace record [OPTIONS] --duration SECONDS
       gputrace record [OPTIONS] --pid PID

CMD begins at the first word that is not an option, or after `--`, and gets its
words, its terminal and its signals as it would without gputrace. Nothing is
printed while it runs; a summary follows on standard error. In Steam, set the
launch options to: gputrace record -- %command%

Output:
  -o, --output FILE    write this file; default: the command, date and time, in
                       $XDG_DATA_HOME/gputrace/sessions (~/.local/share/...)
      --force          replace FILE if it exists; a symbolic link never is
      --label TEXT     a name for the session, shown in reports
  -q, --quiet          no summary; warnings and errors stay

What is sampled:
      --gpu GPU        index, PCI address, cardN, renderDN or name of a GPU (see
                       `gputrace gpus`), or a simulated one: sim:780m,
                       sim:780m:SCENARIO, sim:780m:FILE.json
      --rate HZ        samples a second, 1 to 20000; default: 1000
      --sensor-rate HZ readings of power, clocks, temperatures and memory
                       traffic a second, 0.1 to 100; 0: none; default: 10
      --source PATH    how registers are read. auto (default): drm, and what the
                       kernel gives to root alone through debugfs, else bar.
                       drm: the kernel's ioctl, for any user. debugfs, bar (the
                       register BAR): everything that way, or fail; root only
      --no-daemon      do not ask gputraced; gputrace reads the GPU by itself

When it ends:
      --wait WHOM      child: when CMD has ended (default). tree: when its last
                       descendant has, for launchers that fork away; then Ctrl-C
                       or SIGTERM ends the recording once CMD has ended
      --duration S     stop recording after S seconds; CMD runs on
      --pid PID        without CMD: record until this process ends
      Without CMD, Ctrl-C ends the recording too.

  -h, --help           this text

Exit status: that of CMD; 128+N when signal N ended it; 127 when CMD is not
found, 126 when it cannot be executed. 1 when recording cannot start (CMD is not
started then), 2 for a wrong command line. Without CMD: 0.

What CMD and its descendants do with GPUs is read from the kernel (fdinfo) twice
a second. Without --gpu the recording goes on with another GPU, once, when they
turn out to work on that one. Opening a GPU does not count, work does.

Where gputraced runs and lets you (`gputrace status`), it samples: it may read
registers that only root can, and recordings of several users share its reads.
The file is yours all the same and has the same name and place. Without it,
with a simulated GPU and under sudo, gputrace samples by itself. Should
gputraced end meanwhile, CMD goes on and the recording ends there.

`sudo gputrace record -- CMD` runs CMD as the user who called sudo and writes
the file as that user. HOME, USER and LOGNAME of CMD are that user's again where
sudo made them root's; all else that sudo took from the environment stays away
(sudo -E keeps it).

Examples:
  gputrace record -- glxgears
  gputrace record --label "low settings" -o low.gputrace ./game --fullscreen
  gputrace record --wait=tree -- ./launcher.sh
  gputrace record --gpu sim:780m --duration 5
)";
}

}  // namespace gputrace::commands
