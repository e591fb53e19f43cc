#version 460

// A point of the roofline: four vec4 in, any number of multiply-adds, four vec4 out. The body of
// the loop is one multiply-add for each of the 16 numbers, whatever the arithmetic intensity: one
// trip is 32 FLOP on 128 bytes, 0.25 FLOP/B, and each further trip adds as much. So all points run
// the same code, and no limit of the compiler or of the instruction cache lies between them.
// The numbers turn in pairs: see alu.glsl.

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer From { vec4 from[]; };
layout(binding = 1, std430) writeonly buffer To { vec4 to[]; };

layout(push_constant) uniform Push {
  layout(offset = 0) uint trips;
  layout(offset = 8) float x;
  layout(offset = 16) float y;
};

#define EACH(M) M(x) M(y) M(z) M(w)
#define TURN_P(i) p0.i = fma(x, q0.i, p0.i); p1.i = fma(x, q1.i, p1.i);
#define TURN_Q(i) q0.i = fma(y, p0.i, q0.i); q1.i = fma(y, p1.i, q1.i);

void main() {
  // Lanes beside each other take vectors beside each other.
  uint step = gl_WorkGroupSize.x;
  uint at = gl_WorkGroupID.x * (4 * step) + gl_LocalInvocationIndex;
  vec4 p0 = from[at];
  vec4 p1 = from[at + step];
  vec4 q0 = from[at + 2 * step];
  vec4 q1 = from[at + 3 * step];
  for (uint trip = 0; trip < trips; trip++) {
    EACH(TURN_P)
    EACH(TURN_Q)
  }
  to[at] = p0;
  to[at + step] = p1;
  to[at + 2 * step] = q0;
  to[at + 3 * step] = q1;
}
