// Computes the status of a NodeSmithProvider from an examination of its backend. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "providers/health.hpp"
#include "providers/offering.hpp"

namespace controllers {

// ProviderExamination holds the result of one examination: either `unavailable` or `health`.
struct ProviderExamination {
    std::optional<ProviderUnavailable> unavailable;  // set if there is no backend: wrong spec or Secret
    providers::Health health;
    std::vector<providers::HostOffering> hosts;  // only if health is good
    CredentialsObstacle credentials;             // without a reason: the Secret is sufficiently protected
    std::string left;  // obstacle of a provider that is being deleted, apart from claims

    bool good() const {
        return !unavailable && health.credentials_ok && health.reachable && health.reason.empty() &&
               health.template_reason.empty();
    }
};

// ConfigurationFault describes a setting that cannot work although the backend answers, and the correct one.
struct ConfigurationFault {
    std::string message;      // empty: no fault
    bool everywhere = false;  // no machine can be created at all
};
ConfigurationFault configuration_fault(const ProviderExamination& examination);

// Reports whether an annotation of a person confirms that the provider moves to this cluster.
bool accepts_cluster(const NodeSmithProvider& provider, const providers::BackendCluster& cluster);

// Computes the status after an examination, with hosts sorted by name. Pure.
api::v1alpha1::ProviderStatus next_status(const NodeSmithProvider& provider,
                                          const ProviderExamination& examination, api::Time now);

}  // namespace controllers
