#include "cli/commands/kernels/verify_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "cli/commands/doctor/isolated_call.h"
#include "cli/commands/kernels/radv.h"
#include "kernels/bench/bench_test.h"
#include "kernels/bench/vulkan_runner.h"
#include "kernels/vulkan/device.h"

namespace gputrace::commands {
namespace {

/// Of the child: opening the driver, one kernel, all of them on a slow and busy machine.
constexpr std::chrono::milliseconds kOpenDeadline = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kKernelDeadline = std::chrono::minutes(2);
constexpr std::chrono::milliseconds kDeadline = std::chrono::minutes(10);

/// The first character of the child's answer: an error's code and message follow, or JSON.
constexpr char kErrorMark = 'E';

std::string encode(const Error& error) {
  return fmt::format("{}{} {}", kErrorMark, static_cast<int>(error.code), error.message);
}

/// What a child answered, as it was meant.
Result<std::string> decode(const std::string& answer) {
  if (!answer.starts_with(kErrorMark)) {
    return answer;
  }
  const std::size_t space = answer.find(' ');
  for (const ErrorCode code :
       {ErrorCode::kNotFound, ErrorCode::kPermissionDenied, ErrorCode::kUnsupported,
        ErrorCode::kBusy, ErrorCode::kInvalidArgument, ErrorCode::kNoSpace}) {
    if (answer.substr(1, space - 1) == std::to_string(static_cast<int>(code))) {
      return fail(code, answer.substr(space + 1));
    }
  }
  return fail(ErrorCode::kIo, answer.substr(space + 1));
}

bool fits(const std::string& id, const std::string& wanted) {
  return id == wanted || id.starts_with(wanted + ".");
}

KernelVerdict verify_one(vulkan::Device& device, const bench::KernelCase& kernel) {
  KernelVerdict verdict;
  verdict.id = kernel.id;
  const auto executables = bench::compile(device, kernel);
  if (!executables) {
    verdict.verdict =
        executables.error().code == ErrorCode::kUnsupported ? Verdict::kSkipped : Verdict::kNotDone;
    verdict.isa.why = executables.error().message;
    return verdict;
  }
  verdict.isa = bench::check_isa(kernel, *executables);
  switch (verdict.isa.proof) {
    case analysis::Proof::kPassed:
      verdict.verdict = Verdict::kPassed;
      break;
    case analysis::Proof::kFailed:
      verdict.verdict = Verdict::kFailed;
      break;
    case analysis::Proof::kNotDone:
      verdict.verdict = kernel.formula.empty() && kernel.in_loops.empty() ? Verdict::kNoFormula
                                                                          : Verdict::kNotDone;
      break;
  }
  return verdict;
}

/// The device that the request means, in a state to show its code.
Result<vulkan::Device> open_device(const VerifyRequest& request) {
  auto device = vulkan::Device::open(request.device, false);
  if (!device) {
    return device;
  }
  const vulkan::DeviceFacts& facts = device->facts();
  if (!request.family.empty() && !facts.is_null_device) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("this RADV ({}) does not compile for a GPU that is not there",
                            facts.listed.driver_info));
  }
  if (!facts.executable_properties) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the driver of {} does not show its code "
                            "(VK_KHR_pipeline_executable_properties); --family gfx1103_r1 "
                            "compiles for an AMD GPU that is not there",
                            facts.listed.name));
  }
  return device;
}

/// Everything in this process.
Result<Verification> verify_here(const VerifyRequest& request) {
  auto device = open_device(request);
  if (!device) {
    return tl::unexpected(device.error());
  }
  auto kernels = select_kernels(bench::all_cases(device->facts()), request.kernels);
  if (!kernels) {
    return tl::unexpected(kernels.error());
  }
  const vulkan::ListedDevice& listed = device->facts().listed;
  Verification verification{listed.name, listed.driver_info, request.family, {}};
  for (const bench::KernelCase& kernel : *kernels) {
    verification.kernels.push_back(verify_one(*device, kernel));
  }
  return verification;
}

/// Runs `work` in a child in which Vulkan compiles for the request's family. kIo: it crashed.
Result<std::string> in_child(const VerifyRequest& request, std::chrono::milliseconds deadline,
                             const std::function<Result<std::string>()>& work) {
  std::optional<std::filesystem::path> driver;
  if (!request.family.empty()) {
    driver = find_radv();
    if (!driver) {
      return fail(ErrorCode::kUnsupported,
                  "RADV is not installed: no radeon_icd*.json in the Vulkan loader's folders "
                  "(Debian and Ubuntu: mesa-vulkan-drivers)");
    }
  }
  auto answer = call_isolated(deadline, [&] {
    if (driver) {
      compile_for(request.family, *driver);
    }
    const Result<std::string> result = work();
    return result ? *result : encode(result.error());
  });
  if (!answer) {
    return answer;
  }
  return decode(*answer);
}

Result<Verification> verify_in_child(const VerifyRequest& request,
                                     std::chrono::milliseconds deadline) {
  const auto answer = in_child(request, deadline, [&]() -> Result<std::string> {
    const Result<Verification> verification = verify_here(request);
    if (!verification) {
      return tl::unexpected(verification.error());
    }
    return to_json(*verification);
  });
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  return verification_from_json(*answer);
}

bool is_crash(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kBusy;
}

/// The spelling of the family that this RADV knows.
Result<VerifyRequest> with_known_family(VerifyRequest request) {
  const std::string asked = request.family;
  for (const std::string& spelling : spellings_of(asked)) {
    request.family = spelling;
    const auto opened = in_child(request, kOpenDeadline, [&]() -> Result<std::string> {
      const auto device = open_device(request);
      return device ? Result<std::string>("") : tl::unexpected(device.error());
    });
    if (opened) {
      return request;
    }
    if (!is_crash(opened.error())) {
      return tl::unexpected(opened.error());
    }
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("RADV does not know the family {}; it knows names like vega10, navi21, "
                          "rembrandt, gfx1100 (in newer Mesa navi31), gfx1103_r1 (in newer Mesa "
                          "phoenix)",
                          asked));
}

/// The kernels that are meant, one a line: those that draw marked.
constexpr std::string_view kDraws = "draws ";

Result<std::vector<KernelName>> names_of(const VerifyRequest& request) {
  const auto lines = in_child(request, kOpenDeadline, [&]() -> Result<std::string> {
    const auto device = open_device(request);
    if (!device) {
      return tl::unexpected(device.error());
    }
    const auto kernels = select_kernels(bench::all_cases(device->facts()), request.kernels);
    if (!kernels) {
      return tl::unexpected(kernels.error());
    }
    std::string text;
    for (const bench::KernelCase& kernel : *kernels) {
      text += fmt::format("{}{}\n", kernel.target ? kDraws : "", kernel.id);
    }
    return text;
  });
  if (!lines) {
    return fail(lines.error(), "the driver cannot be asked");
  }
  std::vector<KernelName> names;
  std::string_view rest = *lines;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const bool draws = line.starts_with(kDraws);
    line.remove_prefix(draws ? kDraws.size() : 0);
    names.push_back({std::string(line), draws});
  }
  return names;
}

/// After a crash.
Result<Verification> verify_in_parts(const VerifyRequest& request) {
  Result<std::vector<KernelName>> names = names_of(request);
  if (!names) {
    return tl::unexpected(names.error());
  }
  return verify_apart(std::move(*names), !request.family.empty(),
                      [&](const std::vector<std::string>& ids) {
                        VerifyRequest part = request;
                        part.kernels = ids;
                        return verify_in_child(part, ids.size() == 1 ? kKernelDeadline : kDeadline);
                      });
}

KernelVerdict not_compiled(const std::string& id, Verdict verdict, std::string_view what,
                           const Error& error) {
  KernelVerdict result;
  result.id = id;
  result.verdict = verdict;
  result.isa.why = fmt::format("{}: {}: {}", id, what, error.message);
  return result;
}

using Verify = std::function<Result<Verification>(const std::vector<std::string>&)>;

/// Halves what crashes until it is one kernel.
void verify_range(std::span<const KernelName> names, const Verify& verify, Verification& all) {
  if (names.empty()) {
    return;
  }
  std::vector<std::string> ids;
  for (const KernelName& name : names) {
    ids.push_back(name.id);
  }
  const Result<Verification> result = verify(ids);
  if (!result && names.size() == 1) {
    all.kernels.push_back(not_compiled(ids.front(), Verdict::kFailed,
                                       "the driver does not compile it", result.error()));
    return;
  }
  if (!result) {
    const std::size_t half = names.size() / 2;
    verify_range(names.first(half), verify, all);
    verify_range(names.subspan(half), verify, all);
    return;
  }
  all.device = result->device;
  all.driver_info = result->driver_info;
  all.family = result->family;
  for (const KernelVerdict& kernel : result->kernels) {
    // An id may be another's beginning, which is then verified apart.
    if (std::find(ids.begin(), ids.end(), kernel.id) != ids.end()) {
      all.kernels.push_back(kernel);
    }
  }
}

}  // namespace

Result<std::vector<bench::KernelCase>> select_kernels(std::vector<bench::KernelCase> cases,
                                                      const std::vector<std::string>& wanted) {
  if (wanted.empty()) {
    return cases;
  }
  for (const std::string& name : wanted) {
    if (std::none_of(cases.begin(), cases.end(),
                     [&](const bench::KernelCase& kernel) { return fits(kernel.id, name); })) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("no kernel is named {}, or begins so up to a dot; `gputrace kernels "
                              "list` names them",
                              name));
    }
  }
  std::erase_if(cases, [&](const bench::KernelCase& kernel) {
    return std::none_of(wanted.begin(), wanted.end(),
                        [&](const std::string& name) { return fits(kernel.id, name); });
  });
  return cases;
}

Verification verify_apart(std::vector<KernelName> names, bool without_gpu, const Verify& verify) {
  const auto draws = std::stable_partition(names.begin(), names.end(),
                                           [](const KernelName& name) { return !name.draws; });
  const std::span<const KernelName> computing(names.begin(), draws);
  const std::span<const KernelName> drawing(draws, names.end());
  Verification all;
  verify_range(computing, verify, all);
  if (without_gpu && !drawing.empty()) {
    // Mesa 22.3 has no number of render backends for some GPUs that are not there (rembrandt), and
    // divides by it for every pipeline that draws: that says nothing of the kernels.
    const Result<Verification> first = verify({drawing.front().id});
    if (!first) {
      for (const KernelName& name : drawing) {
        all.kernels.push_back(not_compiled(name.id, Verdict::kSkipped,
                                           "RADV crashes on what draws without this GPU",
                                           first.error()));
      }
      return all;
    }
  }
  verify_range(drawing, verify, all);
  return all;
}

std::vector<bench::KernelCase> known_kernels() {
  vulkan::DeviceFacts facts;
  facts.graphics = true;
  facts.subgroup_size = 64;
  facts.subgroup_sizes = {32, 64};
  facts.fp16 = true;
  facts.fp64 = true;
  facts.int8_dot = true;
  facts.int16 = true;
  facts.int64 = true;
  facts.buffer_addresses = true;
  facts.int64_atomics = true;
  facts.executable_properties = true;
  facts.pipeline_statistics = true;
  facts.bc_textures = true;
  facts.matrix_shapes = {{16, 16, 16, true}, {16, 16, 16, false}};
  facts.max_groups_x = 65535;
  facts.max_group_threads = 1024;
  facts.max_shared_bytes = 65536;
  facts.max_storage_range = std::uint64_t{1} << 32;
  facts.max_image_side = 16384;
  facts.memory_bytes = std::uint64_t{8} << 30;
  return bench::all_cases(facts);
}

Result<Verification> verify_kernels(const VerifyRequest& request) {
  VerifyRequest known = request;
  if (!request.family.empty()) {
    Result<VerifyRequest> found = with_known_family(request);
    if (!found) {
      return tl::unexpected(found.error());
    }
    known = std::move(*found);
  }
  Result<Verification> result = verify_in_child(known, kDeadline);
  if (!result && is_crash(result.error())) {
    result = verify_in_parts(known);
  }
  return result;
}

}  // namespace gputrace::commands
