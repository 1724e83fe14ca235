// A cluster in memory for tests of the pools' reconcilers: API server, stores, work queues and virtual time.
// The test itself decides how claims go on (join(), fail()). There are no machines.
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

// RecordedEvents holds lines such as "Pool small ScaleUpBlocked: 2 of 2 nodes are in use".
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

// Requests is called around each request of the operator. It may throw to lose the request.
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
        answer;  // nullopt: the server's own answer
    std::function<void(const base::HttpRequest&)> on_effect;
};

class Cluster {
public:
    Cluster();
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    // Adds a reconciler. Call it before start(). The reconciler must outlive the cluster's run.
    template <class Reconciler>
    void add(const std::string& name, Reconciler& reconciler, int workers = 1) {
        kube::ControllerOptions options;
        options.name = name;
        options.max_concurrent = workers;
        controllers_.push_back(
            std::make_unique<kube::Controller>(options, reconciler, context.get_executor(), clock, metrics));
        reconciler.subscribe(controllers_.back()->queue());
    }
    void start();
    void stop();
    void run_for(base::Duration duration) { clock.run_for(context, duration); }
    // Returns the number of writes to the API server, without the test's own changes to `server`.
    std::size_t writes() const { return server.writes().size(); }

    // Puts the usual objects of a namespace: a Ready provider "proxmox" with one large host, and control
    // plane "main".
    void put_basics();
    objects::NodeSmithPool pool(const std::string& name = "small");
    std::vector<objects::NodeSmithClaim> claims(const std::string& pool = "small");
    // Puts a pod that the scheduler could not place.
    api::Pod put_pending(builders::PodBuilder pod);
    api::Pod put_pending_pod(const std::string& name, const std::string& cpu = "1",
                             const std::string& memory = "1Gi");
    // Binds the pod as the scheduler does.
    void bind(const std::string& pod, const std::string& node);
    // Lets the claim's machine join: its Node exists and is Ready, and so is the claim.
    void join(const objects::NodeSmithClaim& claim);
    void join_all(const std::string& pool = "small");
    // Lets the claim fail; its machine is gone.
    void fail(const objects::NodeSmithClaim& claim);
    // Completes the removal of deleted claims.
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
