#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/kernels/verification.h"
#include "kernels/bench/isa/classify.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "gputrace.kernels/1";

/// Names come from drivers: what is not UTF-8 there is replaced, not thrown upon.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
std::optional<T> optional_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string text_at(const Json& json, const char* key) {
  return optional_at<std::string>(json, key).value_or("");
}

Json to_json(const KernelVerdict& kernel) {
  Json counts = Json::array();
  for (const analysis::CountCheck& count : kernel.isa.counts) {
    counts.push_back({{"operation", count.operation},
                      {"formula", count.formula},
                      {"isa", value_or_null(count.isa)}});
  }
  return {{"id", kernel.id},
          {"verdict", name_of(kernel.verdict)},
          {"why", text_or_null(kernel.isa.why)},
          {"subgroup_size", value_or_null(kernel.isa.subgroup_size)},
          {"counts", std::move(counts)},
          {"code_bytes", value_or_null(kernel.isa.code_bytes)},
          {"vgprs", value_or_null(kernel.isa.vgprs)},
          {"waves_per_simd", value_or_null(kernel.isa.waves_per_simd)},
          {"arithmetic_share", value_or_null(kernel.isa.arithmetic_share)},
          {"dual_issued_share", value_or_null(kernel.isa.dual_issued_share)}};
}

Verdict verdict_named(const std::string& name) {
  for (const Verdict verdict :
       {Verdict::kPassed, Verdict::kFailed, Verdict::kNoFormula, Verdict::kSkipped}) {
    if (name_of(verdict) == name) {
      return verdict;
    }
  }
  return Verdict::kNotDone;
}

KernelVerdict kernel_from(const Json& json) {
  KernelVerdict kernel;
  kernel.id = json.at("id").get<std::string>();
  kernel.verdict = verdict_named(json.at("verdict").get<std::string>());
  kernel.isa.why = text_at(json, "why");
  kernel.isa.subgroup_size = optional_at<std::uint32_t>(json, "subgroup_size");
  for (const Json& count : json.at("counts")) {
    kernel.isa.counts.push_back({kernel.id, count.at("operation").get<std::string>(),
                                 count.at("formula").get<double>(),
                                 optional_at<double>(count, "isa")});
  }
  kernel.isa.code_bytes = optional_at<double>(json, "code_bytes");
  kernel.isa.vgprs = optional_at<double>(json, "vgprs");
  kernel.isa.waves_per_simd = optional_at<double>(json, "waves_per_simd");
  kernel.isa.arithmetic_share = optional_at<double>(json, "arithmetic_share");
  kernel.isa.dual_issued_share = optional_at<double>(json, "dual_issued_share");
  return kernel;
}

std::string_view name_of_need(bench::Requirement need) {
  switch (need) {
    case bench::Requirement::kFp16:
      return "fp16";
    case bench::Requirement::kFp64:
      return "fp64";
    case bench::Requirement::kInt8Dot:
      return "int8 dot product";
    case bench::Requirement::kInt64:
      return "int64";
    case bench::Requirement::kMatrix:
      return "cooperative matrix";
    case bench::Requirement::kBufferAddresses:
      return "buffer addresses";
    case bench::Requirement::kStorage16:
      return "16-bit storage";
    case bench::Requirement::kRayQuery:
      return "ray query";
    case bench::Requirement::kInt16:
      return "int16";
    case bench::Requirement::kBcTextures:
      return "BC textures";
    case bench::Requirement::kShaderClock:
      return "shader clock";
    case bench::Requirement::kFloatAtomics:
      return "float atomics";
    case bench::Requirement::kSharedFloatAtomics:
      return "float atomics on local memory";
  }
  return "?";
}

Json to_json(const bench::KernelCase& kernel) {
  Json needs = Json::array();
  for (const bench::Requirement need : kernel.needs) {
    needs.push_back(name_of_need(need));
  }
  Json formula = Json::array();
  for (const bench::OperationCount& count : kernel.formula) {
    formula.push_back({{"operation", bench::isa::name_of(count.operation)},
                       {"per_trip", count.per_trip},
                       {"once", count.once}});
  }
  return {{"id", kernel.id},
          {"description", kernel.description},
          {"shader", kernel.shader},
          {"subgroup_size", value_or_null(kernel.subgroup_size)},
          {"needs", std::move(needs)},
          {"formula", std::move(formula)},
          {"flops_per_trip", kernel.flops_per_trip},
          {"read_bytes_per_trip", kernel.read_bytes_per_trip},
          {"written_bytes_per_trip", kernel.written_bytes_per_trip}};
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kNotDone:
      return "not done";
    case Verdict::kNoFormula:
      return "no formula";
    case Verdict::kSkipped:
      return "skipped";
  }
  return "?";
}

bool is_good(const Verification& verification) {
  const auto& kernels = verification.kernels;
  const auto has = [&](Verdict verdict) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const KernelVerdict& kernel) { return kernel.verdict == verdict; });
  };
  return has(Verdict::kPassed) && !has(Verdict::kFailed) && !has(Verdict::kNotDone);
}

std::string to_json(const Verification& verification) {
  Json kernels = Json::array();
  for (const KernelVerdict& kernel : verification.kernels) {
    kernels.push_back(to_json(kernel));
  }
  return dump({{"schema", kSchema},
               {"device",
                {{"name", verification.device},
                 {"driver_info", text_or_null(verification.driver_info)},
                 {"family", text_or_null(verification.family)}}},
               {"kernels", std::move(kernels)}});
}

std::string not_verified_to_json(const std::string& why) {
  return dump({{"schema", kSchema}, {"device", nullptr}, {"why", why}, {"kernels", Json::array()}});
}

Result<Verification> verification_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Verification verification;
    const Json& device = json.at("device");
    verification.device = device.at("name").get<std::string>();
    verification.driver_info = text_at(device, "driver_info");
    verification.family = text_at(device, "family");
    for (const Json& kernel : json.at("kernels")) {
      verification.kernels.push_back(kernel_from(kernel));
    }
    return verification;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("the answer of the process that compiles cannot "
                                                 "be read: {}",
                                                 error.what()));
  }
}

std::string kernels_to_json(const std::vector<bench::KernelCase>& kernels) {
  Json list = Json::array();
  for (const bench::KernelCase& kernel : kernels) {
    list.push_back(to_json(kernel));
  }
  return dump({{"schema", kSchema}, {"kernels", std::move(list)}});
}

}  // namespace gputrace::commands
