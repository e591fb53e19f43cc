#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/kernels/verify_kernels.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kDescription =
    "Checks the kernels of `gputrace roofline` and `gputrace bench`: is what their\n"
    "formulas claim what the driver compiled? verify compiles each kernel, counts the\n"
    "instructions of its assembly (FMAs, loads, stores, ...; repeats and loops\n"
    "included) and compares. Nothing runs on a GPU. With --family none is needed:\n"
    "Mesa's RADV compiles for any AMD GPU. Without it the device must show its code,\n"
    "as RADV's do.\n";

constexpr std::string_view kNotes =
    "\nKERNEL is an id of `gputrace kernels list`, or its beginning up to a dot.\n"
    "\nExamples:\n"
    "  gputrace kernels list\n"
    "  gputrace kernels verify --family gfx1103_r1\n"
    "  gputrace kernels verify --family navi21 peak\n"
    "\n"
    "Exit status: 0 when every kernel agrees with its formula; 1 when one does not,\n"
    "or on an error; 2 for a wrong command line; 3 when nothing can be verified here\n"
    "(no RADV, a family that it does not know, a driver that hides its code).\n";

constexpr int kMismatch = 1;
constexpr int kNotVerified = 3;

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace kernels", std::string(kDescription));
  options.custom_help("verify|list [OPTIONS]");
  options.positional_help("[KERNEL...]");
  options.add_options()  //
      ("family",
       "Compile for this family of AMD GPUs: gfx1103_r1, gfx1100, navi21, rembrandt, "
       "vega10, ...",
       cxxopts::value<std::string>(), "NAME")  //
      ("device", "The Vulkan device: its number, PCI address or a part of its name",
       cxxopts::value<std::string>(), "DEVICE")  //
      ("json", "Print JSON")                     //
      ("h,help", "Show this help");
  options.add_options("words")("words", "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"words"});
  return options;
}

std::string value_of(const cxxopts::ParseResult& parsed, const std::string& option) {
  return parsed.count(option) != 0 ? parsed[option].as<std::string>() : std::string();
}

Result<int> list(const std::vector<std::string>& wanted, bool json) {
  const auto kernels = select_kernels(known_kernels(), wanted);
  if (!kernels) {
    return tl::unexpected(kernels.error());
  }
  fmt::print("{}", json ? kernels_to_json(*kernels) : kernels_to_text(*kernels));
  return 0;
}

Result<int> verify(const VerifyRequest& request, bool json) {
  const Result<Verification> verification = verify_kernels(request);
  if (!verification && verification.error().code == ErrorCode::kUnsupported) {
    const std::string& why = verification.error().message;
    fmt::print("{}", json ? not_verified_to_json(why)
                          : fmt::format("Nothing is verified: {}.\n",
                                        report::escape_for_terminal(why, false)));
    return kNotVerified;
  }
  if (!verification) {
    return tl::unexpected(verification.error());
  }
  fmt::print("{}", json ? to_json(*verification) : to_text(*verification));
  return is_good(*verification) ? 0 : kMismatch;
}

}  // namespace

Result<int> run_kernels(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const auto parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (parsed->count("help") != 0) {
    fmt::print("{}{}", options.help({""}), kNotes);
    return 0;
  }
  std::vector<std::string> words;
  if (parsed->count("words") != 0) {
    words = (*parsed)["words"].as<std::vector<std::string>>();
  }
  if (words.empty() || (words.front() != "verify" && words.front() != "list")) {
    return fail(ErrorCode::kUsage,
                words.empty() ? "verify or list?"
                              : fmt::format("'{}' is neither verify nor list", words.front()));
  }
  const bool is_list = words.front() == "list";
  words.erase(words.begin());
  VerifyRequest request{value_of(*parsed, "device"), value_of(*parsed, "family"), std::move(words)};
  const bool json = parsed->count("json") != 0;
  const bool has_place = parsed->count("device") != 0 || parsed->count("family") != 0;
  if (is_list && has_place) {
    return fail(ErrorCode::kUsage, "list takes no --device and no --family");
  }
  if (parsed->count("device") != 0 && parsed->count("family") != 0) {
    return fail(ErrorCode::kUsage, "--device and --family exclude each other");
  }
  constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  if (parsed->count("family") != 0 &&
      (request.family.empty() ||
       request.family.find_first_not_of(kNameCharacters) != std::string::npos)) {
    return fail(ErrorCode::kUsage, fmt::format("'{}' names no family", request.family));
  }
  return is_list ? list(request.kernels, json) : verify(request, json);
}

}  // namespace gputrace::commands
