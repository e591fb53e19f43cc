#define CHAINS_DO(STEP) \
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
// Of a lane's chains, so far that no compiler loads two at once.
const uint kPlacesApart = 64;
#define LOAD(c)                                      \
  if (CHAINS > c) {                                  \
    p##c = FROM_PLACE(places[c * kPlacesApart + position]); \
  }
#define HOP(c)        \
  if (CHAINS > c) {   \
    p##c = NEXT(p##c); \
  }
#define STORE(c)                                    \
  if (CHAINS > c) {                                 \
    places[c * kPlacesApart + position] = TO_PLACE(p##c); \
  }
#define HOP_4 CHAINS_DO(HOP) CHAINS_DO(HOP) CHAINS_DO(HOP) CHAINS_DO(HOP)

#ifndef PREPARE
#define PREPARE
#endif

void main() {
  PREPARE
  POINTER p0, p1, p2, p3, p4, p5, p6, p7;
  // A position that may differ between lanes makes every load of the chain one of the vector path.
  // In a group of one thread the local index is known to be 0; the index in the subgroup is not.
  const uint position = SCALAR == 1                ? 0
                        : gl_WorkGroupSize.x == 1u ? gl_SubgroupInvocationID
                                                   : gl_LocalInvocationIndex;
  CHAINS_DO(LOAD)
  for (uint trip = 0; trip < trips; trip++) {
    HOP_4 HOP_4 HOP_4 HOP_4
  }
  CHAINS_DO(STORE)
}
