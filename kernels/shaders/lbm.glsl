// A step of lattice Boltzmann, D3Q19, in place: a cell takes the 19 populations that stream into it
// from where the step before left them, relaxes them towards equilibrium (one relaxation time; the
// incompressible form of He and Luo, 1997, which divides by nothing), and puts them where the next
// step looks. Pairs of opposite directions change places from step to step, so that no cell touches
// what another does (esoteric pull: Lehmann, 2022). The box is periodic, a power of two to each
// side; populations lie one direction after the other, less their weights, which keeps digits and
// changes nothing in these equations. They may be kept times a factor: that moves only the terms
// with squares. The including shader defines WORD, the type in memory, TAKEN(word), the population
// in it, and KEPT(population), the word for it.

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) buffer Populations { WORD populations[]; };
// Four cells a word, a byte each; only those with a zero move.
layout(binding = 1, std430) readonly buffer Flags { uint flags[]; };

layout(push_constant) uniform Push {
  uint x_bits;
  uint y_bits;
  uint z_bits;
  uint odd;          // the step's lowest bit
  float keep;        // 1 - 1/relaxation time
  float rest;        // weights by 1/relaxation time: at rest, along an axis, along a diagonal
  float axis;
  float diagonal;
  float of_square;   // -1.5 and 4.5 by the factor
  float of_wide;
};

// Direction 2p - 1 of a pair is (x, y, z), 2p the opposite one.
#define EACH_PAIR(M)                                                                    \
  M(1, 2, 1, 0, 0) M(3, 4, 0, 1, 0) M(5, 6, 0, 0, 1)                                    \
  M(7, 8, 1, 1, 0) M(9, 10, 1, -1, 0) M(11, 12, 1, 0, 1) M(13, 14, 1, 0, -1)            \
  M(15, 16, 0, 1, 1) M(17, 18, 0, 1, -1)

#define PLACE(dx, dy, dz)                                          \
  ((((((z + uint(dz)) & z_mask) << y_bits) + ((y + uint(dy)) & y_mask)) << x_bits) + \
   ((x + uint(dx)) & x_mask))

// The two places of a pair: here, and in the cell downstream.
#define FETCH(a, b, dx, dy, dz)                                         \
  uint near##a = (uint(b) - odd) * cells + cell;                        \
  uint far##a = (uint(a) + odd) * cells + PLACE(dx, dy, dz);            \
  precise float f##a = TAKEN(populations[near##a]);                     \
  precise float f##b = TAKEN(populations[far##a]);

#define ADD_UP(a, b, dx, dy, dz)                  \
  precise float sum##a = f##a + f##b;             \
  precise float flow##a = f##a - f##b;

#define STORE(a, b, dx, dy, dz)          \
  populations[far##a] = KEPT(f##a);      \
  populations[near##a] = KEPT(f##b);

// Vega's driver makes multiply-adds of a product and an addition where rounding allows: what it
// would join is joined here, so that all GPUs do the same.
#define RELAX_PAIR(a, b, along)                   \
  {                                               \
    precise float wide = of_wide * (along);       \
    precise float even = fma(wide, along, base);  \
    precise float ahead = fma(3.0, along, even);  \
    precise float behind = fma(-3.0, along, even);\
    precise float forth = BY##a * ahead;          \
    precise float back = BY##a * behind;          \
    f##a = fma(keep, f##a, forth);                \
    f##b = fma(keep, f##b, back);                 \
  }
#define BY1 axis
#define BY3 axis
#define BY5 axis
#define BY7 diagonal
#define BY9 diagonal
#define BY11 diagonal
#define BY13 diagonal
#define BY15 diagonal
#define BY17 diagonal

void main() {
  uint x_mask = (1u << x_bits) - 1, y_mask = (1u << y_bits) - 1, z_mask = (1u << z_bits) - 1;
  uint cells = 1u << (x_bits + y_bits + z_bits);
  uint cell = gl_GlobalInvocationID.x;
  if (((flags[cell >> 2] >> ((cell & 3u) * 8u)) & 255u) != 0u) {
    return;
  }
  uint x = cell & x_mask, y = (cell >> x_bits) & y_mask, z = cell >> (x_bits + y_bits);
  precise float f0 = TAKEN(populations[cell]);
  EACH_PAIR(FETCH)
  EACH_PAIR(ADD_UP)
  precise float density = ((f0 + sum1) + (sum3 + sum5)) +
                          (((sum7 + sum9) + (sum11 + sum13)) + (sum15 + sum17));
  precise float u = (flow1 + (flow7 + flow9)) + (flow11 + flow13);
  precise float v = (flow3 + (flow7 - flow9)) + (flow15 + flow17);
  precise float w = (flow5 + (flow11 - flow13)) + (flow15 - flow17);
  precise float square = fma(u, u, fma(v, v, w * w));
  precise float base = fma(of_square, square, density);
  precise float uv = u + v, u_v = u - v, uw = u + w, u_w = u - w, vw = v + w, v_w = v - w;
  precise float still = rest * base;
  f0 = fma(keep, f0, still);
  RELAX_PAIR(1, 2, u) RELAX_PAIR(3, 4, v) RELAX_PAIR(5, 6, w)
  RELAX_PAIR(7, 8, uv) RELAX_PAIR(9, 10, u_v) RELAX_PAIR(11, 12, uw) RELAX_PAIR(13, 14, u_w)
  RELAX_PAIR(15, 16, vw) RELAX_PAIR(17, 18, v_w)
  populations[cell] = KEPT(f0);
  EACH_PAIR(STORE)
}
