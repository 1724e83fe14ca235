#include "controllers/claim/facts/label_rules.hpp"

#include <algorithm>
#include <array>

#include "controllers/claim/facts/node_changes.hpp"

namespace controllers {

namespace {

// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestPrefix = 253;

constexpr std::array<std::string_view, 3> kReservedDomains{"kubernetes.io", "k8s.io", "kubenodesmith.io"};

// https://kubernetes.io/docs/reference/labels-annotations-taints/
constexpr std::array<std::string_view, 5> kKubeletLabels{api::labels::kHostname, api::labels::kArch,
                                                         api::labels::kOs, "beta.kubernetes.io/arch",
                                                         "beta.kubernetes.io/os"};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label_text(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kLongestName && is_label_text(text) &&
           is_letter_or_digit(text.front()) && is_letter_or_digit(text.back());
}

bool is_domain(std::string_view text) {
    const auto is_lower = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    return !text.empty() && text.size() <= kLongestPrefix && std::ranges::all_of(text, is_lower) &&
           is_letter_or_digit(text.front()) && is_letter_or_digit(text.back());
}

bool is_label_key(std::string_view key) {
    const auto slash = key.find('/');
    if (slash == std::string_view::npos) return is_name(key);
    return is_domain(key.substr(0, slash)) && is_name(key.substr(slash + 1));
}

// Replaces each placeholder by a letter, because its value depends on the machine.
std::string with_letters_for_placeholders(const std::string& text) {
    NodeSmithClaim sample;
    sample.metadata.name = sample.spec.poolRef = sample.status.providerRef = "x";
    sample.status.host = sample.status.zone = "x";
    return claim::render(text, sample);
}

bool is_label_value(const std::string& text) {
    const auto rendered = with_letters_for_placeholders(text);
    return rendered.empty() || is_name(rendered);
}

}  // namespace

// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
bool is_kept_from_kubelets(std::string_view key) {
    const auto domain = key.substr(0, std::min(key.find('/'), key.size()));
    constexpr std::string_view kRestricted = "node-restriction.kubernetes.io";
    return domain == "node-role.kubernetes.io" || domain == kRestricted ||
           domain.ends_with("." + std::string(kRestricted));
}

bool is_reserved_pool_label(std::string_view key) {
    if (key == api::labels::kPool) return false;
    const auto slash = key.find('/');
    if (slash == std::string_view::npos) return false;
    const auto domain = key.substr(0, slash);
    return std::ranges::any_of(kReservedDomains, [domain](std::string_view reserved) {
        return domain == reserved || (domain.size() > reserved.size() && domain.ends_with(reserved) &&
                                      domain[domain.size() - reserved.size() - 1] == '.');
    });
}

bool is_set_by_kubelet(std::string_view key) {
    return std::ranges::find(kKubeletLabels, key) != kKubeletLabels.end();
}

bool is_word_of_people(std::string_view key) {
    return key == api::labels::kControlPlaneRole || key == api::labels::kOperatorPlace ||
           key == api::labels::kStatedClaim;
}

LabelProblem label_problem(const NodeSmithPool& pool) {
    const auto& key = pool.spec.poolLabelKey;
    if (is_reserved_pool_label(key))
        return {std::string(reasons::kPoolLabelKeyReserved),
                "spec.poolLabelKey " + key +
                    " is a label that Kubernetes, the kubelet or the operator sets: the machines of this "
                    "pool are left alone and no others are created; create another pool with " +
                    std::string(api::labels::kPool) + " or a key of your own domain"};
    for (const auto& [label, value] : pool.spec.machineTemplate.labels) {
        const auto field = "spec.machineTemplate.labels: ";
        if (!is_label_key(label))
            return {std::string(reasons::kLabelInvalid),
                    field + ("\"" + label + "\"") +
                        " is not a label key, so no Node can have it: use a key such as example.org/rack, "
                        "with a name of at most 63 characters"};
        if (is_word_of_people(label))
            return {std::string(reasons::kLabelInvalid),
                    field + label +
                        (label == api::labels::kStatedClaim
                             ? " says whose machine a Node is on, which only a person can say of one Node"
                             : " says where the operator itself may run, so no machine of a pool has it") +
                        ": leave it out"};
        if (!is_label_value(value))
            return {std::string(reasons::kLabelInvalid),
                    field + label + " has the value \"" + value +
                        "\", which no label can have: use at most 63 letters, digits, -, _ and ., with a "
                        "letter or digit at both ends"};
    }
    return {};
}

std::map<std::string, std::string> labels_without_effect(const NodeSmithPool& pool,
                                                         const NodeSmithProvider* provider) {
    const auto zone_key = provider ? claim::zone_label(provider) : std::string();
    std::map<std::string, std::string> notes;
    for (const auto& [key, value] : pool.spec.machineTemplate.labels) {
        if (value.find("{{") != std::string::npos) continue;
        const auto label =
            "label " + key + "=" + value + " of machineTemplate.labels has no effect, because ";
        if (key == pool.spec.poolLabelKey)
            notes[key] = label + "the operator sets it to the name of the pool: leave it out";
        else if (is_set_by_kubelet(key))
            notes[key] = label + "the kubelet sets it: leave it out";
        else if (!zone_key.empty() && key == zone_key)
            notes[key] = label + "provider " + provider->metadata.name +
                         " sets it to the name of the Proxmox host: give its "
                         "spec.proxmox.placement.zoneLabel another label, or \"\"";
    }
    return notes;
}

}  // namespace controllers
