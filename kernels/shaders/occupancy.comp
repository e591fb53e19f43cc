// How many groups are in flight at once: each counts itself in, dwells on a pointer chase, and
// counts itself out. No group waits for another. Registers and local memory limit how many fit.
#version 460
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint KEPT = 0;          // times 16 words a lane, up to 8
layout(constant_id = 2) const uint SHARED_WORDS = 1;  // of local memory; 1 = none

layout(binding = 0, std430) coherent buffer Census {
  uint live;
  uint peak;
  uint arrived;
};
layout(binding = 1, std430) readonly restrict buffer Nodes { uint next[]; };
// Not readonly: loads from it must stay before the dwell, so that their registers are held.
layout(binding = 2, std430) buffer Kept { uvec4 kept[]; };
layout(binding = 3, std430) writeonly restrict buffer Results { uint results[]; };
layout(push_constant) uniform Push {
  uint trips;
  uint stride;  // 0: all lanes follow one chain, and the compiler does not know it
};

shared uint spoil[SHARED_WORDS];

#define BLOCKS(STEP) STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#define DECLARE(n) uvec4 a##n, b##n, c##n, d##n;
#define TAKE(n)                             \
  if (KEPT > n) {                           \
    a##n = kept[lane + 64u * (4u * n)];      \
    b##n = kept[lane + 64u * (4u * n + 1u)]; \
    c##n = kept[lane + 64u * (4u * n + 2u)]; \
    d##n = kept[lane + 64u * (4u * n + 3u)]; \
  }
#define FOLD(n)                                              \
  if (KEPT > n) {                                            \
    sum = sum * 3u + (a##n ^ (b##n * 5u)) + (c##n ^ (d##n * 7u)); \
  }
#define HOP p = next[p];
#define HOP_4 HOP HOP HOP HOP

void main() {
  const uint lane = gl_LocalInvocationIndex & 63u;
  if (SHARED_WORDS > 1) {
    spoil[(gl_LocalInvocationIndex * 97u) % SHARED_WORDS] = lane;
  }
  BLOCKS(DECLARE)
  BLOCKS(TAKE)
  if (gl_LocalInvocationIndex == 0) {
    const uint now = atomicAdd(live, 1u) + 1u;
    atomicMax(peak, now);
    atomicAdd(arrived, 1u);
  }
  uint p = lane * stride;
  barrier();
  for (uint trip = 0; trip < trips; trip++) {
    HOP_4 HOP_4 HOP_4 HOP_4
  }
  barrier();
  // Nodes are nowhere near this: a group leaves when its dwell is over, not before.
  if (gl_LocalInvocationIndex == 0 && p != 0xffffffffu) {
    atomicAdd(live, 0xffffffffu);
  }
  uvec4 sum = uvec4(p, 1u, 2u, 3u);
  BLOCKS(FOLD)
  if (SHARED_WORDS > 1 && p == 0xffffffffu) {
    sum.x += spoil[(gl_LocalInvocationIndex * 31u) % SHARED_WORDS];
  }
  results[gl_LocalInvocationIndex] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}
