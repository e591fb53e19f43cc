#version 460

// The rate of fp32 additions, which no other operation of a lane exceeds. Pairs turn: p -= q, then
// q += p, which comes back to its start after six rounds. `precise`, or a compiler may take the
// second step for what p was before the first.

layout(local_size_x_id = 0) in;

const uint kResultGroups = 64;

struct Chains {
  float p[8];
  float q[8];
};

layout(binding = 0, std430) readonly buffer Start { Chains start[]; };
layout(binding = 1, std430) writeonly buffer Result { Chains result[]; };

layout(push_constant) uniform Push { uint trips; };

#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define LOAD(i)                                              \
  precise float p##i = start[gl_LocalInvocationIndex].p[i];  \
  precise float q##i = start[gl_LocalInvocationIndex].q[i];
#define TURN_P(i) p##i = p##i - q##i;
#define TURN_Q(i) q##i = q##i + p##i;
#define ROUND EACH(TURN_P) EACH(TURN_Q)
#define STORE(i)            \
  result[at].p[i] = p##i;   \
  result[at].q[i] = q##i;

void main() {
  EACH(LOAD)
  for (uint trip = 0; trip < trips; trip++) {
    ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND
  }
  uint at = gl_WorkGroupID.x % kResultGroups * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  EACH(STORE)
}
