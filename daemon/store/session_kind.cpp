#include "daemon/store/session_kind.h"

#include <array>
#include <utility>

namespace gputrace::store {

namespace {
constexpr std::array<std::pair<SessionKind, std::string_view>, 6> kKinds{{
    {SessionKind::kRecording, "recording"},
    {SessionKind::kImport, "import"},
    {SessionKind::kRoofline, "roofline"},
    {SessionKind::kBench, "bench"},
    {SessionKind::kCalibration, "calibration"},
    {SessionKind::kBackground, "background"},
}};
}  // namespace

std::string_view to_string(SessionKind kind) {
  for (const auto& [value, text] : kKinds) {
    if (value == kind) {
      return text;
    }
  }
  return "recording";
}

std::optional<SessionKind> parse_session_kind(std::string_view text) {
  for (const auto& [value, name] : kKinds) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

bool describes_machine(SessionKind kind) {
  return kind == SessionKind::kRoofline || kind == SessionKind::kBench ||
         kind == SessionKind::kCalibration;
}

}  // namespace gputrace::store
