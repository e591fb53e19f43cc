#version 460

// One step of a five-point stencil on a periodic grid. A thread takes four columns and goes down a
// band of rows with three rows in registers, so that each row is loaded once; the numbers beside
// its columns are in lines that its neighbours load.

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer From { vec4 from[]; };
layout(binding = 0, std430) readonly buffer FromNumbers { float numbers[]; };
layout(binding = 1, std430) writeonly buffer To { vec4 to[]; };
layout(binding = 2, std430) writeonly buffer Ends { uint ends[]; };

layout(push_constant) uniform Push {
  uint rows;          // of a band
  uint columns_mask;  // vectors of a row less one, a power of two less one
  uint columns_bits;
  uint rows_mask;  // of the grid
  uint band_rows;  // from a band to the next
  float centre;
  float beside;
};

void main() {
  uint column = gl_GlobalInvocationID.x & columns_mask;
  uint row = (gl_GlobalInvocationID.x >> columns_bits) * band_rows;
  uint first = 4 * column;
  uint numbers_mask = 4 * columns_mask + 3;
  uint left = (first - 1) & numbers_mask;
  uint right = (first + 4) & numbers_mask;
  vec4 above = from[(((row - 1) & rows_mask) << columns_bits) + column];
  vec4 here = from[((row & rows_mask) << columns_bits) + column];
  for (uint i = 0; i < rows; i++) {
    vec4 below = from[(((row + 1) & rows_mask) << columns_bits) + column];
    uint row_numbers = (row & rows_mask) << (columns_bits + 2);
    float before = numbers[row_numbers + left];
    float after = numbers[row_numbers + right];
    precise vec4 sum = above + below;
    sum = sum + vec4(before, here.xyz);
    sum = sum + vec4(here.yzw, after);
    precise vec4 kept = centre * here;
    to[((row & rows_mask) << columns_bits) + column] = fma(vec4(beside), sum, kept);
    above = here;
    here = below;
    row++;
  }
  ends[gl_GlobalInvocationID.x] = row;
}
