// Rules of the in-memory Kubernetes API that need no state of their own: what is served, how requests are
// refused, what the garbage collector does. Not for tests.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"
#include "test/support/fake_api_resources.hpp"
#include "test/support/fake_api_store.hpp"
#include "test/support/fake_api_target.hpp"

namespace fake {

// Refusals about one object, worded as the API server's.
Refusal not_found(const Key& key);
Refusal already_exists(const Key& key);
Refusal conflict(const Key& key, const std::string& why);
Refusal invalid(const Key& key, const std::string& why);

DeleteRequest delete_request(const json::object& options);  // metav1.DeleteOptions
// Throws Refusal.
void check_preconditions(const Key& key, const json::object& object, const DeleteRequest& request);

// Throw Refusal for what is not served. `custom`: the custom resources; empty: all that are not Kubernetes'
// own.
ResourceKind kind_of(const Target& target, const std::vector<api::Resource>& custom);
Selector selector_of(const Target& target, const ResourceKind& kind);

// What the garbage collector does with an object whose owners may be no more.
void collect(Store& store, const Key& key);

}  // namespace fake
