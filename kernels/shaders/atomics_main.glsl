// 16 atomic operations a trip. FLOATS: additions alone, of 1.0, so that every sum is exact. The words, WORDS(p), are in a buffer or, with SHARED, in local memory.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint OPERATION = 0;  // 0 add, 1 add with result, 2 cmpxchg, 3 xor
// 1: the compiler sees that all lanes use one word. Then RADV adds up a wave first, and one lane
// does one atomic for all of them. 0: places come from a table, and every lane does its own.
layout(constant_id = 2) const uint ONE_KNOWN_WORD = 0;

layout(binding = 0, std430) buffer Words { WORD words[]; };
layout(binding = 1, std430) writeonly buffer Results { WORD results[]; };
layout(binding = 2, std430) readonly buffer Places { uint places[]; };
layout(push_constant) uniform Push {
  uint trips;
  uint mask;
  uint value;
  uint known_place;
};

#ifdef FLOATS
#define STEP_OF(k) WORD(1)
#define FLIPPED(a, b) (a)
#else
#define STEP_OF(k) (step + WORD(k))
#define FLIPPED(a, b) ((a) ^ (b))
#endif

#ifdef SHARED
const uint kShared = 4096;
shared WORD local_words[kShared];
#define WORDS local_words
#define TIMES_16(STEP)                                                            \
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) \
  STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
#define CLEAR(k) local_words[gl_LocalInvocationIndex + k * gl_WorkGroupSize.x] = WORD(0);
#define SUM_UP(k) sum = OPERATION == 3 \
  ? FLIPPED(sum, local_words[gl_LocalInvocationIndex + k * gl_WorkGroupSize.x]) \
  : sum + local_words[gl_LocalInvocationIndex + k * gl_WorkGroupSize.x];
layout(binding = 3, std430) writeonly buffer Sums { WORD sums[]; };
#else
#define WORDS words
#endif

void main() {
#ifdef SHARED
  TIMES_16(CLEAR)
  barrier();
#endif
  const uint place =
      ONE_KNOWN_WORD == 1 ? known_place : places[gl_GlobalInvocationID.x & mask];
  const WORD step = WIDEN(value);
  const WORD own = WIDEN(value + gl_GlobalInvocationID.x * 2u);
  WORD result = WORD(0);
  WORD seen = WORD(0);
  for (uint trip = 0; trip < trips; trip++) {
    if (OPERATION == 0) {
#define ADD(k) atomicAdd(WORDS[place], STEP_OF(k));
      ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)
      ADD(8) ADD(9) ADD(10) ADD(11) ADD(12) ADD(13) ADD(14) ADD(15)
    } else if (OPERATION == 1) {
#define TAKE(k) result += atomicAdd(WORDS[place], STEP_OF(k));
      TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5) TAKE(6) TAKE(7)
      TAKE(8) TAKE(9) TAKE(10) TAKE(11) TAKE(12) TAKE(13) TAKE(14) TAKE(15)
#ifndef FLOATS
    } else if (OPERATION == 2) {
// What this lane saw last is what it expects next; a swap that succeeds adds `step`.
#define SWAP                                                              \
  {                                                                       \
    const WORD before = atomicCompSwap(WORDS[place], seen, seen + step);  \
    result += before == seen ? WORD(1) : WORD(0);                         \
    seen = before == seen ? seen + step : before;                         \
  }
      SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP SWAP
    } else {
// The first differs from trip to trip: a lost pair of trips would else cancel.
#define FLIP(k) atomicXor(WORDS[place], own + WORD(k));
      atomicXor(WORDS[place], own ^ WIDEN(trip * 0x9e3779b9u));
      FLIP(1) FLIP(2) FLIP(3) FLIP(4) FLIP(5) FLIP(6) FLIP(7)
      FLIP(8) FLIP(9) FLIP(10) FLIP(11) FLIP(12) FLIP(13) FLIP(14) FLIP(15)
#endif
    }
  }
  if (OPERATION == 1 || OPERATION == 2) {
    results[gl_GlobalInvocationID.x] = result;
  }
#ifdef SHARED
  barrier();
  WORD sum = WORD(0);
  TIMES_16(SUM_UP)
  sums[gl_GlobalInvocationID.x] = sum;
#endif
}
