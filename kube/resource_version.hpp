// Compares versions of objects.
#pragma once

#include <string>

namespace kube {

// Reports whether `version` is surely newer. Versions of one resource are growing numbers (guaranteed since
// Kubernetes 1.35, true since etcd 3). A text that is no number is never surely newer.
bool is_newer(const std::string& version, const std::string& than);

}  // namespace kube
