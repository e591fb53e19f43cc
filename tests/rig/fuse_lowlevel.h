// libfuse's header, for one version of its interface.
#pragma once

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
