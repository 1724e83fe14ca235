// Memory use of objects, and a limit for objects that others write.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/json.hpp"
#include "api/type.hpp"

namespace api {

// Approximate limits in bytes of an object that others wrote. The largest realistic pods, with dozens of
// containers, need half of it. Programs that discover features give a Node up to 200 labels, and a kubelet
// can write no other Node than its own.
inline constexpr std::size_t kMostOfOthers = 24 * 1024;
inline constexpr std::size_t kMostOfNode = 56 * 1024;
constexpr std::size_t most_of(const Resource& resource) {
    return resource.plural == "nodes" ? kMostOfNode : kMostOfOthers;
}
template <class T>
constexpr std::size_t most_of() {
    return most_of(T::kResource);
}

// Returns approximately the bytes of the value besides itself. Shared parts count as if they were not shared.
std::size_t heap_bytes(const void* value, const Type& type);

// Removes elements of the largest lists and maps, and ends of the longest texts, until the object needs about
// `most` bytes. Small parts stay complete. Of a map, the domains with the most entries lose them: a program
// that adds labels by the hundred loses its own. Returns the fields that are now incomplete: "spec.volumes".
std::vector<std::string> shorten(void* object, const Type& type, std::size_t most);

// Keeps only the owner that controls an object, because no other is read.
void forget_other_owners(ObjectMeta& metadata);
// Returns an error if an object of the operator's own kinds has more than 8 KiB of finalizers. Each must be
// known to remove one, so such an object counts as undecodable and is left alone.
std::optional<DecodeError> excess_of_finalizers(const ObjectMeta& metadata);

// Removes from an object of the operator's own kinds what others may add without a bound and nothing reads:
// annotations of others, labels beyond 16 KiB, and owners that do not control.
void forget_of_others(ObjectMeta& metadata);

template <class T>
std::size_t heap_bytes(const T& value) {
    return heap_bytes(&value, type_of<T>());
}
template <class T>
std::vector<std::string> shorten(T& object, std::size_t most) {
    return shorten(&object, type_of<T>(), most);
}

}  // namespace api
