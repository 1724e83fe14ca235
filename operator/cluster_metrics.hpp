// Metrics from the caches: pending pods, objects, room on hosts, and the leader.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "operator/gauge_series.hpp"
#include "operator/pool_metrics.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith {

// ConditionMetrics has a series for each condition, whose labels say its status and reason, and the modes of
// control planes. Claims are counted by pool instead of being named, because there are many of them and they
// come and go.
class ConditionMetrics {
public:
    // `registry` must outlive this.
    explicit ConditionMetrics(base::MetricsRegistry& registry);

    // Makes the series those of the report's objects.
    void update(const report::ClusterReport& report);

private:
    template <class T>
    void add(const report::Pointers<T>& objects);
    void add_claims(const report::ClusterReport& report);
    void add_mode(const api::v1alpha1::NodeSmithControlPlane& control_plane);

    GaugeSeries conditions_;
    GaugeSeries changed_;
    GaugeSeries of_claims_;
    GaugeSeries modes_;
};

class ClusterMetrics {
public:
    // Must be made before the informer runs, as it listens to pods.
    ClusterMetrics(kube::Informer<api::Pod>& pods, base::Clock& clock, base::MetricsRegistry& registry,
                   report::LookAtCluster look, const std::string& lease);

private:
    void update();
    void add_hosts(const api::v1alpha1::NodeSmithProvider& provider);
    void on_pod(const api::Pod* before, const api::Pod* after);

    base::Clock& clock_;
    report::LookAtCluster look_;
    base::Gauge& leader_;
    base::Gauge& unschedulable_;
    base::Histogram& waited_;
    ConditionMetrics conditions_;
    PoolMetrics pools_;
    GaugeSeries host_free_;
    GaugeSeries host_machines_;
    std::map<std::string, base::TimePoint> unschedulable_since_;  // by pod UID, until the pod runs or is gone
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kubenodesmith
