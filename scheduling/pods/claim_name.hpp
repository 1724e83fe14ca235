// Names the PersistentVolumeClaims of a pod.
#pragma once
#include <optional>
#include <string>

#include "api/pod.hpp"

namespace scheduling {

// Returns the name of the claim that the volume uses; nullopt: it uses none. The claim of a generic ephemeral
// volume has the names of pod and volume.
// https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#persistentvolumeclaim-naming
inline std::optional<std::string> claim_name_of(const api::Pod& pod, const api::Volume& volume) {
    if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim->claimName;
    if (volume.ephemeral) return pod.metadata.name + "-" + volume.name;
    return std::nullopt;
}

}  // namespace scheduling
