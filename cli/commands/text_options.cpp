#include "cli/commands/text_options.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gputrace::commands {

namespace {

bool stdout_has_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

bool locale_is_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) {
    return false;
  }
  const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return utf8;
}

/// 80 for pipes and most terminals; over 100 columns bars grow, below 80 they shrink.
std::size_t text_width() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return kUsual;
  }
  const std::size_t columns = size.ws_col;
  return columns >= kUsual && columns <= 100 ? kUsual : std::min<std::size_t>(columns, 200);
}

Result<bool> parse_colour(const std::string& when) {
  if (when == "auto") {
    return stdout_has_colour();
  }
  if (when == "always" || when == "never") {
    return when == "always";
  }
  return fail(ErrorCode::kUsage, "--color wants auto, always or never, not '" + when + "'");
}

}  // namespace

Result<report::TextOptions> text_options(const std::string& color, bool ascii) {
  const Result<bool> colour = parse_colour(color);
  if (!colour) {
    return tl::unexpected(colour.error());
  }
  return report::TextOptions{*colour, ascii || !locale_is_utf8(), text_width()};
}

}  // namespace gputrace::commands
