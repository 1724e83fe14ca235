// Holds amounts of resources in the solver's form. Common resources have fixed places. The rest is a short
// sorted list, so that comparisons need no look-ups by name.
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

// These are indices of Amounts::base.
enum Base : std::size_t { kCpu, kMemory, kStorage, kPods, kBaseResources };

// These are the millicores of a core and the bytes of a MiB. Products with them saturate.
inline constexpr base::Saturating kMilli = 1000;
inline constexpr base::Saturating kMiB = 1024 * 1024;
// Exceeds any machine. Requests of pods and offers of nodes are at most this. So sums of a thousand of them
// are exact, and what was added can be subtracted again.
inline constexpr base::Saturating kUnbounded = base::Saturating::kMax / 1024;

struct Extra {
    std::uint32_t resource = 0;  // number from ResourceNames
    base::Saturating amount = 0;
    bool operator==(const Extra&) const = default;
};

// Amounts holds CPU in millicores, memory and ephemeral storage in bytes, and pods and all others in pieces.
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
// Returns the larger amount for each resource.
Amounts at_least(const Amounts& a, const Amounts& b);
// Applies the kube-scheduler's rule: resources that are not requested are ignored, even on an overcommitted
// node. The number of pods always counts.
bool fits(const Amounts& wanted, const Amounts& free);

// ResourceNames numbers the names of resources beyond the base ones.
class ResourceNames {
public:
    std::uint32_t number_of(const std::string& name);
    const std::string& name_of(std::uint32_t number) const { return names_[number]; }

private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::string> names_;
};

Amounts amounts_of(const api::ResourceList& list, ResourceNames& names);

// Returns what the pod needs of a node, itself included. It is the maximum of its containers with sidecars
// and of each step of its initialization, plus overhead. Requests stated for the whole pod replace that
// maximum. Source: k8s.io/component-helpers/resource (helpers.go, PodRequests).
Amounts requests_of(const api::PodSpec& pod, ResourceNames& names);
// Reports that the node can never grant the present spec, so that it keeps what it granted before.
bool is_infeasible(const api::Pod& pod);
// Returns what a pod takes from its present node. That may be more or less while it is resized in place,
// which a node grants later or never. Source: the same with UseStatusResources.
Amounts taken_by(const api::Pod& pod, ResourceNames& names);

}  // namespace scheduling
