// Describes how far a machine got towards becoming a Node, for a person who
// investigates why it never joined. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/v1alpha1/bootstrap.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/decide/situation.hpp"

namespace controllers::claim {

// Describes how a machine gets the boot data with which it should join the cluster. provider may be null.
std::string delivery_of(const api::v1alpha1::Bootstrap& bootstrap, const NodeSmithProvider* provider);

// Reports whether "host:port" is a loopback address (127.0.0.0/8, ::1, localhost), so
// that each machine would reach itself.
bool is_loopback(std::string_view endpoint);

// Returns a text like "It was to join 10.0.0.10:6443 by an ISO image; it runs
// since ..."; empty: nothing is known.
std::string boot_story(const ClaimStatus& status);

// Returns the text while the operator waits for the machine to join.
std::string awaited_text(const Situation& situation);
// Returns the text after `timeout`: what was handed out, what was seen, and what to check.
std::string never_joined_text(const Situation& situation, api::Duration timeout);

// Returns "VM 5001 on host pve1" or "host rack-3".
std::string machine_text(const Situation& situation);

}  // namespace controllers::claim
