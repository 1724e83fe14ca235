// Metrics of pools: their nodes and claims, limits, prices, what their nodes offer and pods request, and why
// nodes are kept.
#pragma once

#include "kube/store.hpp"
#include "operator/gauge_series.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith {

class PoolMetrics {
public:
    // `registry` and `pods` must outlive this.
    PoolMetrics(base::MetricsRegistry& registry, const kube::Store<api::Pod>& pods);

    // Makes the series those of the report's pools.
    void update(const report::ClusterReport& report);

private:
    void add(const api::v1alpha1::NodeSmithPool& pool);
    void add_claims(const report::ClusterReport& report);
    void add_kept_nodes(const report::ClusterReport& report);
    void add_room(const report::ClusterReport& report);

    const kube::Store<api::Pod>& pods_;
    GaugeSeries nodes_;
    GaugeSeries claims_;
    GaugeSeries used_;
    GaugeSeries limit_;
    GaugeSeries capacity_;
    GaugeSeries allocatable_;
    GaugeSeries requested_;
    GaugeSeries price_;
    GaugeSeries price_unused_;
    GaugeSeries kept_;
};

}  // namespace kubenodesmith
