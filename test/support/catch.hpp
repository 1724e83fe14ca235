// The test framework, in one place: Debian 12 has Catch2 2.13, whose header names differ from version 3's.
#pragma once
#include <catch2/catch.hpp>
