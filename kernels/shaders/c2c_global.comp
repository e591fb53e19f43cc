// Two groups hand one word of memory to and fro by compare-and-swap. Nothing waits without bound:
// a group whose partner does not come gives up, and so does one whose tries are spent.
#version 460
layout(local_size_x_id = 0) in;
// Of local memory: above half of a core's, two groups cannot share it.
layout(constant_id = 1) const uint SPOIL_WORDS = 64;

layout(binding = 0, std430) coherent buffer Word { uint word; };  // alone in its line
layout(binding = 1, std430) coherent buffer Control {
  // Of this dispatch; the last group to leave clears them.
  uint arrived;
  uint gave_up;  // 1: the partner did not come, 2: the tries were spent
  uint left;
  // Of all dispatches.
  uint dispatches;
  uint missed;
  uint unfinished;
  uint handed;
  uint swaps[2];
  uint tries[2];
  uint seen;
};
layout(push_constant) uniform Push {
  uint swap_count;  // for each of the two
  uint first;
  uint second;
  uint looks;   // eight each, for the partner
  uint linger;  // looks of all others
  uint budget;  // of trips, eight tries each
};

shared uint spoil[SPOIL_WORDS];

bool both_come(uint most_looks) {
  uint come = 0;
  for (uint look = 0; look < most_looks && come < 2; look++) {
    // A driver may limit trips, not instructions.
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    come = atomicOr(arrived, 0u);
    if (atomicOr(gave_up, 0u) != 0) {
      return false;
    }
  }
  return come >= 2;
}

#define TRY                                                                     \
  if (done < swap_count && atomicCompSwap(word, wanted, wanted + 1) == wanted) { \
    wanted += 2;                                                                \
    done++;                                                                     \
  }

void play(uint me) {
  atomicAdd(arrived, 1u);
  if (!both_come(looks)) {
    atomicOr(gave_up, 1u);
    return;
  }
  uint wanted = me;
  uint done = 0;
  uint trips = 0;
  while (done < swap_count && trips < budget) {
    TRY TRY TRY TRY TRY TRY TRY TRY
    trips++;
    if ((trips & 255u) == 0 && atomicOr(gave_up, 0u) != 0) {
      break;
    }
  }
  if (done < swap_count) {
    atomicOr(gave_up, 2u);
  }
  atomicAdd(swaps[me], done);
  atomicAdd(tries[me], 8 * trips);
}

void main() {
  spoil[gl_LocalInvocationIndex % SPOIL_WORDS] = swap_count;
  barrier();
  if (gl_LocalInvocationIndex != 0) {
    return;
  }
  uint group = gl_WorkGroupID.x;
  if (group == first || group == second) {
    play(group == first ? 0 : 1);
  } else {
    // Stays until both have a place, so that they do not get the one that this group leaves.
    both_come(linger);
  }
  if (spoil[group % SPOIL_WORDS] == 0xffffffffu) {
    seen = group;
  }
  memoryBarrierBuffer();
  if (atomicAdd(left, 1u) + 1 == gl_NumWorkGroups.x) {
    uint reasons = atomicExchange(gave_up, 0u);
    atomicAdd(missed, reasons & 1u);
    atomicAdd(unfinished, reasons >> 1u);
    atomicAdd(dispatches, 1u);
    atomicAdd(handed, atomicExchange(word, 0u));
    atomicExchange(arrived, 0u);
    atomicExchange(left, 0u);
  }
}
