// Includes the test framework. Debian 12 has Catch2 2.13, whose header names differ from those of version 3.
#pragma once
#include <catch2/catch.hpp>
