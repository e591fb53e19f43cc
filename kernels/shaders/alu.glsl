// The rate of one operation of a type's arithmetic. The including shader defines NUMBER, the type,
// its form in memory (STORED, FROM_STORED, TO_STORED), the PAIRS of accumulators with
// EACH(M, x, y) = M(0, x, y) M(1, x, y) ... of them, FLOATS or INTEGERS, LONG_BODY,
// SHORT_FUNCTIONS for those of many instructions. It is compiled once for each operation, which is
// defined by its name: as a specialization constant it would leave drivers hundreds of branches to
// fold, most of the time that they compile.
//
// Each pair turns: p takes a step with q, then q with what p became. So no step is the same in two
// rounds, which a compiler would hoist out of the loop, none can be joined with the next, and none
// has a literal. Steps neither grow nor settle, so that every number of them ends somewhere else:
// fma turns on an ellipse (x * y between -4 and 0); products and quotients turn in their logarithms;
// a function takes a McMillan map around one of its places of rest.

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

#ifdef FLOATS
// `c` is p's constant or q's; `factor` changes between both from round to round, as products need
// it. `precise`, or a compiler may take p - q + q for p.
NUMBER stepped(NUMBER own, NUMBER other, NUMBER c, NUMBER factor, bool is_q) {
#if defined(ADD)
  precise NUMBER exact = is_q ? own + other : own - other;
#elif defined(MUL)
  precise NUMBER exact = own * factor;
#elif defined(FMA)
  NUMBER exact = fma(c, other, own);
#elif defined(MAD)
  NUMBER exact = c * other + own;
#elif defined(PRECISE_MAD)
  precise NUMBER exact = c * other + own;
#elif defined(DIV)
  precise NUMBER exact = c / (own * other);
#elif defined(RCP)
  precise NUMBER exact = NUMBER(1) / (own * other);
#elif defined(SQRT)
  precise NUMBER exact = sqrt(other) - own;
#elif defined(RSQRT)
  precise NUMBER exact = (c - own) + inversesqrt(other);
#elif defined(EXP2)
  precise NUMBER exact = exp2(other) - own;
#elif defined(LOG2)
  precise NUMBER exact = is_q ? own + log2(other) : own - log2(other);
#elif defined(SIN)
  precise NUMBER exact = sin(other) - own;
#elif defined(POW)
  precise NUMBER exact = pow(other, c) - own;
#endif
  return exact;
}
#endif

#ifdef INTEGERS
#ifndef MULTIPLY
#define MULTIPLY(a, b) ((a) * (b))
#endif
NUMBER stepped(NUMBER own, NUMBER other, NUMBER c, NUMBER factor, bool is_q) {
#if defined(ADD)
  return own + other;
#elif defined(MUL)
  return MULTIPLY(own, other);
#elif defined(MULHI)
  return MUL_HI(own, c);
#elif defined(MAD)
  return MULTIPLY(c, other) + own;
#endif
}
#endif

#define NUMBERS(i, x, y) NUMBER p##i, q##i;
#define LOAD(i, x, y)                                             \
  p##i = FROM_STORED(start[gl_LocalInvocationIndex].p[i]);        \
  q##i = FROM_STORED(start[gl_LocalInvocationIndex].q[i]);
#define TURN_P(i, x, y) p##i = stepped(p##i, q##i, c_of_p, x, false);
#define TURN_Q(i, x, y) q##i = stepped(q##i, p##i, c_of_q, y, true);
#define STORE(i, x, y)                 \
  result[slot].p[i] = TO_STORED(p##i); \
  result[slot].q[i] = TO_STORED(q##i);

NUMBER c_of_p;
NUMBER c_of_q;
EACH(NUMBERS, , )

void two_rounds() {
  EACH(TURN_P, c_of_p, c_of_q)
  EACH(TURN_Q, c_of_p, c_of_q)
  EACH(TURN_P, c_of_q, c_of_p)
  EACH(TURN_Q, c_of_q, c_of_p)
}

void eight_rounds() {
  two_rounds();
  two_rounds();
  two_rounds();
  two_rounds();
}

void main() {
  c_of_p = FROM_STORED(stored_x);
  c_of_q = FROM_STORED(stored_y);
  EACH(LOAD, , )
  // Ten rounds, or 34: no multiple of the three and six after which some begin anew, and an odd
  // number of changes of sign.
  for (uint trip = 0; trip < trips; trip++) {
    two_rounds();
#if !defined(SHORT_FUNCTIONS) || defined(ADD) || defined(MUL) || defined(FMA) || defined(MAD) || \
    defined(PRECISE_MAD)
    eight_rounds();
#endif
#ifdef LONG_BODY
    eight_rounds();
    eight_rounds();
    eight_rounds();
#endif
  }
  // Groups share a few slots: results that went to memory would take a part of the time.
  uint slot = gl_WorkGroupID.x % kResultGroups * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  EACH(STORE, , )
}
