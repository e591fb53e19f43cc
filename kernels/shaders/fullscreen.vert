#version 460

// One triangle over the whole target: two would draw the pixels along their common edge twice, in
// quads that are half outside.

void main() {
  vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
  gl_Position = vec4(corner * 2 - 1, 0, 1);
}
