// Invariant 19: objects in a namespace that is not managed only get a condition that says so, and an Event if
// they cannot be decoded. The operator does not read their Secrets, does not change them otherwise, and makes
// no machine for them.
#include "test/simulation/tenants.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

const std::string kTheirs = std::string("/namespaces/") + kTenants + "/";

// An Event reports an object that cannot be decoded to its author (odd_objects.hpp).
bool is_about_odd_object(const base::HttpRequest& request) {
    if (request.target.find(kTheirs + "events") == std::string::npos) return false;
    return request.body.find("CannotBeDecoded") != std::string::npos ||
           request.target.find("/events/odd-") != std::string::npos;
}

bool is_allowed(const base::HttpRequest& request) {
    if (is_about_odd_object(request)) return true;
    if (request.target.find("/apis/" + std::string(NodeSmithClaim::kResource.group) + "/") ==
        std::string::npos)
        return false;
    // The operator may read one of our objects by its name, and write a condition to it.
    if (request.method == "GET")
        return request.target.find("fieldSelector=metadata.name") != std::string::npos;
    return request.method == "PATCH" && request.target.find("/status") != std::string::npos;
}

class TenantsGetNothing final : public Invariant {
public:
    explicit TenantsGetNothing(const Stage& stage)
        : Invariant(stage), has_tenants_(has_tenants(stage.world)) {
        world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
            if (request.target.find(kTheirs) != std::string::npos && !is_allowed(request))
                stage_.violate(kName, request.method + " " + request.target);
        });
    }

    void after_change() override {
        if (!has_tenants_) return;
        const auto claims = world_.server.list<NodeSmithClaim>();
        for (const auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            const auto uid = world_.administrators.mark_of(machine)->claim_uid;
            for (const auto& claim : claims)
                if (claim.metadata.namespace_ == kTenants && claim.metadata.uid == uid)
                    stage_.violate(kName, "machine " + std::to_string(vmid) + " is of their claim " +
                                              claim.metadata.name);
        }
    }

    Findings at_rest() const override {
        Findings findings;
        if (!has_tenants_) return findings;
        find_untold<NodeSmithProvider>(findings);
        find_untold<NodeSmithPool>(findings);
        find_untold<NodeSmithControlPlane>(findings);
        find_untold<NodeSmithClaim>(findings);
        find_untold<NodeSmithHost>(findings);
        return findings;
    }

private:
    static constexpr const char* kName = "tenants get nothing";
    const bool has_tenants_;

    template <api::Kind T>
    void find_untold(Findings& findings) const {
        for (const auto& object : world_.server.list<T>()) {
            if (object.metadata.namespace_ != kTenants) continue;
            const auto* ready = api::find_condition(object.status.conditions, api::conditions::kReady);
            if (ready && ready->reason == api::reasons::kNamespaceNotManaged) continue;
            findings.push_back({kName, "nobody tells " + std::string(T::kResource.kind) + " " +
                                           object.metadata.name + " that its namespace is not managed"});
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> tenants_get_nothing(const Stage& stage) {
    return std::make_unique<TenantsGetNothing>(stage);
}

}  // namespace simulation
