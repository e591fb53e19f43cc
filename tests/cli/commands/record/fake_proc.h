// A /proc of the test's own: processes, their parents, and the DRM files that they have open.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline std::string fixture_text(const std::string& name) {
  std::ifstream file(std::filesystem::path(GPUTRACE_FIXTURES) / "fdinfo" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What amdgpu says of a client that has worked so long.
inline std::string amdgpu_fdinfo(const std::string& pdev, std::uint64_t client_id,
                                 std::uint64_t gfx_ns) {
  return "drm-driver:\tamdgpu\ndrm-pdev:\t" + pdev + "\ndrm-client-id:\t" +
         std::to_string(client_id) + "\ndrm-memory-vram:\t2068 KiB\ndrm-engine-gfx:\t" +
         std::to_string(gfx_ns) + " ns\n";
}

class FakeProc {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  void add(pid_t pid, pid_t parent, const std::string& name = "game", std::uint64_t start = 7,
           char state = 'S') const {
    std::filesystem::create_directories(of(pid) / "fd");
    std::filesystem::create_directories(of(pid) / "fdinfo");
    std::ofstream(of(pid) / "comm") << name << '\n';
    std::ofstream(of(pid) / "stat")
        << pid << " (" << name << ") " << state << ' ' << parent
        << " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 " << start << " 0 0\n";
  }
  void remove(pid_t pid) const { std::filesystem::remove_all(of(pid)); }
  /// Replaces the text in one step.
  void open_file(pid_t pid, int fd, const std::string& target, const std::string& fdinfo) const {
    const std::filesystem::path link = of(pid) / "fd" / std::to_string(fd);
    if (!std::filesystem::is_symlink(link)) {
      std::filesystem::create_symlink(target, link);
    }
    const std::filesystem::path next = path() / "next";
    std::ofstream(next) << fdinfo;
    std::filesystem::rename(next, of(pid) / "fdinfo" / std::to_string(fd));
  }
  void open_drm(pid_t pid, int fd, const std::string& fdinfo) const {
    open_file(pid, fd, "/dev/dri/renderD128", fdinfo);
  }
  [[nodiscard]] std::filesystem::path of(pid_t pid) const { return path() / std::to_string(pid); }

 private:
  TempDir folder_;
};

}  // namespace gputrace::test
