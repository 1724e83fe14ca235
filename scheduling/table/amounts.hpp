// Amounts of resources in the solver's own form: fixed places for what every pod and node has, a short
// sorted list for the rest, so that comparing needs no look-ups by name.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pod.hpp"
#include "base/saturating.hpp"

namespace scheduling {

// Indices of Amounts::base.
enum Base : std::size_t { kCpu, kMemory, kStorage, kPods, kBaseResources };

// Millicores of a core, and bytes. Products with them saturate.
inline constexpr base::Saturating kMilli = 1000;
inline constexpr base::Saturating kMiB = 1024 * 1024;
// More than any machine has. What a pod asks for and what a node offers is at most this, so that the sums of
// a thousand of them are exact, and what was added can be subtracted again.
inline constexpr base::Saturating kUnbounded = base::Saturating::kMax / 1024;

struct Extra {
    std::uint32_t resource = 0;  // by ResourceNames
    base::Saturating amount = 0;
    bool operator==(const Extra&) const = default;
};

// CPU in millicores, memory and ephemeral storage in bytes, pods and everything else in pieces.
struct Amounts {
    std::array<base::Saturating, kBaseResources> base{};
    std::vector<Extra> extra;  // by ascending resource

    base::Saturating extra_amount(std::uint32_t resource) const;
    void set_extra(std::uint32_t resource, base::Saturating amount);
    Amounts& operator+=(const Amounts& other);
    Amounts& operator-=(const Amounts& other);
    bool operator==(const Amounts&) const = default;

private:
    base::Saturating& extra_place(std::uint32_t resource);
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
