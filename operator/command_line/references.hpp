// Objects as people name them to kubectl: "pod/web", "nspool workers", "nodesmithclaims/kubenodesmith/a".
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "api/meta.hpp"

namespace kubenodesmith {

enum class ObjectKind { pod, node, claim, pool, provider, host, control_plane };

struct Reference {
    ObjectKind kind = ObjectKind::pod;
    api::ObjectKey key;  // no namespace: none was given
};

// What is asked for cannot be; what() says why and what would be right.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One word "KIND/NAME" or two "KIND NAME". The kind may be singular, plural, short, or end in its API group;
// the name may begin with "NAMESPACE/". `namespace_` is that of the flag, or empty. Throws UsageError.
Reference parse_reference(const std::vector<std::string>& words, const std::string& namespace_);
// A name, "NAMESPACE/NAME", or either after its kind and a slash, which has to be `kind`. Throws UsageError.
api::ObjectKey parse_name(ObjectKind kind, const std::string& word, const std::string& namespace_);
// "pod", "claim".
const char* word_of(ObjectKind kind);
// Whether it is the object that was asked for, by its name alone if no namespace was given.
bool is_meant(const api::ObjectKey& asked, const api::ObjectKey& known);

}  // namespace kubenodesmith
