// Objects as a busy cluster has them: pods of 6 KB with two containers, environment, probes, volumes and what
// the API server records for itself.
#pragma once

#include <boost/json/object.hpp>

namespace bench {

// Runs on node-<number % 500>, in namespace team-<number % 20>.
boost::json::object realistic_pod(int number);
// A Ready node of 32 CPUs and 128 GiB named node-<number>, with labels and a list of images.
boost::json::object realistic_node(int number);

}  // namespace bench
