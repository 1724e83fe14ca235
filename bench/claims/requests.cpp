#include "bench/claims/requests.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "bootstrap/token.hpp"
#include "test/support/fake_api_target.hpp"

namespace bench {

namespace {

using simulation::NodeSmithClaim;

std::string name_in_body(const std::string& body) {
    const auto object = boost::json::parse(body).as_object();
    const auto* metadata = object.if_contains("metadata");
    const auto* name = metadata ? metadata->as_object().if_contains("name") : nullptr;
    return name ? std::string(name->as_string()) : std::string();
}

// Returns, for example, "nodesmithclaims" without its group.
std::string short_resource(const fake::Target& target) {
    auto name = target.resource.substr(0, target.resource.find('.'));
    return target.subresource.empty() ? name : name + "/" + target.subresource;
}

// Converts /nodes/alfaromeo/qemu/1000/status/start to /nodes/*/qemu/*/status/start.
std::string path_pattern(const std::string& path) {
    std::string pattern;
    std::string before;
    for (std::size_t at = 1; at <= path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        const auto word = path.substr(at, end - at);
        const bool is_name =
            before == "nodes" || before == "qemu" || before == "tasks" || word.ends_with(".iso");
        pattern += "/" + (is_name ? std::string("*") : word);
        before = word;
        at = end + 1;
    }
    return pattern;
}

}  // namespace

std::uint64_t sum(const Requests::Kinds& kinds) {
    std::uint64_t total = 0;
    for (const auto& [kind, count] : kinds) total += count;
    return total;
}

Requests::Requests(simulation::World& world) : world_(world) {
    world.view.subscribe<NodeSmithClaim>([this](const NodeSmithClaim*, const NodeSmithClaim* after) {
        if (after && !after->status.bootstrapTokenID.empty())
            tokens_[bootstrap::token_secret_name(after->status.bootstrapTokenID)] = after->metadata.name;
    });
    world.observe([this](const simulation::Process&, const base::HttpRequest& request,
                         const base::HttpResponse&) { count(request); });
    world.observe([this](const simulation::proxmox::RequestRecord& record) { count(record); });
}

std::uint64_t Requests::most_of_a_claim(Stage stage) const {
    std::uint64_t most = 0;
    for (const auto& [name, claim] : claims_)
        most = std::max(most, claim.requests[static_cast<std::size_t>(stage)]);
    return most;
}

std::string Requests::claim_of(const base::HttpRequest& request) const {
    const auto target = fake::parse_target(request.target);
    const auto name =
        request.method == "POST" && target->name.empty() ? name_in_body(request.body) : target->name;
    if (target->resource.starts_with("nodesmithclaims.") || target->resource == "nodes") return name;
    if (target->resource == "secrets") {
        const auto token = tokens_.find(name);
        return token == tokens_.end() ? std::string() : token->second;
    }
    const std::string on_node = "spec.nodeName=";
    const auto fields = target->get("fieldSelector");
    return fields.starts_with(on_node) ? fields.substr(on_node.size()) : std::string();
}

void Requests::count(const base::HttpRequest& request) {
    const auto target = fake::parse_target(request.target);
    if (!target) return;
    if (target->resource.starts_with("events")) {
        ++events_;
        return;
    }
    if (target->subresource == "eviction") {
        ++evictions_;
        return;
    }
    const auto kind = request.method + " " + short_resource(*target);
    const auto name = claim_of(request);
    if (name.empty()) {
        ++of_others_[kind];
        return;
    }
    auto& claim = claims_[name];
    const auto stage = static_cast<std::size_t>(claim.was_ready ? Stage::serving_and_going : Stage::coming);
    ++claim.requests[stage];
    ++of_claims_[stage][kind];
    // The request that makes it Ready belongs to its creation.
    const auto* object = world_.view.find<NodeSmithClaim>({simulation::kNodesNamespace, name});
    if (object && api::is_true(object->status.conditions, api::conditions::kReady)) claim.was_ready = true;
}

void Requests::count(const simulation::proxmox::RequestRecord& record) {
    ++to_proxmox_[record.method + " " + path_pattern(record.path)];
    if (world_.now() - second_ >= std::chrono::seconds{1}) {
        second_ = world_.now();
        in_second_ = 0;
    }
    most_in_a_second_ = std::max(most_in_a_second_, ++in_second_);
}

}  // namespace bench
