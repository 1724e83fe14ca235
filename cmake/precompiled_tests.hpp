// Precompiled headers for test programs.
#pragma once
#include "cmake/precompiled.hpp"
#include "test/support/catch.hpp"
