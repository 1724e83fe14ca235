#define CATCH_CONFIG_MAIN
#include "test/support/catch.hpp"
