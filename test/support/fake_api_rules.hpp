// Rules of the in-memory Kubernetes API that need no state: which kinds it serves, how it refuses requests,
// and what its garbage collector does. Tests do not include this header.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"
#include "test/support/fake_api_resources.hpp"
#include "test/support/fake_api_store.hpp"
#include "test/support/fake_api_target.hpp"

namespace fake {

// These functions build refusals about one object, in the words of the API server.
Refusal not_found(const Key& key);
Refusal already_exists(const Key& key);
Refusal conflict(const Key& key, const std::string& why);
Refusal invalid(const Key& key, const std::string& why);

DeleteRequest delete_request(const json::object& options);  // metav1.DeleteOptions
// Throws Refusal if a precondition of the request does not hold.
void check_preconditions(const Key& key, const json::object& object, const DeleteRequest& request);

// These functions throw Refusal for a kind or selector that the server does not serve. `custom` lists the
// custom resources; if it is empty, every kind outside Kubernetes' own groups is served.
ResourceKind kind_of(const Target& target, const std::vector<api::Resource>& custom);
Selector selector_of(const Target& target, const ResourceKind& kind);

// Does the garbage collector's work for an object whose owners may be gone.
void collect(Store& store, const Key& key);

}  // namespace fake
