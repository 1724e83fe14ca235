// How versions of objects compare.
#pragma once

#include <string>

namespace kube {

// Versions of one resource are numbers that grow (promised since Kubernetes 1.35, so ever since etcd 3);
// what is no number is not surely newer than anything.
bool is_newer(const std::string& version, const std::string& than);

}  // namespace kube
