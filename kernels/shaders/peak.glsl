// The rate of one multiply-add. The including shader defines NUMBER, the type of the arithmetic, its
// form in memory (STORED, FROM_STORED, TO_STORED), MULTIPLY_ADD(a, b, sum), the PAIRS of
// accumulators with EACH(M) = M(0) M(1) ... of them, and the BODY of a trip in ROUNDs.
//
// Each pair turns: p += x * q, then q += y * p. So no product is the same in two steps, which a
// compiler would hoist out of the loop, and no step can be joined with the next. The addend is the
// destination: RDNA has a short form of that, and pairs two of them in one issue. With x * y
// between -4 and 0 values go round an ellipse: they neither grow nor settle, so that every number
// of steps ends somewhere else.

layout(local_size_x_id = 0) in;

struct Chains {
  STORED p[PAIRS];
  STORED q[PAIRS];
};

layout(binding = 0, std430) readonly buffer Start { Chains start[]; };
layout(binding = 1, std430) writeonly buffer Result { Chains result[]; };

const uint kResultGroups = 64;

layout(push_constant) uniform Push {
  layout(offset = 0) uint trips;
  layout(offset = 8) STORED stored_x;
  layout(offset = 16) STORED stored_y;
};

#define LOAD(i)                                                          \
  NUMBER p##i = FROM_STORED(start[gl_LocalInvocationIndex].p[i]);        \
  NUMBER q##i = FROM_STORED(start[gl_LocalInvocationIndex].q[i]);
#define TURN_P(i) p##i = MULTIPLY_ADD(x, q##i, p##i);
#define TURN_Q(i) q##i = MULTIPLY_ADD(y, p##i, q##i);
#define STORE(i)                      \
  result[slot].p[i] = TO_STORED(p##i); \
  result[slot].q[i] = TO_STORED(q##i);
#define ROUND EACH(TURN_P) EACH(TURN_Q)

void main() {
  NUMBER x = FROM_STORED(stored_x);
  NUMBER y = FROM_STORED(stored_y);
  EACH(LOAD)
  for (uint trip = 0; trip < trips; trip++) {
    BODY
  }
  // Groups share a few slots: results that went to memory would take a part of the time.
  uint slot = gl_WorkGroupID.x % kResultGroups * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  EACH(STORE)
}
