// One step of lattice Boltzmann, D3Q19: a cell takes the 19 populations that stream into it,
// relaxes them towards equilibrium (one relaxation time; the incompressible form of He and Luo,
// 1997, which divides by nothing), and writes them to the other buffer. The box is periodic, a
// power of two to each side; populations lie one direction after the other. Each number is read
// once and written once. Populations are kept less their weights, which keeps digits and changes
// nothing in these equations. The including shader defines WORD, the type in memory, and
// TAKEN(word), the population in it.

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer From { WORD from[]; };
layout(binding = 1, std430) writeonly buffer To { WORD to[]; };

layout(push_constant) uniform Push {
  uint x_bits;
  uint y_bits;
  uint z_bits;
  float keep;     // 1 - 1/relaxation time
  float rest;     // weights by 1/relaxation time: at rest, along an axis, along a diagonal
  float axis;
  float diagonal;
};

// Direction 2p - 1 of a pair is (x, y, z), 2p the opposite one.
#define EACH_PAIR(M)                                                                    \
  M(1, 2, 1, 0, 0) M(3, 4, 0, 1, 0) M(5, 6, 0, 0, 1)                                    \
  M(7, 8, 1, 1, 0) M(9, 10, 1, -1, 0) M(11, 12, 1, 0, 1) M(13, 14, 1, 0, -1)            \
  M(15, 16, 0, 1, 1) M(17, 18, 0, 1, -1)

#define PLACE(dx, dy, dz)                                          \
  ((((((z + uint(dz)) & z_mask) << y_bits) + ((y + uint(dy)) & y_mask)) << x_bits) + \
   ((x + uint(dx)) & x_mask))

#define FETCH(a, b, dx, dy, dz)                                \
  WORD word##a = from[a * cells + PLACE(-(dx), -(dy), -(dz))]; \
  WORD word##b = from[b * cells + PLACE(dx, dy, dz)];

#define TAKE(a, b, dx, dy, dz)                    \
  precise float f##a = TAKEN(word##a); \
  precise float f##b = TAKEN(word##b); \
  precise float sum##a = f##a + f##b;             \
  precise float flow##a = f##a - f##b;

// Vega's driver makes multiply-adds of a product and an addition where rounding allows: what it
// would join is joined here, so that all GPUs do the same.
#define RELAX_PAIR(a, b, along)                   \
  {                                               \
    precise float wide = 4.5 * (along);           \
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

// The relaxation of one cell, between populations f0 to f18.
#define COLLIDE                                                                              \
  precise float density = ((f0 + sum1) + (sum3 + sum5)) +                                    \
                          (((sum7 + sum9) + (sum11 + sum13)) + (sum15 + sum17));             \
  precise float u = (flow1 + (flow7 + flow9)) + (flow11 + flow13);                           \
  precise float v = (flow3 + (flow7 - flow9)) + (flow15 + flow17);                           \
  precise float w = (flow5 + (flow11 - flow13)) + (flow15 - flow17);                         \
  precise float square = fma(u, u, fma(v, v, w * w));                                        \
  precise float base = fma(-1.5, square, density);                                           \
  precise float uv = u + v, u_v = u - v, uw = u + w, u_w = u - w, vw = v + w, v_w = v - w;   \
  precise float still = rest * base;                                                         \
  f0 = fma(keep, f0, still);                                                                 \
  RELAX_PAIR(1, 2, u) RELAX_PAIR(3, 4, v) RELAX_PAIR(5, 6, w)                                \
  RELAX_PAIR(7, 8, uv) RELAX_PAIR(9, 10, u_v) RELAX_PAIR(11, 12, uw) RELAX_PAIR(13, 14, u_w) \
  RELAX_PAIR(15, 16, vw) RELAX_PAIR(17, 18, v_w)

#define LOCATE                                                                 \
  uint x_mask = (1u << x_bits) - 1, y_mask = (1u << y_bits) - 1, z_mask = (1u << z_bits) - 1; \
  uint cells = 1u << (x_bits + y_bits + z_bits);                               \
  uint cell = gl_GlobalInvocationID.x;                                         \
  uint x = cell & x_mask, y = (cell >> x_bits) & y_mask, z = cell >> (x_bits + y_bits);
