// A cluster in memory for behaviour tests of the pools' reconcilers: API server, stores, work queues and
// virtual time. What claims become is the test's business (join(), fail()); machines there are none.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/services/reservations.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/pods.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"
#include "test/unit/controllers/objects.hpp"

namespace test {

namespace asio = boost::asio;
using builders::a_budget;
using builders::a_pod;

// "Pool small ScaleUpBlocked: 2 of 2 nodes are in use"
class RecordedEvents final : public kube::EventRecorder {
public:
    void event(const kube::EventTarget& about, kube::EventType type, std::string reason,
               std::string message) override {
        warnings += type == kube::EventType::warning ? 1 : 0;
        lines.push_back(about.kind + " " + about.name + " " + reason + ": " + message);
    }
    std::size_t count(const std::string& text) const;
    std::vector<std::string> lines;
    std::size_t warnings = 0;
};

// Called around each request of the operator; may throw to lose it.
struct Requests final : fake::Interference {
    base::Duration delay(const base::HttpRequest& request) override {
        return slowness ? slowness(request) : base::Duration::zero();
    }
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (on_request) on_request(request);
        return answer ? answer(request) : std::nullopt;
    }
    void after(const base::HttpRequest& request, base::HttpResponse&) override {
        if (on_effect) on_effect(request);
    }
    std::function<base::Duration(const base::HttpRequest&)> slowness;
    std::function<void(const base::HttpRequest&)> on_request;
    std::function<std::optional<base::HttpResponse>(const base::HttpRequest&)>
        answer;  // nullopt: the server's
    std::function<void(const base::HttpRequest&)> on_effect;
};

class Cluster {
public:
    Cluster();
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    // Before start(); the reconciler outlives the cluster's run.
    template <class Reconciler>
    void add(const std::string& name, Reconciler& reconciler) {
        kube::ControllerOptions options;
        options.name = name;
        controllers_.push_back(
            std::make_unique<kube::Controller>(options, reconciler, context.get_executor(), clock, metrics));
        reconciler.subscribe(controllers_.back()->queue());
    }
    void start();
    void stop();
    void run_for(base::Duration duration) { clock.run_for(context, duration); }
    // Writes to the API server other than what `server` was told directly.
    std::size_t writes() const { return server.writes().size(); }

    // A namespace's ordinary set: provider "proxmox" that is Ready with one large host, control plane "main".
    void put_basics();
    objects::NodeSmithPool pool(const std::string& name = "small");
    std::vector<objects::NodeSmithClaim> claims(const std::string& pool = "small");
    // A pod that the scheduler could not place.
    api::Pod put_pending(builders::PodBuilder pod);
    api::Pod put_pending_pod(const std::string& name, const std::string& cpu = "1",
                             const std::string& memory = "1Gi");
    // The scheduler binds it.
    void bind(const std::string& pod, const std::string& node);
    // The claim's machine joined: its Node is there and Ready, and so is the claim.
    void join(const objects::NodeSmithClaim& claim);
    void join_all(const std::string& pool = "small");
    // The claim failed and its machine is gone.
    void fail(const objects::NodeSmithClaim& claim);
    // What becomes of a deleted claim in the end.
    void finish_deletions();

    asio::io_context context;
    fake::VirtualClock clock;
    fake::ApiServer server;
    Requests requests;
    base::MetricsRegistry metrics;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    kube::Client client;
    controllers::Informers informers;
    controllers::Reservations reservations;
    RecordedEvents events;
    bool may_mutate = true;

private:
    std::vector<std::unique_ptr<kube::Controller>> controllers_;
    std::unique_ptr<base::TaskGroup> running_;
};

}  // namespace test
