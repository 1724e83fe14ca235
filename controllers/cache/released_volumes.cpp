#include "controllers/cache/released_volumes.hpp"

#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/pods/claim_name.hpp"

namespace controllers {

void ReleasedVolumes::observe(const api::Pod* before, const api::Pod* after) {
    if (!before || before->spec.volumes.empty() || before->spec.nodeName.empty()) return;
    const bool is_same = after && after->metadata.uid == before->metadata.uid;
    if (scheduling::is_finished(*before) || (is_same && !scheduling::is_finished(*after))) return;
    const api::Time now(clock_.wall_now());
    for (const auto& volume : before->spec.volumes)
        if (const auto name = scheduling::claim_name_of(*before, volume))
            released_[{before->spec.nodeName, {before->metadata.namespace_, *name}}] = now;
    forget_old(now);
}

void ReleasedVolumes::forget_old(api::Time now) {
    if (looked_ && now.at < looked_->at + kDetachPatience) return;
    looked_ = now;
    std::erase_if(released_, [&](const auto& entry) { return now.at >= entry.second.at + kDetachPatience; });
}

api::Time ReleasedVolumes::released(const std::string& node, const kube::ObjectKey& claim) const {
    const auto found = released_.find({node, claim});
    return found == released_.end() ? start_ : found->second;
}

}  // namespace controllers
