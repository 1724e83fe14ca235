// How much memory an object takes, and how to keep one that others wrote from taking too much.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/json.hpp"
#include "api/type.hpp"

namespace api {

// About as many bytes are kept of an object that others wrote. The largest that honest people write (Nodes
// with many labels, pods with dozens of containers) take half of it.
inline constexpr std::size_t kMostOfOthers = 24 * 1024;

// About as many bytes as the value takes besides itself. Shared parts count as if nobody shared them.
std::size_t heap_bytes(const void* value, const Type& type);

// Removes elements of the largest lists and maps, and ends of the longest texts, until all of it takes about
// `most` bytes: what is small stays whole. Returns the fields of which something is missing now:
// "spec.volumes".
std::vector<std::string> shorten(void* object, const Type& type, std::size_t most);

template <class T>
std::size_t heap_bytes(const T& value) {
    return heap_bytes(&value, type_of<T>());
}
template <class T>
std::vector<std::string> shorten(T& object, std::size_t most) {
    return shorten(&object, type_of<T>(), most);
}

}  // namespace api
