// A gauge whose series follow the objects that exist: a series that an update does not mention is removed.
#pragma once

#include <map>

#include "base/metrics.hpp"

namespace kubenodesmith {

class GaugeSeries {
public:
    // The registry that has the family must outlive this.
    explicit GaugeSeries(base::Family<base::Gauge>& family) : family_(family) {}

    void set(base::LabelValues labels, double value) { next_[std::move(labels)] = value; }
    // Adds to what this update has counted so far.
    void add(base::LabelValues labels, double value) { next_[std::move(labels)] += value; }
    // Ends the update: the series are now those that were set or added to since the last call.
    void publish();

private:
    base::Family<base::Gauge>& family_;
    std::map<base::LabelValues, double> published_;
    std::map<base::LabelValues, double> next_;
};

}  // namespace kubenodesmith
