// Objects as in a busy cluster: pods of 6 KB with two containers, environment, probes, volumes, and the API
// server's own records. Each number always gives the same object.
#pragma once

#include <boost/json/object.hpp>

namespace bench {

// Returns a pod. Pods belong to workloads of 1 to 125 pods, with 10 workloads in every 250 pods. Workloads
// differ in labels, resources and the rest of their templates. They are Deployments, StatefulSets with a
// volume for each pod, and DaemonSets. Namespaces are team-0 to team-19, nodes node-0 to node-<nodes - 1>.
boost::json::object realistic_pod(int number, int nodes = 500);
// Returns a Ready node of 32 CPUs and 128 GiB named node-<number>, with labels, annotations and a list of
// images.
boost::json::object realistic_node(int number);

}  // namespace bench
