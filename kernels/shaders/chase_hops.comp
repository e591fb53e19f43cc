// Pointer chase in which every hop is timed by the clock of the core it runs on.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_ARB_shader_clock : require
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x = 1) in;
layout(binding = 0, std430) restrict buffer Places { uint places[]; };
layout(binding = 2, std430) restrict writeonly buffer Ticks { uint ticks[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer Node {
  uint64_t next;
};
layout(push_constant) uniform Push {
  uvec2 base;  // the address of the first node
  uint trips;  // hops
};

// The last ones are kept.
const uint KEPT = 4096u;
// A store to memory behind every hop would take part in what is measured.
shared uint at_hop[KEPT];

void main() {
  // Not known to be 0, so that loads are those of the vector path.
  const uint position = gl_SubgroupInvocationID;
  uint64_t p = packUint2x32(base) + uint64_t(places[position]);
  for (uint i = 0; i < trips; i++) {
    p = Node(p).next;
    // Never so. Without a branch on what was loaded the clock is read before the load has ended.
    if (p == 0ul) {
      break;
    }
    at_hop[i % KEPT] = clock2x32ARB().x;
  }
  places[position] = uint(p - packUint2x32(base));
  for (uint i = 0; i < KEPT; i += 16u) {
    for (uint k = 0; k < 16u; k++) {
      ticks[i + k] = at_hop[i + k];
    }
  }
}
