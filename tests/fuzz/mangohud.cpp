#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gputrace::test::import_fuzz_input({reinterpret_cast<const char*>(data), size},
                                    gputrace::import::Format::kMangoHud);
  return 0;
}
