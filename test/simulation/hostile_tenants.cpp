#include "test/simulation/hostile_tenants.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr std::uint64_t kHostileTenants = 4;
constexpr std::int64_t kLongestIdleness = 900;  // s
constexpr std::size_t kMostGreedyObjects = 6;
constexpr std::size_t kMuchText = 200'000;
constexpr const char* kTenantsHome = "default";

class HostileTenants final : public Outsider {
public:
    explicit HostileTenants(World& world) : world_(world), random_(world.random_for("hostile tenants")) {}

    void begin() override {
        if (!world_.faults.is_calm() && random_->below(kHostileTenants) == 0) arm();
    }

    void make_peace() override {
        next_.reset();
        while (!made_.empty()) remove_first();
    }

private:
    void arm() {
        next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(1, kLongestIdleness), [this] {
            act();
            arm();
        });
    }

    void act() {
        if (made_.size() >= kMostGreedyObjects) return remove_first();
        switch (random_->below(4)) {
            case 0:
                return make_daemon_set("a DaemonSet larger than any machine", [](api::PodSpec& pod) {
                    (*pod.containers).front().resources.requests["cpu"] = api::Quantity::of(10'000);
                });
            case 1:
                return make_daemon_set("a DaemonSet that can never run", [](api::PodSpec& pod) {
                    pod.nodeSelector["example.org/nowhere"] = "true";
                    (*pod.containers).front().resources.requests["cpu"] = api::Quantity::of(8);
                });
            case 2:
                return make_volume_claim();
            default:
                return made_.empty() ? void() : remove_first();
        }
    }

    template <api::Kind T>
    void put(const std::string& what, T object) {
        object.metadata.name = "greedy-" + std::to_string(++number_);
        object.metadata.namespace_ = kTenantsHome;
        world_.trace.line("hostile tenant", "makes ", what, ": ", object.metadata.name);
        world_.happenings.count("hostile tenant: " + what);
        const auto key = api::key_of(object);
        world_.server.put(object);
        made_.push_back([this, key] {
            if (world_.server.get<T>(key)) world_.server.remove<T>(key);
            remove_pods_of(key.name);
        });
    }

    // Removes the pods of a DaemonSet, as the cluster's garbage collector does.
    void remove_pods_of(const std::string& daemon_set) {
        std::vector<api::ObjectKey> orphans;
        for (const auto& [key, pod] : world_.view.all<api::Pod>())
            for (const auto& owner : pod->metadata.ownerReferences)
                if (owner.kind == "DaemonSet" && owner.name == daemon_set) orphans.push_back(key);
        for (const auto& key : orphans) world_.server.remove<api::Pod>(key, 0);
    }

    void make_daemon_set(const std::string& what, const std::function<void(api::PodSpec&)>& edit) {
        api::DaemonSet set;
        set.spec.selector.emplace().matchLabels["greedy"] = "true";
        set.spec.template_.metadata.labels["greedy"] = "true";
        set.spec.template_.spec = a_deployment("greedy", 1, "100m", "64Mi").pod.spec;
        edit(set.spec.template_.spec);
        put(what, std::move(set));
    }

    void make_volume_claim() {
        api::PersistentVolumeClaim claim;
        claim.metadata.annotations["example.org/long"] = std::string(kMuchText, 'x');
        put("a volume claim with much text", std::move(claim));
    }

    void remove_first() {
        const auto remove = std::move(made_.front());
        made_.erase(made_.begin());
        remove();
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::vector<std::function<void()>> made_;
    int number_ = 0;
};

}  // namespace

std::unique_ptr<Outsider> make_hostile_tenants(World& world) {
    return std::make_unique<HostileTenants>(world);
}

}  // namespace simulation
