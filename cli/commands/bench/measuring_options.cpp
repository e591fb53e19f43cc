#include "cli/commands/bench/measuring_options.h"

#include "cli/commands/text_options.h"

namespace gputrace::commands {

void add_measuring_options(cxxopts::Options& parser) {
  const auto text = [](const char* usual) {
    return cxxopts::value<std::string>()->default_value(usual);
  };
  // clang-format off
  parser.add_options()
    ("device", "", text(""))
    ("gpu", "", text(""))
    ("quick", "")
    ("json", "")
    ("no-save", "")
    ("color", "", text("auto"))
    ("ascii", "");
  // clang-format on
}

Status take_measuring_options(const cxxopts::ParseResult& parsed, MeasuringOptions& options) {
  options.device = parsed["device"].as<std::string>();
  options.gpu = parsed["gpu"].as<std::string>();
  options.quick = parsed.count("quick") > 0;
  options.json = parsed.count("json") > 0;
  options.save = parsed.count("no-save") == 0;
  const auto text = text_options(parsed["color"].as<std::string>(), parsed.count("ascii") > 0);
  if (!text) {
    return tl::unexpected(text.error());
  }
  options.text = *text;
  return {};
}

}  // namespace gputrace::commands
