// What is known of the way of a machine to its Node, in words for whoever looks why it never joined. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/v1alpha1/bootstrap.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/decide/lifecycle.hpp"

namespace controllers::claim {

// How a machine gets its boot data: it is to join the cluster by this. provider may be null.
std::string delivery_of(const api::v1alpha1::Bootstrap& bootstrap, const NodeSmithProvider* provider);

// "host:port" that every machine takes for itself: 127.0.0.0/8, ::1, localhost.
bool is_loopback(std::string_view endpoint);

// "It was to join 10.0.0.10:6443 by an ISO image; it runs since ..."; empty: nothing is known.
std::string boot_story(const ClaimStatus& status);

// While it is waited for.
std::string awaited_text(const Situation& situation);
// After `timeout`: what was handed out, what was seen, what to look at.
std::string never_joined_text(const Situation& situation, api::Duration timeout);

// "VM 5001 on host pve1", "host rack-3"
std::string machine_text(const Situation& situation);

}  // namespace controllers::claim
