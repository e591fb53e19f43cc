// The workload of the tests of `gputrace record`: says what it got, and ends as it is told.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// The leak check of the address sanitizer starts a tracer, which a process that has changed its
// user or given up descriptors may not; it would turn the exit status into 1.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" const char* __asan_default_options();
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace {

void say(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) {
    std::exit(98);
  }
}

/// Each word with its length, so that nothing can hide.
int print_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    say("<" + std::to_string(word.size()) + ":" + word + ">");
  }
  return 0;
}

void print_status() {
  constexpr std::array<std::string_view, 17> kKeys{
      "Umask:",  "Uid:",    "Gid:",    "Groups:", "NoNewPrivs:",  "Seccomp:",
      "SigBlk:", "SigIgn:", "SigCgt:", "SigPnd:", "ShdPnd:",      "CapInh:",
      "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "Cpus_allowed:"};
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (std::any_of(kKeys.begin(), kKeys.end(),
                    [&](std::string_view key) { return line.compare(0, key.size(), key) == 0; })) {
      say(line);
    }
  }
}

void print_file(const char* path) {
  std::ifstream file(path);
  say(path);
  say(std::string(std::istreambuf_iterator<char>(file), {}));
}

void print_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  std::vector<std::string> lines;
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    struct stat info{};
    if (entry->d_name[0] == '.' || fd == ::dirfd(folder) || ::fstat(fd, &info) != 0) {
      continue;
    }
    lines.push_back("fd " + std::to_string(fd) + " type " +
                    std::to_string(info.st_mode & static_cast<mode_t>(S_IFMT)) + " flags " +
                    std::to_string(::fcntl(fd, F_GETFL)) + " " +
                    std::to_string(::fcntl(fd, F_GETFD)));
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) {
    say(line);
  }
}

void print_attributes() {
  int death_signal = 0;
  int subreaper = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
  ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
  say("death signal " + std::to_string(death_signal) + " subreaper " + std::to_string(subreaper) +
      " dumpable " + std::to_string(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)) + " io priority " +
      std::to_string(::syscall(SYS_ioprio_get, 1, 0)) + " securebits " +
      std::to_string(::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)));
  std::array<char, 4096> folder{};
  const char* current = ::getcwd(folder.data(), folder.size());
  say(std::string("folder ") + (current == nullptr ? "gone" : current));
  itimerval timer{};
  ::getitimer(ITIMER_REAL, &timer);
  say("terminal group " + std::to_string(::tcgetpgrp(STDIN_FILENO)) + " alarm " +
      std::to_string(timer.it_value.tv_sec));
}

/// Everything that a process gets from its parent.
int print_state() {
  print_status();
  print_file("/proc/self/timerslack_ns");
  print_file("/proc/self/limits");
  print_file("/proc/self/oom_score_adj");
  print_file("/proc/self/coredump_filter");
  print_file("/proc/self/personality");
  print_file("/proc/self/cgroup");
  say("policy " + std::to_string(::sched_getscheduler(0)) + " nice " +
      std::to_string(::getpriority(PRIO_PROCESS, 0)));
  print_attributes();
  say("session " + std::to_string(::getsid(0)) + " group " + std::to_string(::getpgrp()));
  for (int number = 1; number < 65; ++number) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) {
      say("signal " + std::to_string(number) + " is not at its default");
    }
  }
  print_descriptors();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    say(*entry);
  }
  return 0;
}

/// Names each signal that arrives; ends at SIGTERM.
int count_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  say("ready");
  for (;;) {
    const int number = ::sigwaitinfo(&all, nullptr);
    if (number > 0) {
      say("signal " + std::to_string(number));
    }
    if (number == SIGTERM) {
      return 0;
    }
  }
}

void read_to_the_end(int fd) {
  char byte = 0;
  while (::read(fd, &byte, 1) > 0) {
  }
}

/// Leaves a process behind that says when it was orphaned and then waits for the end of its input.
int leave_grandchild(int exit_code) {
  const int parent = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U));
  if (::fork() == 0) {
    pollfd ended{parent, POLLIN, 0};
    ::poll(&ended, 1, -1);
    say("orphan " + std::to_string(::getpid()) + " of " + std::to_string(::getppid()));
    read_to_the_end(STDIN_FILENO);
  }
  return exit_code;
}

int wait_for_end_of_input() {
  say("ready");
  read_to_the_end(STDIN_FILENO);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  const int number = words.size() > 1 ? std::atoi(words[1].c_str()) : 0;
  if (what == "words") {
    return print_words({words.begin() + 1, words.end()});
  }
  if (what == "state") {
    return print_state();
  }
  if (what == "exit") {
    return number;
  }
  if (what == "raise") {
    ::signal(number, SIG_DFL);  // a sanitizer's runtime catches SIGSEGV
    ::raise(number);
    return 97;
  }
  if (what == "signals") {
    return count_signals();
  }
  if (what == "grandchild") {
    return leave_grandchild(number);
  }
  if (what == "wait") {
    return wait_for_end_of_input();
  }
  if (what == "read" && words.size() > 2) {
    read_to_the_end(number);
    return std::atoi(words[2].c_str());
  }
  return 96;
}
