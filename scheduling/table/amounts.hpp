// Amounts of resources in the solver's own form: fixed places for what every pod and node has, a short
// sorted list for the rest, so that comparing needs no look-ups by name.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pod.hpp"

namespace scheduling {

// Indices of Amounts::base.
enum Base : std::size_t { kCpu, kMemory, kStorage, kPods, kBaseResources };

// Millicores of a core, and bytes.
inline constexpr std::int64_t kMilli = 1000;
inline constexpr std::int64_t kMiB = 1024 * 1024;
// More than any machine has, and far from overflow when a few are added.
inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 8;

struct Extra {
    std::uint32_t resource = 0;  // by ResourceNames
    std::int64_t amount = 0;
    bool operator==(const Extra&) const = default;
};

// CPU in millicores, memory and ephemeral storage in bytes, pods and everything else in pieces.
struct Amounts {
    std::array<std::int64_t, kBaseResources> base{};
    std::vector<Extra> extra;  // by ascending resource

    std::int64_t extra_amount(std::uint32_t resource) const;
    Amounts& operator+=(const Amounts& other);
    Amounts& operator-=(const Amounts& other);
    bool operator==(const Amounts&) const = default;

private:
    void add(const Amounts& other, std::int64_t sign);
};
// The larger of both in each resource.
Amounts at_least(const Amounts& a, const Amounts& b);
// The kube-scheduler's rule: what is not asked for is not looked at, even where a node is overcommitted; the
// number of pods always is.
bool fits(const Amounts& wanted, const Amounts& free);

// Numbers for the names of resources beyond the base ones.
class ResourceNames {
public:
    std::uint32_t number_of(const std::string& name);
    const std::string& name_of(std::uint32_t number) const { return names_[number]; }

private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::string> names_;
};

Amounts amounts_of(const api::ResourceList& list, ResourceNames& names);

// What the pod needs of a node that it is to be placed on, itself included: the larger of its containers with
// sidecars and of each step of its initialisation, unless requests are stated for the whole pod, plus
// overhead. Source: k8s.io/component-helpers/resource (helpers.go, PodRequests).
Amounts requests_of(const api::PodSpec& pod, ResourceNames& names);
// What a pod takes from the node that it is on: more, or less, than that while it is resized in place, which
// a node grants later or never. Source: the same with UseStatusResources.
Amounts taken_by(const api::Pod& pod, ResourceNames& names);

}  // namespace scheduling
