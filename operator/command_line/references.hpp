// References to objects as users write them for kubectl: "pod/web", "nspool workers",
// "nodesmithclaims/kubenodesmith/a".
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.hpp"

namespace kubenodesmith {

enum class ObjectKind { pod, node, claim, pool, provider, host, control_plane };
inline constexpr ObjectKind kObjectKinds[] = {
    ObjectKind::pod,      ObjectKind::node, ObjectKind::claim,        ObjectKind::pool,
    ObjectKind::provider, ObjectKind::host, ObjectKind::control_plane};

struct Reference {
    ObjectKind kind = ObjectKind::pod;
    api::ObjectKey key;  // empty namespace: not given
};

// UsageError reports an impossible request. Its what() says why, and what would be right.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Parses one word "KIND/NAME" or two words "KIND NAME". The kind may be singular, plural, short, or end with
// its API group. The name may begin with "NAMESPACE/". `namespace_` is the flag's value, or empty. Throws
// UsageError.
Reference parse_reference(const std::vector<std::string>& words, const std::string& namespace_);
// Parses "NAME" or "NAMESPACE/NAME". An optional "KIND/" before it must match `kind`. Throws UsageError.
api::ObjectKey parse_name(ObjectKind kind, const std::string& word, const std::string& namespace_);
// Returns the kind with this singular, plural or short name; nullopt: there is none.
std::optional<ObjectKind> find_kind(std::string_view word);
// Returns, for example, "pod" or "claim".
const char* word_of(ObjectKind kind);
// Reports whether `known` is the requested object. Without a requested namespace it compares only the names.
bool is_meant(const api::ObjectKey& asked, const api::ObjectKey& known);

}  // namespace kubenodesmith
