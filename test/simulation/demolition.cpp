#include "test/simulation/demolition.hpp"

#include <algorithm>
#include <chrono>
#include <list>

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kOneInDemolitions = 8;
constexpr std::uint64_t kEarliestDeletion = 60;     // s
constexpr std::uint64_t kLatestDeletion = 3300;     // s
constexpr std::uint64_t kLongestOfFolder = 30'000;  // ms, from the first to the last object
constexpr std::uint64_t kLongestOfNamespace = 3'000;
constexpr auto kNextRound = 5s;  // pause of the namespace controller before it looks for remaining objects

// The namespace controller removes this finalizer when the namespace is empty.
constexpr const char* kNamespaceFinalizer = "kubernetes";

class Demolition final : public Outsider {
public:
    explicit Demolition(World& world) : world_(world), random_(world.random_for("demolition")) {}

    void begin() override {
        const bool has_it = random_->below(kOneInDemolitions) == 0 && !world_.faults.is_calm();
        is_of_namespace_ = random_->below(2) == 0;
        if (!has_it) return;
        at(world_.now() + seconds(kEarliestDeletion + random_->below(kLatestDeletion - kEarliestDeletion)),
           [this] { delete_all(); });
    }

    // Nothing is restored. A world without objects has no one who waits for them.
    void make_peace() override {
        if (!world_.is_demolished) alarms_.clear();
    }

private:
    static base::Duration seconds(std::uint64_t count) {
        return std::chrono::seconds{static_cast<std::int64_t>(count)};
    }

    void at(base::TimePoint when, std::function<void()> action) {
        alarms_.push_back(world_.clock.call_at(when, std::move(action)));
    }

    void delete_all() {
        world_.is_demolished = true;
        world_.happenings.count(is_of_namespace_ ? "demolition: deleted the namespace"
                                                 : "demolition: deleted all objects of a folder");
        world_.happenings.count("demolition: with machines",
                                world_.view.all<NodeSmithClaim>().empty() ? 0 : 1);
        world_.trace.line("demolition", is_of_namespace_ ? "deletes the namespace" : "deletes a folder");
        // No pod could run in such a cluster, and budgets would block their pods for ever.
        for (const auto& [name, deployment] : std::map(world_.workloads.deployments()))
            world_.workloads.scale(name, 0);
        if (is_of_namespace_) end_namespace();
        delete_objects(is_of_namespace_ ? kLongestOfNamespace : kLongestOfFolder);
    }

    void end_namespace() {
        const api::ObjectKey key{"", kNodesNamespace};
        world_.server.edit<api::Namespace>(key, [](api::Namespace& edited) {
            edited.metadata.finalizers->emplace_back(kNamespaceFinalizer);
        });
        world_.server.remove<api::Namespace>(key);
    }

    // Deletes each object at its own random moment. The next round deletes what the namespace holds
    // afterwards.
    void delete_objects(std::uint64_t longest) {
        std::vector<fake::Key> keys;
        for (const auto& resource : resources()) {
            for (const auto& object : world_.server.store().list(resource, kNodesNamespace)) {
                if (fake::metadata_text(object->object(), "deletionTimestamp").empty())
                    keys.push_back(
                        {resource, kNodesNamespace, fake::metadata_text(object->object(), "name")});
            }
        }
        for (const auto& key : keys) {
            const auto wait =
                std::chrono::milliseconds{static_cast<std::int64_t>(random_->below(longest + 1))};
            at(world_.now() + wait, [this, key] {
                if (!world_.server.store().find(key)) return;
                world_.trace.line("demolition", "deletes ", key.resource, " ", key.name);
                world_.server.store().remove(key, {});
            });
        }
        if (is_of_namespace_) at(world_.now() + kNextRound, [this] { delete_objects(kLongestOfNamespace); });
    }

    std::vector<std::string> resources() const {
        std::vector<std::string> all{"secrets", fake::ApiServer::resource_name(NodeSmithProvider::kResource),
                                     fake::ApiServer::resource_name(NodeSmithPool::kResource),
                                     fake::ApiServer::resource_name(NodeSmithControlPlane::kResource),
                                     fake::ApiServer::resource_name(NodeSmithHost::kResource)};
        if (is_of_namespace_) {
            all.push_back(fake::ApiServer::resource_name(NodeSmithClaim::kResource));
            all.push_back(fake::ApiServer::resource_name(api::RoleBinding::kResource));
        }
        return all;
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::list<std::unique_ptr<base::Alarm>> alarms_;
    bool is_of_namespace_ = false;
};

}  // namespace

std::unique_ptr<Outsider> make_demolition(World& world) {
    return std::make_unique<Demolition>(world);
}

}  // namespace simulation
