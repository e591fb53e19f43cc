// Orders that both the recorder and gputraced take (processes, switch, point), and fields that both
// have. Private to daemon/ipc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "daemon/ipc/json_fields.h"
#include "daemon/ipc/message.h"

namespace gputrace::ipc {

/// Names over their limit are cut, and clients over the limits of a message counted in left_out.
[[nodiscard]] nlohmann::json to_json(const ProcessesOrder& order);
[[nodiscard]] nlohmann::json to_json(const SwitchOrder& order);
[[nodiscard]] nlohmann::json to_json(const PointOrder& order);
[[nodiscard]] ProcessesOrder read_processes(JsonFields& fields);
[[nodiscard]] SwitchOrder read_switch(JsonFields& fields);
[[nodiscard]] PointOrder read_point(JsonFields& fields);

/// Field sensor_rate_hz: 0 (no sensors), or within the limits of daemon/base/sensor_rate.h.
[[nodiscard]] double read_sensor_rate(JsonFields& fields);

[[nodiscard]] std::string_view purpose_name(Purpose purpose);
/// Field purpose.
[[nodiscard]] Purpose read_purpose(JsonFields& fields);
/// Nothing that a log or a terminal would obey.
[[nodiscard]] bool is_printable_ascii(std::string_view text);

}  // namespace gputrace::ipc
