// Builds every object of the operator and hands it its dependencies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bootstrap/seed_server.hpp"
#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "kube/leader_election.hpp"
#include "operator/operator.hpp"

namespace kubenodesmith {

class Wiring {
public:
    Wiring(OperatorEnvironment environment, const OperatorSettings& settings);
    ~Wiring();
    Wiring(const Wiring&) = delete;
    Wiring& operator=(const Wiring&) = delete;

    kube::Client& client();
    controllers::Informers& informers();
    kube::EventWriter& events();
    kube::LeaderElector& elector();
    // Follows the requests of kubelets for certificates until cancelled.
    boost::asio::awaitable<void> watch_certificates();
    // Before the elector is used.
    void elect_by(kube::LeaderElectionOptions election);
    bootstrap::SeedSource& seeds();
    // Their queues fill from the start; their workers run only while this process leads.
    std::vector<kube::Controller*> controllers();
    // From now on outside mutations may start (with leader election: as long as the lease lasts).
    void set_leading();

    // Logs out where sessions are few; after the controllers' end.
    boost::asio::awaitable<void> end_sessions();

    const base::MetricsRegistry& metrics() const;
    std::string debug_state() const;
    std::string status_page() const;

private:
    struct Objects;
    std::unique_ptr<Objects> objects_;
};

}  // namespace kubenodesmith
