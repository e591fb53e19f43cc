#include "daemon/store/client_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace gputrace::store {

namespace {

// A build may start thousands of short processes, each with a client of its own.
constexpr std::size_t kMaxClients = 100'000;
// The kernel knows nine kinds of engines (amdgpu_ip_name, amdgpu_fdinfo.c).
constexpr std::size_t kMaxEngines = 64;
// A comm has 16 bytes, an engine's name and a PCI address fewer than this.
constexpr std::size_t kMaxText = 256;
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

bool is_count(const std::optional<std::int64_t>& value) {
  return value.value_or(0) >= 0;
}

std::optional<std::uint64_t> to_count(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

Result<std::map<std::int64_t, ClientUsage>> load_clients(Database& database) {
  std::map<std::int64_t, ClientUsage> clients;
  const Status status = for_each_row(
      database, "SELECT id, pid, process, pdev, client_id FROM drm_clients ORDER BY id",
      [&](const Statement& row) -> Status {
        if (clients.size() == kMaxClients || row.blob(2).size() > kMaxText ||
            row.blob(3).size() > kMaxText) {
          return fail(ErrorCode::kCorrupt, "too many DRM clients, or one with an impossible name");
        }
        ClientUsage& client = clients[row.integer(0)];
        client.time_ns = -1;  // before the first row
        client.pid = row.integer(1);
        client.process = row.text(2);
        client.pdev = row.text(3);
        client.client_id = static_cast<std::uint64_t>(row.integer(4));
        return {};
      });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return clients;
}

/// The rows of one table, each looked at before it is taken.
class Cursor {
 public:
  explicit Cursor(Statement query) : query_(std::move(query)) {}

  Status next() {
    const std::int64_t before_ns = time_ns_.value_or(0);
    const Result<bool> row = query_.step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    time_ns_ = *row ? std::optional(query_.integer(1)) : std::nullopt;
    if (time_ns_.value_or(before_ns) < before_ns) {
      return fail(ErrorCode::kCorrupt, "the usage of DRM clients is out of order");
    }
    return {};
  }
  /// Absent: no row is left.
  [[nodiscard]] std::optional<std::int64_t> time_ns() const { return time_ns_; }
  [[nodiscard]] const Statement& row() const { return query_; }

 private:
  Statement query_;
  std::optional<std::int64_t> time_ns_;
};

Status take_memory(const Statement& row, ClientUsage& client) {
  if (!is_count(row.optional_integer(2)) || !is_count(row.optional_integer(3))) {
    return fail(ErrorCode::kCorrupt, "a DRM client with less than no memory");
  }
  client.vram_bytes = to_count(row.optional_integer(2));
  client.gtt_bytes = to_count(row.optional_integer(3));
  return {};
}

Status take_engine(const Statement& row, ClientUsage& client) {
  if (row.integer(3) < 0 || row.blob(2).size() > kMaxText ||
      client.engine_ns.size() > kMaxEngines) {
    return fail(ErrorCode::kCorrupt, "a DRM client with an impossible engine");
  }
  client.engine_ns[row.text(2)] = static_cast<std::uint64_t>(row.integer(3));
  return {};
}

}  // namespace

ClientRows::ClientRows(Statement client, Statement rename, Statement memory, Statement engine)
    : insert_client_(std::move(client)),
      rename_client_(std::move(rename)),
      insert_memory_(std::move(memory)),
      insert_engine_(std::move(engine)) {}

Result<ClientRows> ClientRows::create(Database& database) {
  Result<Statement> client = database.prepare(
      "INSERT INTO drm_clients (pid, process, pdev, client_id) VALUES (?, ?, ?, ?) RETURNING id");
  Result<Statement> rename =
      database.prepare("UPDATE drm_clients SET pid = ?, process = ? WHERE id = ?");
  Result<Statement> memory = database.prepare(
      "INSERT INTO client_usage (client, time_ns, vram_bytes, gtt_bytes) VALUES (?, ?, ?, ?)");
  Result<Statement> engine = database.prepare(
      "INSERT INTO client_engines (client, time_ns, engine, busy_ns) VALUES (?, ?, ?, ?)");
  for (const Result<Statement>* statement : {&client, &rename, &memory, &engine}) {
    if (!*statement) {
      return tl::unexpected<Error>(statement->error());
    }
  }
  return ClientRows(std::move(*client), std::move(*rename), std::move(*memory), std::move(*engine));
}

Status ClientRows::check(const ClientUsage& usage) const {
  if (usage.time_ns < last_ns_) {
    return fail(ErrorCode::kInvalidArgument, "the times of DRM clients' usage run backwards");
  }
  bool fits = usage.process.size() <= kMaxText && usage.pdev.size() <= kMaxText &&
              usage.engine_ns.size() <= kMaxEngines && usage.vram_bytes.value_or(0) <= kMaxCount &&
              usage.gtt_bytes.value_or(0) <= kMaxCount;
  for (const auto& [engine, busy_ns] : usage.engine_ns) {
    fits = fits && engine.size() <= kMaxText && busy_ns <= kMaxCount;
  }
  const bool is_new = clients_.find({usage.pdev, usage.client_id}) == clients_.end();
  if (!fits || (is_new && clients_.size() == kMaxClients)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the usage of DRM client {} of process {} has a text or a number that "
                            "is too long, or there are too many clients",
                            usage.client_id, usage.pid));
  }
  return {};
}

Result<ClientRows::Client*> ClientRows::find_or_insert(const ClientUsage& usage) {
  const auto found = clients_.find({usage.pdev, usage.client_id});
  if (found == clients_.end()) {
    insert_client_.bind(1, usage.pid)
        .bind(2, usage.process)
        .bind(3, usage.pdev)
        .bind(4, static_cast<std::int64_t>(usage.client_id));
    if (const Result<bool> row = insert_client_.step(); !row) {
      return tl::unexpected<Error>(row.error());
    }
    const std::int64_t id = insert_client_.integer(0);
    insert_client_.reset();
    // Its first usage is always written: all that is known may be that nothing is.
    insert_memory_.bind(1, id)
        .bind(2, usage.time_ns)
        .bind_optional(3, usage.vram_bytes)
        .bind_optional(4, usage.gtt_bytes);
    if (Status status = insert_memory_.run(); !status) {
      return tl::unexpected<Error>(status.error());
    }
    Client& client = clients_[{usage.pdev, usage.client_id}];
    client.id = id;
    client.last = usage;
    client.last.engine_ns.clear();
    return &client;
  }
  Client& client = found->second;
  // A client lives through fork() and exec(): the last name is what it turned into.
  if (client.last.pid != usage.pid || client.last.process != usage.process) {
    rename_client_.bind(1, usage.pid).bind(2, usage.process).bind(3, client.id);
    if (Status status = rename_client_.run(); !status) {
      return tl::unexpected<Error>(status.error());
    }
  }
  return &client;
}

Status ClientRows::add(const ClientUsage& usage) {
  const Result<Client*> found = find_or_insert(usage);
  if (!found) {
    return tl::unexpected<Error>(found.error());
  }
  Client& client = **found;
  if (client.last.vram_bytes != usage.vram_bytes || client.last.gtt_bytes != usage.gtt_bytes) {
    insert_memory_.bind(1, client.id)
        .bind(2, usage.time_ns)
        .bind_optional(3, usage.vram_bytes)
        .bind_optional(4, usage.gtt_bytes);
    if (Status status = insert_memory_.run(); !status) {
      return status;
    }
  }
  std::map<std::string, std::uint64_t> engines = std::move(client.last.engine_ns);
  for (const auto& [engine, busy_ns] : usage.engine_ns) {
    const auto [before, is_new] = engines.try_emplace(engine, busy_ns);
    if (!is_new && before->second == busy_ns) {
      continue;
    }
    before->second = busy_ns;
    insert_engine_.bind(1, client.id)
        .bind(2, usage.time_ns)
        .bind(3, engine)
        .bind(4, static_cast<std::int64_t>(busy_ns));
    if (Status status = insert_engine_.run(); !status) {
      return status;
    }
  }
  client.last = usage;
  client.last.engine_ns = std::move(engines);
  last_ns_ = usage.time_ns;
  return {};
}

Status for_each_usage(Database& database, const std::function<Status(const ClientUsage&)>& visit) {
  Result<std::map<std::int64_t, ClientUsage>> clients = load_clients(database);
  if (!clients) {
    return tl::unexpected<Error>(clients.error());
  }
  Result<Statement> memory_query = database.prepare(
      "SELECT client, time_ns, vram_bytes, gtt_bytes FROM client_usage ORDER BY id");
  Result<Statement> engine_query =
      database.prepare("SELECT client, time_ns, engine, busy_ns FROM client_engines ORDER BY id");
  if (!memory_query || !engine_query) {
    return tl::unexpected<Error>(memory_query ? engine_query.error() : memory_query.error());
  }
  Cursor memory(std::move(*memory_query));
  Cursor engines(std::move(*engine_query));
  for (Cursor* cursor : {&memory, &engines}) {
    if (Status status = cursor->next(); !status) {
      return status;
    }
  }
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::vector<ClientUsage*> changed;
  while (memory.time_ns() || engines.time_ns()) {
    const std::int64_t now_ns =
        std::min(memory.time_ns().value_or(kNever), engines.time_ns().value_or(kNever));
    changed.clear();
    for (Cursor* cursor : {&memory, &engines}) {
      while (cursor->time_ns() == now_ns) {
        const auto client = clients->find(cursor->row().integer(0));
        if (client == clients->end()) {
          return fail(ErrorCode::kCorrupt, "usage of a DRM client that is not described");
        }
        Status status = cursor == &memory ? take_memory(cursor->row(), client->second)
                                          : take_engine(cursor->row(), client->second);
        status = status ? cursor->next() : status;
        if (!status) {
          return status;
        }
        if (client->second.time_ns != now_ns) {
          client->second.time_ns = now_ns;
          changed.push_back(&client->second);
        }
      }
    }
    for (const ClientUsage* client : changed) {
      if (Status status = visit(*client); !status) {
        return status;
      }
    }
  }
  return {};
}

}  // namespace gputrace::store
