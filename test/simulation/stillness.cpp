#include "test/simulation/stillness.hpp"

#include "test/support/fake_api_resources.hpp"

namespace simulation {
namespace {

constexpr int kExamples = 3;

bool is_write(const base::HttpRequest& request, const base::HttpResponse& response) {
    // The operator repeats evictions, as kubectl drain does, while a budget allows none.
    if (request.target.ends_with("/eviction") && response.status == 429) return false;
    const bool is_pretended = request.target.ends_with("?dryRun=All");
    return request.method != "GET" && !is_pretended && request.target.find("/leases") == std::string::npos &&
           !fake::is_review(request.target);
}

}  // namespace

Stillness::Stillness(World& world) : world_(world) {
    world.server.observe([this](const fake::Change& change) {
        if (!change.key.resource.starts_with("leases.")) since_ = world_.now();
    });
    world.observe(
        [this](const Process&, const base::HttpRequest& request, const base::HttpResponse& response) {
            if (is_write(request, response))
                note(request.method + " " + request.target + " " + request.body.substr(0, 300));
        });
    world.observe([this](const proxmox::RequestRecord& record) {
        if (record.method != "GET") note("Proxmox: " + record.method + " " + record.path);
    });
}

void Stillness::begin_count() {
    counting_ = true;
    writes_ = 0;
    examples_.clear();
}

std::string Stillness::counted() const {
    if (writes_ == 0) return {};
    return std::to_string(writes_) + " writes in an hour without any cause, such as " + examples_;
}

void Stillness::note(const std::string& example) {
    since_ = world_.now();
    if (counting_ && ++writes_ <= kExamples) examples_ += "\n    " + time_text(world_.now()) + " " + example;
}

}  // namespace simulation
