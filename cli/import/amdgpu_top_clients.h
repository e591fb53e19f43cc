// The processes of an amdgpu_top file as DRM clients. amdgpu_top adds up the clients of a process
// and prints whole percents of a window; summed up they are times again, to a percent of a window.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/import/amdgpu_top_record.h"
#include "cli/import/amdgpu_top_time.h"
#include "cli/import/session_sink.h"

namespace gputrace::import {

class AmdgpuTopClients {
 public:
  explicit AmdgpuTopClients(SessionSink& sink) : sink_(sink) {}

  Status add(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window);

  [[nodiscard]] std::uint64_t processes() const { return clients_.size(); }
  /// Of processes beyond what is kept.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  SessionSink& sink_;
  std::map<std::int64_t, store::ClientUsage> clients_;  ///< by pid
  std::uint64_t left_out_ = 0;
};

}  // namespace gputrace::import
