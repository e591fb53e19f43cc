// Reads of local memory: eight a trip. The including shader defines ELEMENT, what a lane reads at
// once, ELEMENT_OF(word) and SUM(element), a word of all its parts.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint STRIDE = 1;  // elements from lane to lane: banks that meet
layout(constant_id = 2) const uint ELEMENTS = 1024;  // a power of two

layout(binding = 0, std430) writeonly buffer Sums { uint sums[]; };
layout(push_constant) uniform Push { uint trips; };

// Eight reads of a trip lie 8 elements apart: their addresses are constants in the instructions.
const uint kApart = 8;
const uint kSlack = 64;
shared ELEMENT elements[ELEMENTS + kSlack];

void main() {
  for (uint i = gl_LocalInvocationIndex; i < ELEMENTS + kSlack; i += gl_WorkGroupSize.x) {
    elements[i] = ELEMENT_OF(i);
  }
  barrier();
  uint place = gl_LocalInvocationIndex * STRIDE & (ELEMENTS - 1);
  ELEMENT even = ELEMENT(0);
  ELEMENT odd = ELEMENT(0);
  for (uint trip = 0; trip < trips; trip++) {
    // Sums, not exclusive ors: what is read an even number of times would cancel.
    even += elements[place];
    odd += elements[place + kApart];
    even += elements[place + 2 * kApart];
    odd += elements[place + 3 * kApart];
    even += elements[place + 4 * kApart];
    odd += elements[place + 5 * kApart];
    even += elements[place + 6 * kApart];
    odd += elements[place + 7 * kApart];
    place = (place + kSlack) & (ELEMENTS - 1);
  }
  sums[gl_GlobalInvocationID.x] = SUM(even + odd);
}
