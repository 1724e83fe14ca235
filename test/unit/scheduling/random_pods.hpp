// The pods of random clusters.
#pragma once
#include <random>
#include <set>
#include <string>
#include <vector>

#include "test/unit/scheduling/builders.hpp"
#include "test/unit/scheduling/random_cluster.hpp"

namespace random_cluster {

inline const std::string kZone(api::labels::kZone);
inline const std::string kHostname(api::labels::kHostname);
inline const std::string kGpu = "example.com/gpu";
inline const std::vector<std::string> kApps = {"a", "b", "c"};
inline const std::vector<std::string> kNamespaces = {"default", "other"};

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <class T>
    const T& pick(const std::vector<T>& list) {
        return list[below(list.size())];
    }

private:
    std::mt19937_64 random_;
};

enum class Storage { none, bound, bound_late };

// Template holds what the pods of a group share.
struct Template {
    builders::PodBuilder pod;
    Storage storage = Storage::none;
};

// Adds a container port that is also a port of the node.
void add_port(api::Pod& pod, std::int32_t port);

class PodMaker {
public:
    // The volumes of the pods are added to the snapshot.
    PodMaker(Dice& dice, const Options& options, const std::set<Feature>& features,
             scheduling::Snapshot& snapshot)
        : dice_(dice), options_(options), features_(features), snapshot_(snapshot) {}

    // Makes groups of pods, as Deployments do.
    std::vector<Template> make_templates(std::size_t count);
    std::shared_ptr<const api::Pod> pod_of(const Template& kind, const std::string& name);

private:
    bool has(Feature feature) const { return features_.contains(feature); }
    builders::PodBuilder make_template();
    void add_volume(api::Pod& pod, Storage storage);
    void bind(api::PersistentVolumeClaim& claim);
    void request_gpu(api::Pod& pod);
    void add_node_field(builders::PodBuilder& pod);
    api::SelectorRequirement node_requirement();
    void add_node_affinity(builders::PodBuilder& pod);
    void add_spread(builders::PodBuilder& pod, const std::string& key, bool is_soft = false);
    api::LabelSelector selector(const api::Pod& pod);
    api::PodAffinityTerm term(const api::Pod& pod);
    void add_affinity(builders::PodBuilder& pod);
    void add_anti_affinity(builders::PodBuilder& pod);
    void add_preferences(builders::PodBuilder& pod);

    Dice& dice_;
    const Options& options_;
    const std::set<Feature>& features_;
    scheduling::Snapshot& snapshot_;
};

}  // namespace random_cluster
