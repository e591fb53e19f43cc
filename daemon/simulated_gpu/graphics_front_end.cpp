#include "daemon/simulated_gpu/graphics_front_end.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputrace::simulated_gpu {

namespace {

constexpr double kVerticesPerTriangle = 0.6;  // [A] indexed meshes reuse vertices
constexpr int kVertexGroup = 256;
constexpr double kVertexFlops = 200;        // [A]
constexpr double kGeometryLeadNs = 2000;    // [A] GE works this far ahead of its vertex waves
constexpr double kPrimitiveLatencyNs = 20;  // [A]

class FrontEnd {
 public:
  FrontEnd(Network& network, const Pass& pass, double start_ns, int bundles,
           double flops_per_clk_cu)
      : network_(network),
        pass_(pass),
        flops_per_clk_cu_(flops_per_clk_cu),
        geometry_free_ns_(start_ns),
        primitives_free_ns_(start_ns),
        raster_free_ns_(start_ns) {
    result_.commands_done_ns = start_ns;
    result_.primitives_done_ns = start_ns;
    result_.rastered_ns.reserve(static_cast<std::size_t>(bundles));
    result_.cost.reserve(static_cast<std::size_t>(bundles));
  }

  FrontEndResult run(int bundles) {
    // Draws differ in size and in cost: equal ones would make the waves march in step.
    const int draws = std::max(1, static_cast<int>(pass_.draws));
    std::vector<double> weights(static_cast<std::size_t>(draws));
    for (double& weight : weights) {
      weight = network_.random().exponential(1) + 0.05;
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double due = 0;
    int made = 0;
    for (int draw = 0; draw < draws; ++draw) {
      const double primitives_begin_ns = shade_vertices(pass_.triangles / draws);
      const double cost = draws > 1 ? 0.3 + network_.random().exponential(0.7) : 1;
      due += weights[static_cast<std::size_t>(draw)] / total * bundles;
      const bool last = draw + 1 == draws;
      const int until = std::min(bundles, last ? bundles : static_cast<int>(std::lround(due)));
      rasterise(until - made, primitives_begin_ns, static_cast<float>(cost));
      made = until;
    }
    return std::move(result_);
  }

 private:
  /// Issues a draw, runs its vertex waves and assembles its primitives; returns when the first
  /// primitive is at PA.
  double shade_vertices(double triangles) {
    result_.commands_done_ns += pass_.command_us * 1000;
    const double begin_ns = std::max(result_.commands_done_ns, geometry_free_ns_);
    const int groups =
        std::max(1, static_cast<int>(std::lround(triangles * kVerticesPerTriangle / kVertexGroup)));
    double shaded_ns = begin_ns;
    for (int i = 0; i < groups; ++i) {
      shaded_ns = std::max(shaded_ns, run_vertex_group(begin_ns));
    }
    geometry_free_ns_ = std::max(begin_ns + network_.clk(triangles * kVerticesPerTriangle),
                                 shaded_ns - kGeometryLeadNs);
    network_.busy().add(Unit::kGe, begin_ns, std::max(geometry_free_ns_, shaded_ns));
    const double primitives_begin_ns = std::max(primitives_free_ns_, shaded_ns);
    primitives_free_ns_ =
        primitives_begin_ns + network_.clk(triangles / network_.gpu().primitives_per_clk);
    result_.primitives_done_ns = primitives_free_ns_;
    for (const Unit unit : {Unit::kPa, Unit::kPc}) {
      network_.busy().add(unit, primitives_begin_ns, primitives_free_ns_ + kPrimitiveLatencyNs);
    }
    return primitives_begin_ns;
  }

  double run_vertex_group(double begin_ns) {
    VectorMemoryStep fetch;
    fetch.lines = pass_.vertex_bytes / kLineBytes;
    fetch.sectors = pass_.vertex_bytes / kSectorBytes;
    fetch.address_cycles = 0.5;
    fetch.gl2_miss = 0.7;  // [A]
    constexpr double kSpiClkPerVertexGroup = 4 * 4;
    const double launched =
        network_.spi.serve_in_order(begin_ns, network_.clk(kSpiClkPerVertexGroup));
    const int cu = static_cast<int>(network_.random().uniform() * network_.gpu().compute_units);
    const double fetched = network_.vector_read(launched, cu, fetch, kVertexGroup);
    const double shaded = fetched + network_.clk(kVertexGroup * kVertexFlops / flops_per_clk_cu_);
    network_.busy().add(Unit::kSpi, launched, shaded);
    return shaded;
  }

  void rasterise(int bundles, double primitives_begin_ns, float cost) {
    const double assembly_ns = primitives_free_ns_ - primitives_begin_ns;
    for (int i = 0; i < bundles; ++i) {
      const double assembled = primitives_begin_ns + assembly_ns * (i + 1) / bundles;
      raster_free_ns_ = std::max(raster_free_ns_, assembled) +
                        network_.clk(pass_.group_threads / network_.gpu().raster_pixels_per_clk);
      if (pass_.depth_bytes > 0) {
        const double depth_ns =
            network_.clk(pass_.group_threads / network_.gpu().depth_pixels_per_clk);
        raster_free_ns_ =
            std::max(raster_free_ns_, network_.depth.serve_in_order(raster_free_ns_, depth_ns));
      }
      result_.rastered_ns.push_back(raster_free_ns_);
      result_.cost.push_back(cost);
    }
  }

  Network& network_;
  const Pass& pass_;
  double flops_per_clk_cu_;
  double geometry_free_ns_;
  double primitives_free_ns_;
  double raster_free_ns_;
  FrontEndResult result_;
};

}  // namespace

FrontEndResult run_front_end(Network& network, const Pass& pass, double start_ns, int bundles,
                             double flops_per_clk_cu) {
  return FrontEnd(network, pass, start_ns, bundles, flops_per_clk_cu).run(bundles);
}

}  // namespace gputrace::simulated_gpu
