// gputrace-rig: the simulated GPU as a folder, in the foreground, for shell tests and benchmarks.
#include <fmt/format.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cxxopts.hpp>
#include <exception>
#include <string>

#include "daemon/base/time.h"
#include "tests/rig/fuse_server.h"
#include "tests/rig/scenario_words.h"

namespace gputrace::rig {
namespace {

Status pin_to_cpu(int cpu) {
  cpu_set_t cpus{};
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  if (::sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
    return fail_errno(errno, fmt::format("cannot run on CPU {}", cpu));
  }
  return {};
}

void list_models() {
  for (const GpuModel& model : gpu_models()) {
    fmt::print("{:<10} GC {:<8} {} SE  {}\n", model.key, regdb::to_string(model.gc),
               model.shader_engines, model.marketing_name);
  }
}

cxxopts::Options make_options() {
  cxxopts::Options options(
      "gputrace-rig",
      "Mounts a folder with a SIMULATED AMD GPU: dev/dri/renderD128, sys/... with debugfs, and\n"
      "control (read it for counters, write SWITCH=NUMBER to it for faults). Prints `ready` when\n"
      "it is there and unmounts on SIGINT, SIGTERM or when unmounted.\n");
  options.add_options()                                                                        //
      ("mount", "Existing folder to mount on", cxxopts::value<std::string>(), "DIR")           //
      ("gpu", "Which GPU (see --list)", cxxopts::value<std::string>()->default_value("780m"))  //
      ("scenario", "What it does: slots[:SEED], idle, or a scenario of the simulated GPU",
       cxxopts::value<std::string>()->default_value("slots"))  //
      ("second-gpu", "Another GPU beside it: card2, renderD129, control2",
       cxxopts::value<std::string>(),
       "GPU")  //
      ("second-scenario", "What that one does",
       cxxopts::value<std::string>()->default_value("idle"))                        //
      ("pin", "Serve on this CPU only", cxxopts::value<int>(), "CPU")               //
      ("fifo", "Serve with SCHED_FIFO", cxxopts::value<int>(), "PRIORITY")          //
      ("die-with-parent", "Unmount and end when the process that started it ends")  //
      ("list", "List the GPUs")                                                     //
      ("h,help", "Print this");
  return options;
}

Result<DeviceOptions> open_gpu(const std::string& key, const std::string& scenario) {
  const auto model = find_gpu_model(key);
  if (!model) {
    return fail(ErrorCode::kUsage, "no GPU '" + key + "'; see --list");
  }
  auto opened = open_scenario(*model, scenario, regdb::RegisterDatabase::built_in());
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  auto control = make_shared_control();
  if (!control) {
    return tl::unexpected(control.error());
  }
  return DeviceOptions{*model, std::move(opened->words), std::move(opened->sensors), *control};
}

Result<int> run(const cxxopts::ParseResult& arguments) {
  if (arguments.count("list") != 0) {
    list_models();
    return 0;
  }
  if (arguments.count("mount") == 0) {
    return fail(ErrorCode::kUsage, "--mount DIR is missing");
  }
  Status status = block_stop_signals();
  if (status && arguments.count("die-with-parent") != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  if (status && arguments.count("pin") != 0) {
    status = pin_to_cpu(arguments["pin"].as<int>());
  }
  if (status && arguments.count("fifo") != 0) {
    status = set_fifo_scheduling(arguments["fifo"].as<int>());
  }
  if (!status) {
    return tl::unexpected(status.error());
  }
  ServerOptions options;
  for (const std::string which : {"", "second-"}) {
    if (!which.empty() && arguments.count("second-gpu") == 0) {
      continue;
    }
    auto gpu = open_gpu(arguments[which + "gpu"].as<std::string>(),
                        arguments[which + "scenario"].as<std::string>());
    if (!gpu) {
      return tl::unexpected(gpu.error());
    }
    options.gpus.push_back(std::move(*gpu));
  }
  if (options.gpus.size() > 1 && options.gpus[0].gpu.pci == options.gpus[1].gpu.pci) {
    return fail(ErrorCode::kUsage, "both GPUs would be at " + std::string(options.gpus[0].gpu.pci));
  }
  options.mount_point = arguments["mount"].as<std::string>();
  auto server = FuseServer::mount(options);
  if (!server) {
    return tl::unexpected(server.error());
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  status = server->run();
  if (!status) {
    return tl::unexpected(status.error());
  }
  return 0;
}

int main_without_exceptions(int argc, char** argv) {
  cxxopts::Options options = make_options();
  const cxxopts::ParseResult arguments = options.parse(argc, argv);
  if (arguments.count("help") != 0) {
    fmt::print("{}", options.help());
    return 0;
  }
  const Result<int> status = run(arguments);
  if (status) {
    return *status;
  }
  fmt::print(stderr, "gputrace-rig: {}\n", status.error().message);
  return status.error().code == ErrorCode::kUsage ? 2 : 1;
}

}  // namespace
}  // namespace gputrace::rig

int main(int argc, char** argv) {
  try {
    return gputrace::rig::main_without_exceptions(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gputrace-rig: %s\n", error.what());
    return 2;
  }
}
