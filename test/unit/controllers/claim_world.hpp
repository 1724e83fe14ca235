// A cluster and a cloud in memory for tests of the claim reconciler, and one run of the operator's part in
// it. The world outlives the process: tests kill one process and start the next.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/task_group.hpp"
#include "controllers/claim/claim_reconciler.hpp"
#include "controllers/garbage_collection.hpp"
#include "kube/controller.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/fake_provider.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"
#include "test/unit/controllers/objects.hpp"

namespace claims {

namespace asio = boost::asio;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;

inline const api::ObjectKey kClaim{"default", "c"};

// Crash ends the operator's process.
struct Crash : std::runtime_error {
    Crash() : std::runtime_error("crashed") {}
};

// CrashPoint makes the process die at the n-th outside call, before or after it took effect. Nothing leaves
// the process from then on.
class CrashPoint final : public fake::Interference, public fake::ProviderCalls {
public:
    enum class When { before, after };
    CrashPoint(int call, When when) : left_(call), when_(when) {}

    std::optional<base::HttpResponse> before(const base::HttpRequest&) override {
        enter();
        return std::nullopt;
    }
    void after(const base::HttpRequest&, base::HttpResponse&) override { leave(); }
    void before(const std::string&) override { enter(); }
    void after(const std::string&) override { leave(); }
    bool crashed() const { return crashed_; }

private:
    void enter() {
        if (crashed_) throw Crash();
        --left_;
        if (left_ == 0 && when_ == When::before) die();
    }
    void leave() {
        if (crashed_ || (left_ <= 0 && when_ == When::after)) die();
    }
    void die() {
        crashed_ = true;
        throw Crash();
    }

    int left_;
    When when_;
    bool crashed_ = false;
};

struct World {
    explicit World(fake::Cloud::Options options = {});

    asio::io_context context;
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    fake::Cloud cloud;
    base::Duration join_delay = std::chrono::seconds{5};
    bool machines_join = true;
    std::vector<std::string> events;  // "reason: message" of all processes

    void run(base::Duration duration) { clock.run_for(context, duration); }
    // Steps until the condition holds. Returns false if it did not within the limit.
    bool run_until(const std::function<bool()>& holds, base::Duration limit = std::chrono::minutes{30});

    NodeSmithClaim launch(const std::string& name = "c");
    std::optional<NodeSmithClaim> claim(const std::string& name = "c");
    const api::Condition* condition(std::string_view type, const std::string& name = "c");
    std::string reason(std::string_view type, const std::string& name = "c");
    bool ready(const std::string& name = "c");
    bool gone(const std::string& name = "c") { return !claim(name); }
    // Reports whether no trace of any claim is left.
    bool clean();
    void kubelet_joins(const fake::CloudMachine& machine);
    // Clears the claim's status, as a restored backup without status does.
    void lose_status();

private:
    std::map<std::string, std::unique_ptr<base::Alarm>> joins_;
    std::optional<NodeSmithClaim> found_;
};

// Process is one run of the operator, as far as it concerns claims.
class Process {
public:
    explicit Process(World& world) : Process(world, nullptr, nullptr) {}
    // Both may be null; otherwise they must outlive the process.
    Process(World& world, fake::Interference* requests, fake::ProviderCalls* calls);
    ~Process();
    kube::Client& client() { return *client_; }
    // Lists everything anew, as after a restored backup of etcd.
    void list_anew() { informers_.list_anew(); }
    base::MetricsRegistry& metrics() { return metrics_; }
    controllers::claim::BootData& boot_data() { return boot_data_; }

private:
    class Events final : public kube::EventRecorder {
    public:
        explicit Events(World& world) : world_(world) {}
        void event(const kube::EventTarget&, kube::EventType, std::string reason,
                   std::string message) override {
            world_.events.push_back(reason + ": " + message);
        }

    private:
        World& world_;
    };
    asio::awaitable<void> work();

    World& world_;
    base::MetricsRegistry metrics_;
    std::unique_ptr<base::Random> random_ = fake::make_seeded_random(7);
    std::unique_ptr<kube::Client> client_;
    Events events_;
    controllers::Informers informers_;
    providers::ProviderEnvironment environment_;
    controllers::ProviderInstances instances_;
    controllers::Reservations reservations_;
    controllers::Drainer drainer_;
    controllers::claim::BootData boot_data_;
    controllers::MachineReports machine_reports_;
    controllers::DisruptionReports disruption_reports_;
    controllers::ClaimReconciler claims_;
    controllers::GarbageCollector garbage_;
    kube::Controller claim_controller_;
    kube::Controller garbage_controller_;
    base::TaskGroup tasks_;
};

}  // namespace claims
