// One word of local memory, handed to and fro by compare-and-swap between the first lanes of two
// waves, or between two lanes of one wave, which take the same steps. The tries are bounded.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LANES = 0;  // 1: two lanes of one wave

layout(binding = 0, std430) coherent buffer Control {
  uint dispatches;
  uint missed;      // there was one wave only
  uint unfinished;  // the tries were spent
  uint handed;
  uint swaps[2];
  uint tries[2];
};
layout(push_constant) uniform Push {
  uint swap_count;
  uint budget;  // of trips, four tries each
};

shared uint word;

#define TRY                                                                     \
  if (done < swap_count && atomicCompSwap(word, wanted, wanted + 1) == wanted) { \
    wanted += 2;                                                                \
    done++;                                                                     \
  }

void main() {
  if (gl_LocalInvocationIndex == 0) {
    word = 0;
  }
  barrier();
  uint me = 2;
  if (LANES == 1) {
    me = min(gl_LocalInvocationIndex, 2u);
  } else if (gl_NumSubgroups >= 2 && gl_SubgroupInvocationID == 0) {
    me = min(gl_SubgroupID, 2u);
  }
  if (me < 2) {
    uint wanted = me;
    uint done = 0;
    uint trips = 0;
    while (done < swap_count && trips < budget) {
      TRY TRY TRY TRY
      trips++;
    }
    if (done < swap_count) {
      atomicOr(unfinished, 1u);
    }
    atomicAdd(swaps[me], done);
    atomicAdd(tries[me], 4 * trips);
  }
  barrier();
  if (gl_LocalInvocationIndex == 0) {
    if (LANES == 0 && gl_NumSubgroups < 2) {
      atomicOr(missed, 1u);
    }
    atomicAdd(handed, word);
    atomicAdd(dispatches, 1u);
  }
}
