// Rows of DRM clients: who they are, and what the kernel counted for them, where it changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "daemon/store/database.h"
#include "daemon/store/session.h"

namespace gputrace::store {

class ClientRows {
 public:
  static Result<ClientRows> create(Database& database);

  /// What is wrong with it; checked before anything is written, as these are the caller's faults.
  [[nodiscard]] Status check(const ClientUsage& usage) const;
  Status add(const ClientUsage& usage);

 private:
  struct Client {
    std::int64_t id = 0;
    ClientUsage last;
  };
  ClientRows(Statement client, Statement rename, Statement memory, Statement engine);
  Result<Client*> find_or_insert(const ClientUsage& usage);

  Statement insert_client_;
  Statement rename_client_;
  Statement insert_memory_;
  Statement insert_engine_;
  std::map<std::pair<std::string, std::uint64_t>, Client> clients_;  ///< by (pdev, client_id)
  std::int64_t last_ns_ = 0;
};

/// Every value is checked: the rows may come from a stranger. See
/// SessionReader::for_each_client_usage.
Status for_each_usage(Database& database, const std::function<Status(const ClientUsage&)>& visit);

}  // namespace gputrace::store
