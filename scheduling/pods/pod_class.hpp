// Groups pods that the scheduler treats alike into classes, so that one computation serves all. Classes share
// their parts in turn: thousands of classes may have a few label sets.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/pod.hpp"
#include "scheduling/pods/key_builder.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

using ClassId = std::uint32_t;
using LabelSetId = std::uint32_t;

// StringNumbers numbers distinct strings, from 0 in the order of their first appearance.
class StringNumbers {
public:
    std::uint32_t number_of(std::string_view text) {
        if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
        const auto number = static_cast<std::uint32_t>(numbers_.size());
        numbers_.emplace(std::string(text), number);
        return number;
    }
    std::size_t size() const { return numbers_.size(); }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

// LabelSets numbers what selectors can distinguish: a namespace with labels.
class LabelSets {
public:
    LabelSetId number_of(const std::shared_ptr<const api::Pod>& pod);
    // Returns the first pod with these labels in this namespace.
    const api::Pod& sample(LabelSetId id) const { return *samples_[id]; }
    std::size_t size() const { return samples_.size(); }

private:
    KeyBuilder key_;
    StringNumbers keys_;
    std::vector<std::shared_ptr<const api::Pod>> samples_;
};

struct HostPort {
    std::string_view address;  // "0.0.0.0": all
    std::string_view protocol;
    std::int32_t port = 0;
};
// Returns the ports of the node that the pod's containers and sidecars occupy; views into the pod.
std::vector<HostPort> host_ports_of(const api::PodSpec& pod);
bool conflicts(const HostPort& a, const HostPort& b);

struct PodClass {
    const api::Pod* sample = nullptr;  // the first pod of the class
    std::uint32_t requests = 0;
    std::uint32_t labels = 0;  // namespace and labels
    std::uint32_t filter =
        0;  // nodeSelector, required node affinity, tolerations, kinds of resources, volumes
    std::uint32_t topology = 0;  // spread with what it depends on, pod affinity and preferences; 0: none
    bool has_ports = false;
    bool has_devices = false;  // requests some through ResourceClaims
    bool has_volumes = false;  // volumes are part of the class then
};

class PodClasses {
public:
    PodClasses(LabelSets& label_sets, ResourceNames& resource_names)
        : label_sets_(label_sets), resource_names_(resource_names) {}

    // Returns the pod's class. The pod must outlive this object.
    ClassId class_of(const std::shared_ptr<const api::Pod>& pod);
    const PodClass& at(ClassId id) const { return classes_[id]; }
    std::size_t size() const { return classes_.size(); }
    const Amounts& requests(const PodClass& pod_class) const { return requests_[pod_class.requests]; }
    const LabelSets& label_sets() const { return label_sets_; }
    ResourceNames& resource_names() { return resource_names_; }

private:
    void put_demands_on_nodes(const api::PodSpec& pod);
    std::uint32_t requests_number(const api::Pod& pod);
    std::uint32_t filter_number(const api::Pod& pod, const Amounts& requests);
    std::uint32_t topology_number(const api::Pod& pod, std::uint32_t labels);

    LabelSets& label_sets_;
    ResourceNames& resource_names_;
    KeyBuilder key_;
    StringNumbers request_keys_, filter_keys_, topology_keys_, class_keys_;
    std::vector<Amounts> requests_;
    std::vector<PodClass> classes_;
};

}  // namespace scheduling
