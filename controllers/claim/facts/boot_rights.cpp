#include "controllers/claim/facts/boot_rights.hpp"

#include "api/meta.hpp"
#include "api/names.hpp"

namespace controllers {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapMethod;

namespace {

std::string_view condition_for(const Bootstrap& bootstrap) {
    if (bootstrap.method == BootstrapMethod::GuestAgent) return api::conditions::kGuestAgentUsable;
    const bool has_image =
        bootstrap.method == BootstrapMethod::CloudInit && bootstrap.delivery == BootstrapDelivery::ISO;
    return has_image ? api::conditions::kBootImagesUsable : std::string_view();
}

}  // namespace

Bootstrap bootstrap_of(const api::v1alpha1::NodeSmithPool& pool,
                       const api::v1alpha1::NodeSmithControlPlane* manager) {
    if (pool.spec.bootstrap) return *pool.spec.bootstrap;
    return manager ? manager->spec.bootstrap.value_or(Bootstrap{}) : Bootstrap{};
}

std::string missing_for_boot(const api::v1alpha1::NodeSmithProvider& provider, const Bootstrap& bootstrap) {
    const auto* condition = api::find_condition(provider.status.conditions, condition_for(bootstrap));
    const bool is_missing = condition && condition->status == api::ConditionStatus::False;
    return is_missing ? condition->message : std::string();
}

}  // namespace controllers
