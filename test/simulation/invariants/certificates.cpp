// Invariant 17: a bootstrap token is valid for the certificate of its claim's Node only.
#include <algorithm>
#include <map>

#include "api/core.hpp"
#include "base/text.hpp"
#include "bootstrap/approval.hpp"
#include "bootstrap/signing_request.hpp"
#include "controllers/serving_addresses.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class TokensAreBound final : public Invariant {
public:
    explicit TokensAreBound(const Stage& stage) : Invariant(stage) {
        world_.server.observe([this](const fake::Change& change) {
            if (!change.after || !change.key.name.starts_with(kForged)) return;
            if (change.key.resource !=
                fake::ApiServer::resource_name(api::CertificateSigningRequest::kResource))
                return;
            const auto request = api::decode<api::CertificateSigningRequest>(change.after->value());
            for (const auto& condition : request.status.conditions)
                if (condition.type == "Approved" && !names_free_addresses(request))
                    stage_.violate("tokens are good for one Node",
                                   change.key.name + " of " + request.spec.username + " for " +
                                       asked_addresses(request) + " is approved: " + condition.message);
        });
        world_.server.observe([this](const fake::Change& change) {
            if (change.after &&
                change.key.resource == fake::ApiServer::resource_name(NodeSmithClaim::kResource))
                look(api::decode<NodeSmithClaim>(change.after->value()));
        });
    }

private:
    static std::string asked_addresses(const api::CertificateSigningRequest& request) {
        return base::joined(bootstrap::parse_signing_request(request.spec.request.value).ip_addresses);
    }

    // Reports whether the request names only addresses of the machines' network that nobody has by now. It
    // stays open, and the machine that had the address may be gone.
    bool names_free_addresses(const api::CertificateSigningRequest& request) const {
        const auto asked = bootstrap::parse_signing_request(request.spec.request.value);
        const auto requester = bootstrap::node_of_requester(request).value_or("");
        return asked.dns_names.empty() && !asked.ip_addresses.empty() &&
               std::ranges::all_of(asked.ip_addresses, [&](const std::string& address) {
                   return controllers::lies_in(address, "10.0.0.0/8") &&
                          !controllers::lies_in(address, controllers::service_network_of("10.96.0.1")) &&
                          !is_anybodys(address, requester);
               });
    }

    bool is_anybodys(const std::string& address, const std::string& requester) const {
        for (const auto& [key, node] : world_.view.all<api::Node>())
            if (node->metadata.name != requester &&
                std::ranges::count(node->status.addresses, address, &api::NodeAddress::address) > 0)
                return true;
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>())
            if (std::ranges::count(pool->status.addresses, address,
                                   &api::v1alpha1::AddressReservation::address) > 0)
                return true;
        return false;
    }

    // A machine that has the certificate remains that Node, so its claim must not try again. A claim that is
    // restored without its status has lost the record.
    void look(const NodeSmithClaim& claim) {
        const auto& status = claim.status;
        if (stage_.deeds.restored_claims.contains(claim.metadata.uid)) return;
        if (!status.bootstrapKeySHA256.empty())
            attempts_.try_emplace(claim.metadata.uid, status.launchAttempts);
        const auto granted = attempts_.find(claim.metadata.uid);
        if (granted != attempts_.end() && granted->second < status.launchAttempts)
            stage_.violate("tokens are good for one Node",
                           "claim " + claim.metadata.name +
                               " tries again under a name that a certificate was approved for");
    }

    std::map<std::string, std::int32_t> attempts_;  // attempt in which a certificate was approved, by UID of
                                                    // the claim
};

}  // namespace

std::unique_ptr<Invariant> tokens_are_bound(const Stage& stage) {
    return std::make_unique<TokensAreBound>(stage);
}

}  // namespace simulation
