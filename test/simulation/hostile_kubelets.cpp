#include "test/simulation/hostile_kubelets.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "api/network.hpp"
#include "bootstrap/approval.hpp"
#include "test/simulation/dice.hpp"
#include "test/unit/bootstrap/signing_requests.hpp"

namespace simulation {
namespace {

using Request = api::CertificateSigningRequest;

constexpr std::uint64_t kHostileKubelets = 4;
constexpr std::int64_t kLongestHonesty = 600;  // s
constexpr std::int64_t kLongestLie = 60;       // s
constexpr std::size_t kMostOfTheirRequests = 20;
constexpr std::size_t kLongAnnotation = 200'000;
constexpr std::size_t kKubeletsKey = 0;
constexpr const char* kOfKubelet = "of-a-kubelet-";

class HostileKubelets final : public Outsider {
public:
    explicit HostileKubelets(World& world) : world_(world), random_(world.random_for("hostile kubelets")) {}

    void begin() override {
        count_thieves();
        if (world_.faults.is_calm() || random_->below(kHostileKubelets) != 0) return;
        let_machines_use_dhcp();
        arm();
    }

    void make_peace() override {
        next_.reset();
        tell_the_truth();
        while (!requests_.empty()) forget_request();
    }

private:
    struct Lie {
        std::string uid;
        api::NodeStatus truth;
    };

    // Counts requests of thieves. A thief who reads a machine's boot data asks with its token
    // (guests/certificates.hpp).
    void count_thieves() {
        world_.server.observe([&world = world_](const fake::Change& change) {
            const auto& name = change.key.name;
            const bool is_new = !change.before && change.after;
            if (is_new && name.starts_with(kForged) && name.find(kOfKubelet) == std::string::npos)
                world.happenings.count("thief: asked for a certificate with a stolen token");
        });
    }

    // An administrator names the network in which machines may have addresses that the operator did not give.
    void let_machines_use_dhcp() {
        api::Service service;
        service.metadata.namespace_ = "default";
        service.metadata.name = "kubernetes";
        service.spec.clusterIPs = {"10.96.0.1"};
        world_.server.put(service);
        for (const auto& [key, manager] : world_.view.all<NodeSmithControlPlane>())
            world_.server.edit<NodeSmithControlPlane>(key, [](NodeSmithControlPlane& edited) {
                if (!edited.spec.bootstrap) edited.spec.bootstrap.emplace();
                edited.spec.bootstrap->servingNetworks = {"10.0.0.0/8"};
            });
    }

    void arm() {
        const auto pause = Dice(*random_).seconds(1, lies_.empty() ? kLongestHonesty : kLongestLie);
        next_ = world_.clock.call_at(world_.now() + pause, [this] {
            act();
            arm();
        });
    }

    void act() {
        tell_the_truth();
        if (requests_.size() >= kMostOfTheirRequests) forget_request();
        const auto* node = world_.view.any<api::Node>(*random_);
        if (!node) return;
        switch (random_->below(6)) {
            case 0:
                return offer_nothing(*node);
            case 1:
                return take_addresses(*node);
            case 2:
                return ask_for_names_of_others(*node);
            case 3:
                return offer_everything(*node);
            case 4:
                return ask_for_address_of_another(*node);
            default:
                return ask_at_length(*node);
        }
    }

    void lie(const api::Node& node, const std::string& what, const std::function<void(api::Node&)>& edit) {
        world_.trace.line("hostile kubelet", node.metadata.name, " ", what);
        world_.happenings.count("hostile kubelet: " + what);
        const auto key = api::key_of(node);
        lies_[key] = {node.metadata.uid, node.status};
        world_.server.edit<api::Node>(key, edit);
    }

    // Restores only the fields that were false, because the rest of the status has changed since.
    void tell_the_truth() {
        for (const auto& [key, lie] : lies_) {
            const auto* node = world_.view.find<api::Node>(key);
            if (!node || node->metadata.uid != lie.uid) continue;
            world_.server.edit<api::Node>(key, [&truth = lie.truth](api::Node& honest) {
                honest.status.capacity = truth.capacity;
                honest.status.allocatable = truth.allocatable;
                honest.status.addresses = truth.addresses;
            });
        }
        lies_.clear();
    }

    void offer_nothing(const api::Node& node) {
        lie(node, "offered nothing for a moment", [](api::Node& lying) {
            lying.status.allocatable["cpu"] = api::Quantity::parse("1m");
            lying.status.allocatable["memory"] = api::Quantity::parse("1Ki");
        });
    }

    // Each device is a resource of its own, more than a claim's status holds.
    void offer_everything(const api::Node& node) {
        lie(node, "offered many resources for a moment", [](api::Node& lying) {
            for (int i = 0; i < 70; ++i) {
                const auto name = "devices.example.org/" + std::to_string(i);
                lying.status.capacity[name] = lying.status.allocatable[name] = api::Quantity::of(1);
            }
        });
    }

    void take_addresses(const api::Node& node) {
        lie(node, "took all addresses, and one that is none", [this](api::Node& lying) {
            for (const auto& [key, pool] : world_.view.all<NodeSmithPool>())
                for (const auto& reservation : pool->status.addresses)
                    lying.status.addresses.push_back({"InternalIP", reservation.address});
            for (int i = 1; i < 255; ++i)
                lying.status.addresses.push_back({"InternalIP", "10.0.0." + std::to_string(i)});
            lying.status.addresses.push_back({"InternalIP", "not-an-ip"});
        });
    }

    void ask(const api::Node& node, const std::string& what, Request request) {
        request.metadata.name = std::string(kForged) + kOfKubelet + std::to_string(++made_);
        request.spec.username = "system:node:" + node.metadata.name;
        request.spec.groups = {"system:nodes", "system:authenticated"};
        world_.trace.line("hostile kubelet", node.metadata.name, " ", what);
        world_.happenings.count("hostile kubelet: " + what);
        requests_.emplace(request.metadata.name, made_);
        world_.server.put(request);
    }

    void ask_for_names_of_others(const api::Node& node) {
        static const std::vector<std::string> kNames{"DNS:kubernetes.default.svc", "IP:10.96.0.1",
                                                     "IP:192.0.2.77", "DNS:control-plane-1"};
        ask_to_serve(node, Dice(*random_).one_of(kNames), "asked for a serving certificate for others");
    }

    // The other machine got its address by DHCP, so only its kubelet says that it has it.
    void ask_for_address_of_another(const api::Node& node) {
        const auto* other = world_.view.any<api::Node>(*random_);
        if (!other || other->metadata.name == node.metadata.name) return;
        const auto key = api::key_of(*other);
        if (other->status.addresses.empty())
            world_.server.edit<api::Node>(key, [this](api::Node& edited) {
                edited.status.addresses.push_back(
                    {"InternalIP", "10.9.0." + std::to_string(++leases_ % 250)});
            });
        const auto addresses = world_.view.find<api::Node>(key)->status.addresses;
        ask_to_serve(node, "IP:" + addresses.front().address, "asked for the address of another machine");
    }

    void ask_to_serve(const api::Node& node, const std::string& names, const std::string& what) {
        auto parts = test::kubelet_request(node.metadata.name, kKubeletsKey);
        parts.alternative_names = names;
        Request request;
        request.spec.request.value = test::make_request(parts);
        request.spec.signerName = bootstrap::kServingSigner;
        request.spec.usages = {"digital signature", "server auth"};
        ask(node, what, std::move(request));
    }

    void ask_at_length(const api::Node& node) {
        Request request;
        request.metadata.annotations["example.org/long"] = std::string(kLongAnnotation, 'x');
        request.spec.request.value =
            test::make_request(test::kubelet_request("control-plane-1", kKubeletsKey));
        request.spec.signerName = bootstrap::kServingSigner;
        request.spec.usages = {"digital signature", "server auth"};
        ask(node, "asked at length for what is not its own", std::move(request));
    }

    void forget_request() {
        const auto name = requests_.begin()->first;
        requests_.erase(name);
        if (world_.server.get<Request>({"", name})) world_.server.remove<Request>({"", name});
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::map<api::ObjectKey, Lie> lies_;
    std::map<std::string, int> requests_;
    int made_ = 0;
    int leases_ = 0;
};

}  // namespace

std::unique_ptr<Outsider> make_hostile_kubelets(World& world) {
    return std::make_unique<HostileKubelets>(world);
}

}  // namespace simulation
