#version 460

// Products of matrices, one for each group: a tile of SIDE x SIDE numbers that are sums over a
// depth. Panels of both factors, eight deep, go through shared memory; each thread holds a block of
// BLOCK x BLOCK sums. Factors lie as such kernels pack them: for each unit of depth a column of the
// left one, then a row of the right one. So each number is loaded from memory once.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SIDE = 64;       // of the tile
layout(constant_id = 2) const uint BLOCKS = 16;     // a side; threads = its square
layout(constant_id = 3) const uint QUADS = 1;       // vectors of a side of a thread's block: 1 or 2
layout(constant_id = 4) const uint LOADS = 1;       // vectors that a thread loads of a panel

const uint kDepth = 8;

layout(binding = 0, std430) readonly buffer Factors { vec4 factors[]; };
layout(binding = 1, std430) writeonly buffer Products { vec4 products[]; };

layout(push_constant) uniform Push {
  uint panels;
  uint group_panels;  // panels from a group's factors to the next group's
};

const uint kDepthVectors = SIDE / 2;  // of one unit of depth, both factors
const uint kPanelVectors = kDepth * kDepthVectors;
shared vec4 panel[kPanelVectors];

// Row `r` of a block: 4 numbers of the left factor times 4 or 8 of the right one.
#define ROWS(left, s, right) \
  s##0 = fma(vec4(left.x), right, s##0); \
  s##1 = fma(vec4(left.y), right, s##1); \
  s##2 = fma(vec4(left.z), right, s##2); \
  s##3 = fma(vec4(left.w), right, s##3);

#define DEEPER(k)                                            \
  {                                                          \
    vec4 left0 = panel[k * kDepthVectors + row];             \
    vec4 right0 = panel[k * kDepthVectors + column];         \
    ROWS(left0, a, right0)                                \
    if (QUADS == 2) {                                        \
      vec4 left1 = panel[k * kDepthVectors + row + BLOCKS];  \
      vec4 right1 = panel[k * kDepthVectors + column + BLOCKS]; \
      ROWS(left0, b, right1)                              \
      ROWS(left1, c, right0)                              \
      ROWS(left1, d, right1)                              \
    }                                                        \
  }

#define ZERO(s) vec4 s##0 = vec4(0), s##1 = vec4(0), s##2 = vec4(0), s##3 = vec4(0);
#define STORE_ROWS(s, first_row, quad)                          \
  products[at + (first_row) * kSideVectors + quad] = s##0;      \
  products[at + (first_row + 1) * kSideVectors + quad] = s##1;  \
  products[at + (first_row + 2) * kSideVectors + quad] = s##2;  \
  products[at + (first_row + 3) * kSideVectors + quad] = s##3;

void main() {
  const uint kSideVectors = SIDE / 4;
  // Blocks of a side lie BLOCKS vectors apart: lanes beside each other take vectors beside each
  // other.
  uint row = gl_LocalInvocationIndex / BLOCKS;
  uint across = gl_LocalInvocationIndex % BLOCKS;
  uint column = SIDE / 4 + across;
  uint next = gl_WorkGroupID.x * group_panels * kPanelVectors + gl_LocalInvocationIndex;
  ZERO(a) ZERO(b) ZERO(c) ZERO(d)
  for (uint i = 0; i < panels; i++) {
    vec4 load0 = factors[next];
    vec4 load1 = vec4(0);
    if (LOADS == 2) {
      load1 = factors[next + gl_WorkGroupSize.x];
    }
    barrier();
    panel[gl_LocalInvocationIndex] = load0;
    if (LOADS == 2) {
      panel[gl_LocalInvocationIndex + gl_WorkGroupSize.x] = load1;
    }
    barrier();
    DEEPER(0) DEEPER(1) DEEPER(2) DEEPER(3) DEEPER(4) DEEPER(5) DEEPER(6) DEEPER(7)
    next += kPanelVectors;
  }
  uint at = gl_WorkGroupID.x * (SIDE * kSideVectors);
  STORE_ROWS(a, 4 * row, across)
  if (QUADS == 2) {
    STORE_ROWS(b, 4 * row, across + BLOCKS)
    STORE_ROWS(c, 4 * (row + BLOCKS), across)
    STORE_ROWS(d, 4 * (row + BLOCKS), across + BLOCKS)
  }
}
