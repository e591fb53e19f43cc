// gputrace decode: status words, metrics tables and device folders in words.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/decode/decode_metrics.h"
#include "cli/commands/decode/decode_output.h"
#include "cli/commands/decode/decode_sysfs.h"
#include "cli/report/terminal_text.h"
#include "daemon/os/gpu_device.h"
#include "regdb/register_database.h"

namespace gputrace::commands {
namespace {

/// The Radeon 780M, also the simulated GPU.
constexpr regdb::GcVersion kAssumedGc{11, 0, 1};

constexpr std::string_view kDescription =
    R"(Says what the set bits of GPU status registers mean, or what the files of
amdgpu's sensors hold.

A WORD is 32 bits, in hex with 0x or decimal. Busy bits stand apart from clean
bits, waiting requests and numbers: those are no work. All ones is an invalid
read and is not decoded. The bits mean different things on different GPUs, so
the GC version (graphics core) decides: that of --gc, else of this machine's
GPU, else 11.0.1; the first line says which.

--gpu-metrics decodes one table of the firmware, --sysfs all sensors of a device
folder such as /sys/class/drm/card0/device, or of the one GPU in a copy of /sys.
Both also take copies from another machine, so this machine's GPU says nothing
about them; --gc does. Of a GPU that sleeps, --sysfs reads no sensor: that would
wake it.
)";

constexpr std::string_view kExamples =
    "\nExamples:\n"
    "  gputrace decode --gc 11.0.1 GRBM_STATUS=0xA0003028 GRBM_STATUS2=0x00000008\n"
    "  gputrace decode --list\n"
    "  gputrace decode --list --gc 10.3.0\n"
    "  gputrace decode --gpu-metrics device/gpu_metrics --gc 11.0.1\n"
    "  gputrace decode --sysfs device --json\n"
    "\n"
    "Exit status: 0; 1 when a word is an invalid read, the GC version is not known,\n"
    "or a file or folder holds nothing that can be decoded; 2 for a word or an\n"
    "option that makes no sense.\n";

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace decode", std::string(kDescription));
  options.custom_help("[OPTIONS]").positional_help("REGISTER=WORD...");
  options.add_options()                                                                          //
      ("gc", "GC version of the GPU, such as 11.0.1", cxxopts::value<std::string>(), "VERSION")  //
      ("list", "List the known versions and their registers; with --gc the fields of one")       //
      ("gpu-metrics", "Decode a table of amdgpu's metrics", cxxopts::value<std::string>(),
       "FILE")  //
      ("sysfs", "Decode the sensors of a device folder of amdgpu", cxxopts::value<std::string>(),
       "DIR")                 //
      ("json", "Print JSON")  //
      ("regdb", "Names and meanings of registers from *.reg files in DIR",
       cxxopts::value<std::string>(), "DIR")  //
      ("h,help", "Show this help")            //
      ("words", "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"words"});
  return options;
}

Result<std::optional<regdb::GcVersion>> parse_stated_gc(const std::optional<std::string>& stated) {
  if (!stated) {
    return std::nullopt;
  }
  const auto version = regdb::parse_gc_version(*stated);
  if (!version) {
    return fail(ErrorCode::kUsage, "--gc: " + version.error().message);
  }
  return *version;
}

struct GcChoice {
  regdb::GcVersion version;
  std::string source;
  std::string note;
};

Result<GcChoice> choose_gc(const std::optional<std::string>& stated) {
  const auto version = parse_stated_gc(stated);
  if (!version) {
    return tl::unexpected(version.error());
  }
  if (const std::optional<regdb::GcVersion>& gc = *version; gc) {
    return GcChoice{*gc, "--gc", {}};
  }
  const auto gpus = os::list_gpus({});
  const auto gpu = gpus ? os::select_gpu(*gpus, {}) : tl::unexpected(gpus.error());
  if (const auto gc = gpu ? gpu->identity.gc : std::nullopt; gc) {
    return GcChoice{*gc, "this machine",
                    fmt::format("That is {} of this machine; --gc states another.",
                                report::escape_for_terminal(gpu->identity.name, false))};
  }
  return GcChoice{
      kAssumedGc, "assumed",
      "Assumed, as this machine has no GPU that tells its version; --gc states another."};
}

Result<regdb::RegisterDatabase> open_database(const std::optional<std::string>& folder) {
  return folder ? regdb::RegisterDatabase::with_overlay(*folder)
                : regdb::RegisterDatabase::built_in();
}

Result<std::vector<ListedTable>> list_tables(const regdb::RegisterDatabase& regdb) {
  std::vector<ListedTable> tables;
  for (const auto& [version, table] : regdb.supported_versions()) {
    auto found = std::find_if(tables.begin(), tables.end(),
                              [&](const ListedTable& listed) { return listed.map.table == table; });
    if (found == tables.end()) {
      auto map = regdb.map_for_table(table);
      if (!map) {
        return tl::unexpected(map.error());
      }
      tables.push_back({{}, *std::move(map)});
      found = tables.end() - 1;
    }
    found->versions.push_back(version);
  }
  return tables;
}

Result<int> list(const regdb::RegisterDatabase& regdb, const std::optional<std::string>& gc,
                 bool json) {
  if (!gc) {
    const auto tables = list_tables(regdb);
    if (!tables) {
      return tl::unexpected(tables.error());
    }
    fmt::print("{}", json ? tables_to_json(*tables) : tables_to_text(*tables));
    return 0;
  }
  const auto choice = choose_gc(gc);
  const auto map = choice ? regdb.map_for(choice->version) : tl::unexpected(choice.error());
  if (!map) {
    return tl::unexpected(map.error());
  }
  fmt::print("{}", json ? fields_to_json(*map) : fields_to_text(*map));
  return 0;
}

Result<int> decode(const regdb::RegisterDatabase& regdb, const std::optional<std::string>& gc,
                   const std::vector<std::string>& texts, bool json) {
  const auto choice = choose_gc(gc);
  auto map = choice ? regdb.map_for(choice->version) : tl::unexpected(choice.error());
  if (!map) {
    return tl::unexpected(map.error());
  }
  std::vector<StatusWord> words;
  for (const std::string& text : texts) {
    auto word = parse_status_word(*map, text);
    if (!word) {
      return tl::unexpected(word.error());
    }
    words.push_back(*std::move(word));
  }
  const DecodeContext context{*std::move(map), choice->source, choice->note, regdb.revision()};
  fmt::print("{}", json ? decode_to_json(context, words) : decode_to_text(context, words));
  return std::any_of(words.begin(), words.end(), is_invalid_read) ? 1 : 0;
}

Result<int> decode_table(const std::string& file, const std::optional<std::string>& stated_gc,
                         bool json) {
  const auto gc = parse_stated_gc(stated_gc);
  const auto table = gc ? decode_metrics_file(file, *gc) : tl::unexpected(gc.error());
  if (!table) {
    return tl::unexpected(table.error());
  }
  fmt::print("{}", json ? metrics_to_json(*table) : metrics_to_text(*table));
  return std::any_of(table->metrics.begin(), table->metrics.end(),
                     [](const DecodedMetric& metric) { return metric.value.has_value(); })
             ? 0
             : 1;
}

Result<int> decode_folder(const std::string& folder, const std::optional<std::string>& stated_gc,
                          bool json) {
  const auto gc = parse_stated_gc(stated_gc);
  const auto decoded = gc ? decode_device_folder(folder, *gc, {}) : tl::unexpected(gc.error());
  if (!decoded) {
    return tl::unexpected(decoded.error());
  }
  fmt::print("{}", json ? folder_to_json(*decoded) : folder_to_text(*decoded));
  return std::any_of(decoded->series.begin(), decoded->series.end(),
                     [](const DecodedSeries& series) { return series.value.has_value(); })
             ? 0
             : 1;
}

/// One of REGISTER=WORD, --list, --gpu-metrics and --sysfs.
Status check_combination(const cxxopts::ParseResult& parsed) {
  std::vector<std::string> chosen;
  for (const std::string_view option : {"words", "list", "gpu-metrics", "sysfs"}) {
    if (parsed.count(std::string(option)) != 0) {
      chosen.push_back(option == "words" ? "REGISTER=WORD" : fmt::format("--{}", option));
    }
  }
  if (chosen.empty()) {
    return fail(ErrorCode::kUsage,
                "state at least one REGISTER=WORD, or --list, --gpu-metrics FILE or --sysfs DIR");
  }
  if (chosen.size() > 1) {
    return fail(ErrorCode::kUsage,
                fmt::format("{} and {} do not go together", chosen[0], chosen[1]));
  }
  const bool needs_registers = chosen[0] == "REGISTER=WORD" || chosen[0] == "--list";
  if (!needs_registers && parsed.count("regdb") != 0) {
    return fail(ErrorCode::kUsage, fmt::format("--regdb and {} do not go together", chosen[0]));
  }
  return {};
}

}  // namespace

Result<int> run_decode(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const auto parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (parsed->count("help") != 0) {
    fmt::print("{}{}", options.help(), kExamples);
    return 0;
  }
  const auto text_of = [&](const std::string& option) {
    return parsed->count(option) != 0 ? std::optional((*parsed)[option].as<std::string>())
                                      : std::nullopt;
  };
  if (const Status status = check_combination(*parsed); !status) {
    return tl::unexpected(status.error());
  }
  const bool json = parsed->count("json") != 0;
  if (const auto file = text_of("gpu-metrics")) {
    return decode_table(*file, text_of("gc"), json);
  }
  if (const auto folder = text_of("sysfs")) {
    return decode_folder(*folder, text_of("gc"), json);
  }
  const bool listing = parsed->count("list") != 0;
  const auto regdb = open_database(text_of("regdb"));
  if (!regdb) {
    return fail(regdb.error(), "--regdb");
  }
  return listing ? list(*regdb, text_of("gc"), json)
                 : decode(*regdb, text_of("gc"), (*parsed)["words"].as<std::vector<std::string>>(),
                          json);
}

}  // namespace gputrace::commands
