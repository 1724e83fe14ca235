#include "test/simulation/control_plane_copy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <optional>
#include <string_view>

namespace simulation {

namespace {

bool ends_a_vm(const base::HttpRequest& request) {
    const auto path = request.target.substr(0, request.target.find('?'));
    if (path.find("/qemu/") == std::string::npos) return false;
    return request.method == "DELETE" || path.ends_with("/status/stop") || path.ends_with("/status/shutdown");
}

constexpr std::string_view kMarkBegins = "kns-";

// Returns the part of a mark that also one with an epoch has: 8 digits of the cluster and 4 of the claim.
std::string names_in(const std::string& mark) {
    const auto claim = mark.find('-', kMarkBegins.size());
    if (claim == std::string::npos) return mark;
    return mark.substr(kMarkBegins.size(), 8) + mark.substr(claim, 5);
}

// Returns the text that the body writes there; nullopt: it writes no text there.
std::optional<std::string> text_in(const std::string& body, const std::string& name) {
    const auto begin = "\"" + name + "\":\"";
    const auto at = body.find(begin);
    if (at == std::string::npos) return std::nullopt;
    const auto start = at + begin.size();
    return body.substr(start, body.find('"', start) - start);
}

// Reports whether a claim's mark ends with this write: it is cleared, or replaced by any other text.
bool ends_a_mark(const base::HttpRequest& request, const redfish_simulator::Bmc& bmc) {
    if (request.body.find("\"AssetTag\"") == std::string::npos) return false;
    const auto& mark = bmc.asset_tag(request.target.find("/Chassis/") != std::string::npos);
    const auto written = text_in(request.body, "AssetTag").value_or("");
    return mark.starts_with(kMarkBegins) && names_in(written) != names_in(mark);
}

// Reports whether it takes from a host what the original prepared for its boot.
bool ends_a_boot(const base::HttpRequest& request) {
    if (request.method == "POST") return request.target.ends_with("/VirtualMedia.EjectMedia");
    const bool ejects = request.body.find(R"("Inserted":false)") != std::string::npos;
    return ejects || text_in(request.body, "BootSourceOverrideEnabled") == "Disabled" ||
           text_in(request.body, "BootSourceOverrideTarget") == "None";
}

// Reports whether it turns a host off, erases a drive, or takes the mark or the boot of the original's claim
// away.
bool ends_a_host(const base::HttpRequest& request, redfish_simulator::Bmc& bmc) {
    // The epoch stands on hosts that are on. Where all are off, nothing runs that a copy could end, and both
    // operators take back what they prepared.
    const bool is_on = bmc.power() == redfish_simulator::Power::on;
    if (request.method == "PATCH") return is_on && (ends_a_mark(request, bmc) || ends_a_boot(request));
    if (request.method != "POST") return false;
    const bool resets = request.target.ends_with("/ComputerSystem.Reset");
    const bool turns_on = request.body.find("On\"") != std::string::npos;
    const bool erases = request.target.ends_with("/Drive.SecureErase");
    return (resets && !turns_on) || erases || (is_on && ends_a_boot(request));
}

fake::ApiServer::Options options_of_copy() {
    auto options = server_options();
    options.pods_end_after = std::chrono::seconds{1};
    return options;
}

}  // namespace

// Witness notes what the copy's operator does to VMs and hosts.
class ControlPlaneCopy::Witness final : public base::HttpTransport {
public:
    Witness(World& world, const std::string& url, std::unique_ptr<base::HttpTransport> wire)
        : world_(world),
          host_(world.bmcs.serves(url) ? url.substr(url.find("//") + 2) : ""),
          wire_(std::move(wire)) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        const bool is_to_host = !host_.empty();
        const bool ends = is_to_host ? ends_a_host(request, world_.bmcs.bmc(host_)) : ends_a_vm(request);
        const auto what = request.method + " " + request.target;
        auto response = co_await wire_->send(std::move(request));
        if (ends && response.status < 300) world_.interference.destroyed_by_copies.push_back(what);
        co_return response;
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await wire_->open(std::move(request));
    }

private:
    World& world_;
    std::string host_;  // empty: it is a connection to something else
    std::unique_ptr<base::HttpTransport> wire_;
};

struct ControlPlaneCopy::Parts {
    explicit Parts(World& world)
        : faults(world.seed ^ 0xc0b1ed, world.clock, world.trace),
          server(world.context.get_executor(), world.clock, options_of_copy()),
          network(world.context.get_executor(), world.clock, faults, world.trace) {
        faults.have_only({});
        network.provider_hangs = [&world](const base::HttpRequest& request) {
            return world.network.provider_hangs && world.network.provider_hangs(request);
        };
    }

    FaultPlan faults;
    fake::ApiServer server;
    Network network;
    std::unique_ptr<Operators> operators;
};

ControlPlaneCopy::ControlPlaneCopy(World& world) : world_(world), parts_(std::make_unique<Parts>(world)) {
    parts_->server.restore(world.server.store().back_up());
    leave_only_what_serves();
    auto premises = premises_of(world);
    auto& [context, clock, trace, faults, network, server, seed, name, settings, random_for, connect,
           observe] = premises;
    Premises ours{context,         clock,          trace, parts_->faults,
                  parts_->network, parts_->server, seed,  "the copy's operator",
                  settings,        random_for,     {},    observe};
    ours.connect = [&world, to_original = connect](const base::HttpClientOptions& options) {
        return std::make_unique<Witness>(world, options.url, to_original(options));
    };
    parts_->operators = std::make_unique<Operators>(std::move(ours));
    parts_->operators->keep(1);
}

// Removes the pods. Removes claims without a Node as well, as two operators would launch them.
void ControlPlaneCopy::leave_only_what_serves() {
    auto& server = parts_->server;
    for (const auto& pod : server.list<api::Pod>()) server.remove<api::Pod>(api::key_of(pod), 0);
    int number = 0;
    for (const auto& claim : server.list<NodeSmithClaim>()) {
        const auto key = api::key_of(claim);
        if (claim.status.nodeName.empty()) {
            server.edit<NodeSmithClaim>(key, [](auto& edited) { edited.metadata.finalizers = {}; });
            server.remove<NodeSmithClaim>(key);
        } else if (++number % 2 == 1) {
            server.remove<NodeSmithClaim>(key);
        }
    }
    for (const auto& pool : server.list<NodeSmithPool>()) {
        server.edit<NodeSmithPool>(api::key_of(pool), [](NodeSmithPool& edited) {
            edited.spec.limits.minNodes = 0;
            edited.spec.scaleUp.headroom = {};
        });
    }
}

void ControlPlaneCopy::end() {
    parts_->operators->keep(0);
}

fake::ApiServer& ControlPlaneCopy::server() {
    return parts_->server;
}

ControlPlaneCopy::~ControlPlaneCopy() {
    try {
        parts_->operators->stop_all();
        bool is_done = false;
        asio::co_spawn(world_.context, parts_->network.shut_down(),
                       [&is_done](const std::exception_ptr&) { is_done = true; });
        world_.run_for(std::chrono::seconds{1});
        if (!is_done) throw std::logic_error("the copy of the control plane does not come to an end");
    } catch (const std::exception&) {
        // Coroutines that are still at work cannot be destroyed. The parts are kept until the program ends.
        static_cast<void>(parts_.release());
    }
}

std::string epoch_of_other_operator(const NodeSmithProvider& provider) {
    const auto* found = api::find_condition(provider.status.conditions, api::conditions::kOtherOperatorFound);
    if (!found) return {};
    const std::string begin = "another operator with epoch ";
    const auto at = found->message.find(begin);
    if (at == std::string::npos) return {};
    const auto start = at + begin.size();
    return found->message.substr(start, found->message.find(' ', start) - start);
}

}  // namespace simulation
