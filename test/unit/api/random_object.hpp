// Makes random values of described types, and damages JSON documents at random.
#pragma once
#include <boost/json/value.hpp>
#include <cstdint>
#include <random>

#include "api/type.hpp"

namespace test {

using Generator = std::mt19937_64;

// Returns a number less than `bound`.
std::size_t below(Generator& generator, std::size_t bound);
// Fills a default-constructed value. Every list gets a few elements at most.
void fill(Generator& generator, const api::Type& type, void* value);
// Returns any JSON that is not null at the top.
boost::json::value junk(Generator& generator, int depth);
// Returns the same document with unknown members in its objects and with all members in another order. `type`
// distinguishes objects from maps, whose keys have a meaning.
boost::json::value disguise(Generator& generator, const boost::json::value& document, const api::Type& type);
// Replaces one value below the top by another kind of value.
void break_one(Generator& generator, boost::json::value& document);

}  // namespace test
