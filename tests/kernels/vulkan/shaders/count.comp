#version 450
// Adds the push constant to each word: shows how often it ran, and in which order.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Words { uint values[]; } words;
layout(push_constant) uniform Push { uint factor; uint addend; uint trips; } push;

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint value = words.values[i];
  for (uint trip = 0; trip < push.trips; ++trip) {
    value = value * push.factor + push.addend;
  }
  words.values[i] = value;
}
