// Builds the data from which a machine's join is rendered, with every field set.
#pragma once

#include "bootstrap/join.hpp"
#include "test/unit/bootstrap/certificate.hpp"

namespace test {

inline bootstrap::JoinRequest join_request(api::v1alpha1::BootstrapFormat format) {
    bootstrap::JoinRequest request;
    request.format = format;
    request.token = {"abcdef", "0123456789abcdef"};
    request.cluster = {"https://10.0.0.1:6443", kCACertificate};
    request.node_name = "workers-a1b2c";
    request.labels = {{"topology.kubenodesmith.io/pool", "workers"}, {"node-role.kubernetes.io/worker", ""}};
    request.taints = {{"kubenodesmith.io/unregistered", "", "NoExecute", {}},
                      {"gpu", "yes", "NoSchedule", {}}};
    request.provider_id = "proxmox://pve/vms/100";
    request.host = "pve1";
    return request;
}

}  // namespace test
