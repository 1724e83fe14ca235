#include "operator/gauge_series.hpp"

#include <utility>

namespace kubenodesmith {

void GaugeSeries::publish() {
    for (const auto& [labels, value] : next_) family_.with(labels).set(value);
    for (const auto& [labels, value] : published_)
        if (!next_.contains(labels)) family_.remove(labels);
    published_ = std::exchange(next_, {});
}

}  // namespace kubenodesmith
