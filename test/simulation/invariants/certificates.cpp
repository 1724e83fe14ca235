// Invariant 17: a bootstrap token is good for the certificate of its claim's Node, and for no other.
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
    }
};

}  // namespace

std::unique_ptr<Invariant> tokens_are_bound(const Stage& stage) {
    return std::make_unique<TokensAreBound>(stage);
}

}  // namespace simulation
