#include "controllers/services/rights_keeper.hpp"

#include <algorithm>
#include <boost/json/array.hpp>

#include "api/core.hpp"
#include "api/names.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/services/claim_refusals.hpp"

namespace controllers {

namespace {

constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr const char* kSelfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

const json::value* member_of(const json::value* value, std::string_view name) {
    return value && value->is_object() ? value->get_object().if_contains(name) : nullptr;
}

// Parses system:serviceaccount:NAMESPACE:NAME as a ServiceAccount, and any other name as a User.
json::object subject_named(const std::string& user) {
    constexpr std::string_view kAccount = "system:serviceaccount:";
    if (user.starts_with(kAccount)) {
        const auto rest = user.substr(kAccount.size());
        const auto colon = rest.find(':');
        return {{"kind", "ServiceAccount"},
                {"namespace", rest.substr(0, colon)},
                {"name", colon == std::string::npos ? std::string() : rest.substr(colon + 1)}};
    }
    return {{"kind", "User"}, {"apiGroup", kRbacGroup}, {"name", user}};
}

kube::ObjectKey binding_in(std::string namespace_) {
    return {std::move(namespace_), kCredentialsInUse};
}

}  // namespace

asio::awaitable<bool> RightsKeeper::has_rights_everywhere() {
    std::optional<json::value> question = json::object{
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SelfSubjectAccessReview"},
        {"spec",
         json::object{{"resourceAttributes",
                       json::object{{"verb", "patch"}, {"resource", "secrets"}, {"version", "v1"}}}}}};
    const auto answer = co_await client_.call("POST", kAccessReviews, std::move(question));
    const auto* allowed = member_of(member_of(&answer, "status"), "allowed");
    co_return allowed && allowed->is_bool() && allowed->get_bool();
}

asio::awaitable<json::object> RightsKeeper::subject() {
    std::optional<json::value> question =
        json::object{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
    const auto answer = co_await client_.call("POST", kSelfReviews, std::move(question));
    const auto* name = member_of(member_of(member_of(&answer, "status"), "userInfo"), "username");
    if (!name || !name->is_string())
        throw std::runtime_error(std::string("POST ") + kSelfReviews + ": the answer has no username");
    co_return subject_named(std::string(name->get_string()));
}

// Uses a server-side apply, because a role can allow it for a single name. A POST has no name to allow.
asio::awaitable<api::RoleBinding> RightsKeeper::apply(std::string namespace_) {
    auto who = co_await subject();
    kube::Patch patch;
    patch.type = kube::Patch::Type::apply;
    patch.body = json::object{
        {"apiVersion", "rbac.authorization.k8s.io/v1"},
        {"kind", "RoleBinding"},
        {"metadata", json::object{{"name", kCredentialsInUse},
                                  {"namespace", namespace_},
                                  {"finalizers", json::array{api::finalizers::kCredentials}}}},
        {"roleRef", json::object{{"apiGroup", kRbacGroup}, {"kind", "ClusterRole"}, {"name", role_}}},
        {"subjects", json::array{std::move(who)}}};
    const auto key = binding_in(std::move(namespace_));
    co_return co_await client_.patch<api::RoleBinding>(key, std::move(patch));
}

// Asks the API server, because a watch may be late. Rights that are revoked in a namespace that is being
// deleted cannot be granted again.
asio::awaitable<bool> RightsKeeper::is_ending(std::string namespace_) {
    const auto itself = kube::only({"", std::move(namespace_)});
    const auto list = co_await client_.list<api::Namespace>(itself);
    co_return std::ranges::any_of(
        list.existing(), [](const auto* space) { return space->metadata.deletionTimestamp.has_value(); });
}

asio::awaitable<void> RightsKeeper::keep(std::string namespace_) {
    if (kept_.contains(namespace_)) co_return;
    const bool everywhere = co_await has_rights_everywhere();
    if (!everywhere) {
        const auto binding = co_await apply(namespace_);
        // A process died while it gave the rights up. They are valid while the finalizer
        // exists, and no deletion can be reverted. So a new object is needed, which a namespace
        // that is being deleted would refuse.
        bool is_renewed = binding.metadata.deletionTimestamp.has_value();
        if (is_renewed) is_renewed = !co_await is_ending(namespace_);
        if (is_renewed) {
            co_await drop_finalizer(binding_in(namespace_));
            co_await apply(namespace_);
        }
    }
    kept_.insert(std::move(namespace_));
}

asio::awaitable<void> RightsKeeper::drop_finalizer(kube::ObjectKey key) {
    const auto binding = co_await client_.get<api::RoleBinding>(key);
    if (!binding || !api::has_finalizer(binding->metadata, api::finalizers::kCredentials)) co_return;
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = remove_finalizer_patch(binding->metadata, api::finalizers::kCredentials);
    co_await client_.patch<api::RoleBinding>(key, std::move(patch));
}

// Deletes the binding first, while its own rights still apply. The finalizer is removed last.
asio::awaitable<void> RightsKeeper::give_up(std::string namespace_) {
    kept_.erase(namespace_);
    const auto key = binding_in(std::move(namespace_));
    try {
        const auto binding = co_await client_.get<api::RoleBinding>(key);
        if (!binding) co_return;
        co_await client_.remove<api::RoleBinding>(key);
        co_await drop_finalizer(key);
    } catch (const kube::ApiError& error) {
        if (is_policy_denial(error) || (!error.is_forbidden() && !error.is_not_found())) throw;
    }
}

}  // namespace controllers
