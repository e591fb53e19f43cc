// Reads of local memory, 4 bytes a lane.
#version 460
#extension GL_GOOGLE_include_directive : require
#define ELEMENT uint
#define ELEMENT_OF(word) ((word) * 0x9e3779b1u)
#define SUM(element) (element)
#include "local_bandwidth.glsl"
