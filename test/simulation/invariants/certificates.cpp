// Invariant 17: a bootstrap token is valid for the certificate of its claim's Node only.
#include <map>

#include "api/core.hpp"
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
                if (condition.type == "Approved")
                    stage_.violate("tokens are good for one Node",
                                   change.key.name + " is approved: " + condition.message);
        });
        world_.server.observe([this](const fake::Change& change) {
            if (change.after &&
                change.key.resource == fake::ApiServer::resource_name(NodeSmithClaim::kResource))
                look(api::decode<NodeSmithClaim>(change.after->value()));
        });
    }

private:
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
