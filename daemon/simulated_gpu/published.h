// A value that is replaced seldom and read often, from threads that must not wait: reading takes no
// lock and allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace gputrace::simulated_gpu {

template <class Value>
class Published {
 public:
  explicit Published(std::unique_ptr<const Value> first)
      : owned_(std::move(first)), current_(owned_.get()) {}

  /// What `use` returns of the value that is current when it is called.
  template <class Use>
  auto read(const Use& use) const {
    const Reading reading(readers_);
    return use(*current_.load());
  }

  /// From one thread at a time. Waits until nobody reads the value before.
  void replace(std::unique_ptr<const Value> next) {
    current_.store(next.get());
    // All in one order (seq_cst): who counts itself later than this sees the new value.
    while (readers_.load() != 0) {
      std::this_thread::yield();
    }
    owned_ = std::move(next);
  }

 private:
  class Reading {
   public:
    explicit Reading(std::atomic<std::uint32_t>& readers) : readers_(readers) { ++readers_; }
    ~Reading() { --readers_; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    std::atomic<std::uint32_t>& readers_;
  };

  std::unique_ptr<const Value> owned_;
  std::atomic<const Value*> current_;
  mutable std::atomic<std::uint32_t> readers_{0};
};

}  // namespace gputrace::simulated_gpu
