// Metrics from the caches: pending pods, Nodes of pools, room on hosts, and the leader.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith {

class ClusterMetrics {
public:
    // Must be made before the informer runs, as it listens to pods.
    ClusterMetrics(kube::Informer<api::Pod>& pods, base::Clock& clock, base::MetricsRegistry& registry,
                   report::LookAtCluster look, const std::string& lease);

private:
    // Series is a gauge whose series follow the objects: a series that is not set again is removed.
    class Series {
    public:
        explicit Series(base::Family<base::Gauge>& family) : family_(family) {}
        void set(base::LabelValues labels, double value);
        void drop_others();

    private:
        base::Family<base::Gauge>& family_;
        std::set<base::LabelValues> before_;
        std::set<base::LabelValues> now_;
    };

    void update();
    void update_prices(const report::ClusterReport& report);
    void on_pod(const api::Pod* before, const api::Pod* after);

    const kube::Store<api::Pod>& pods_;
    base::Clock& clock_;
    report::LookAtCluster look_;
    base::Gauge& leader_;
    base::Gauge& unschedulable_;
    base::Histogram& waited_;
    Series pool_nodes_;
    Series host_free_;
    Series host_machines_;
    Series removals_blocked_;
    Series price_;
    Series price_unused_;
    std::map<std::string, base::TimePoint> unschedulable_since_;  // by pod UID, until the pod runs or is gone
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kubenodesmith
