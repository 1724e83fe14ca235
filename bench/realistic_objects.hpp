// Objects as a busy cluster has them: pods of 6 KB with two containers, environment, probes, volumes and what
// the API server records for itself. Every number stands for the same object each time.
#pragma once

#include <boost/json/object.hpp>

namespace bench {

// Pods belong to workloads of 1 to 125 pods, 10 in every 250 pods, which differ in labels, resources and the
// rest of their templates: Deployments, StatefulSets with a volume for each pod, and DaemonSets. Namespaces
// are team-0 to team-19, nodes node-0 to node-<nodes - 1>.
boost::json::object realistic_pod(int number, int nodes = 500);
// A Ready node of 32 CPUs and 128 GiB named node-<number>, with labels, annotations and a list of images.
boost::json::object realistic_node(int number);

}  // namespace bench
