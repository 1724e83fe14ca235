// Random values of described types, and random harm to JSON documents.
#pragma once
#include <boost/json/value.hpp>
#include <cstdint>
#include <random>

#include "api/type.hpp"

namespace test {

using Generator = std::mt19937_64;

// Less than `bound`.
std::size_t below(Generator& generator, std::size_t bound);
// Fills a default-constructed value; every list has a few elements at most.
void fill(Generator& generator, const api::Type& type, void* value);
// Any JSON, not null at the top.
boost::json::value junk(Generator& generator, int depth);
// The same document with unknown members in its objects, all members in another order.
// `type` tells objects from maps, whose keys mean something.
boost::json::value disguise(Generator& generator, const boost::json::value& document, const api::Type& type);
// Replaces one value below the top by another kind of value.
void break_one(Generator& generator, boost::json::value& document);

}  // namespace test
