// Plans how a Talos machine joins, by the user's machine configuration for workers. Our settings make the
// machine this Node. It follows Talos' documents and sources; it was never tested with a Talos machine.
// https://docs.siderolabs.com/talos/v1.13/platform-specific-installations/cloud-platforms/nocloud:
// The image nocloud reads user-data that does not begin with #cloud-config from a volume labelled cidata.
// Alternatively the SMBIOS serial number names its source
// (internal/app/machined/pkg/runtime/v1alpha1/platform/nocloud in github.com/siderolabs/talos).
#pragma once

#include <string>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Returns a plan that is a document only. Throws std::invalid_argument that never contains the
// configuration's text, which has secrets.
JoinPlan plan_talos(const JoinRequest& request);

// Merges our settings into the user's configuration. The host name is in a document HostnameConfig if there
// is one, as since Talos 1.12, otherwise in machine.network.hostname. Labels, taints and providerID are in
// machine.kubelet.extraArgs. Talos refuses only its own paths there: kubelet_spec.go in
// internal/app/machined/pkg/controllers/k8s. cluster.token becomes this machine's bootstrap token, with which
// its kubelet requests its certificate. machine.token, which is for Talos' own API, is kept. Missing endpoint
// and CA of the cluster are added. Everything else is kept, including other documents.
// https://docs.siderolabs.com/talos/v1.13/reference/configuration/v1alpha1/config
std::string talos_machine_config(const JoinRequest& request);

}  // namespace bootstrap
