// Constants and the places where chains begin, and where each run leaves them: the next run goes on
// from there, since one that began anew would walk nodes that are still in the cache.
layout(local_size_x_id = 0) in;  // a lane or a wave
layout(constant_id = 1) const uint SCALAR = 0;  // 1: one address for the whole group
layout(constant_id = 2) const uint CHAINS = 1;  // 1 to 8 a lane

// Byte offsets from the first node, or coordinates of texels, chain by chain.
layout(binding = 0, std430) restrict buffer Places { uint places[]; };
layout(push_constant) uniform Push {
  uvec2 base;   // the address of the first node
  uint trips;
  uint words;   // of local memory
  vec2 scale;   // from texels to coordinates
};
